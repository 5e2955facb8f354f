"""Deviations of parameters from residuals correlated over time: blocks, and long-run sums.

What a model of an arm leaves out is a function of its motion, not noise: it is correlated over the
time of a motion and over joints. Blocks of all joints, twice that time long, count as independent.
CR2 (Bell and McCaffrey 2002) takes residuals for errors without the part that the fit has
absorbed, and gives degrees of freedom for a Student factor. A sum over autocovariances of all
recordings is compared with it, and the larger of the two counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

UNCORRELATED = 0.2  # mean autocorrelation of joints that counts as none
SHORTEST_BLOCK = 1.0  # [s]
BLOCKS = 5.0  # of the loaded time at least, or of all where there is none
LARGEST_LEVERAGE = 1.0 - 1e-6


@dataclass(frozen=True, eq=False)
class BlockErrors:
    """How far each of c parameters may be off by what the model leaves out."""

    deviation: Array  # (c,)
    freedom: Array  # (c,) degrees of freedom
    correlation_s: float  # [s] after which residuals are uncorrelated
    blocks: list[IntArray]  # rows that count as one error
    weighted: Array  # (N, n, k + 10) columns of the fit in rows of unit variance


def block_errors(
    rows: DifferenceRows, fit: SharedFit, directions: Array | None = None
) -> BlockErrors:
    """Deviations by CR2 or the long-run sum, whichever is larger.

    They are those of phi, or of other combinations of u and phi: `directions`, (k + 10, c).
    """
    errors, F = fit.errors(rows), fit.weighted(rows)
    G_inverse = fit.covariance
    if directions is None:
        directions = np.eye(len(G_inverse))[:, -10:]
    influence: Array = F @ (G_inverse @ directions)
    time = correlation_time(rows, errors)
    judged = float(np.count_nonzero(rows.loaded) or len(rows)) / rows.rate
    length = min(max(SHORTEST_BLOCK, 2.0 * time), max(judged / BLOCKS, 2.0 / rows.rate))
    values, vectors = symmetric_eigen(0.5 * (G_inverse + G_inverse.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    blocks = _blocks(rows, length)
    variance, freedom = _cr2(blocks, F, root, influence, errors)
    long_run = _long_run(rows, influence, errors, time)
    p = F.shape[2]
    count = np.count_nonzero(rows.counts)
    long_run *= count / max(count - p, 1)
    deviation = np.sqrt(np.maximum(variance, long_run))
    return BlockErrors(deviation, freedom, time, blocks, F)


def correlation_time(rows: DifferenceRows, errors: Array) -> float:
    """First lag [s] at which residuals of unit variance are uncorrelated, mean of the joints."""
    pieces = [errors[rows.stretch == i] for i in np.unique(rows.stretch)]
    longest = max(len(x) for x in pieces)
    power = np.sum([np.sum(x * x, axis=0) for x in pieces], axis=0) + 1e-300
    for lag in range(1, longest // 2):
        pairs = [np.sum(x[lag:] * x[:-lag], axis=0) for x in pieces if len(x) > lag]
        if np.mean(np.sum(pairs, axis=0) / power) < UNCORRELATED:
            return lag / rows.rate
    return longest / 2 / rows.rate


def _blocks(rows: DifferenceRows, length: float) -> list[IntArray]:
    """Rows of contiguous blocks [s], all joints of one time in one of them."""
    per_block = max(round(length * rows.rate), 2)
    found: list[IntArray] = []
    for i in np.unique(rows.stretch):
        for held in (False, True):
            there = np.flatnonzero((rows.stretch == i) & (rows.loaded == held))
            if len(there):
                found += np.array_split(there, max(len(there) // per_block, 1))
    return found


def _cr2(
    blocks: list[IntArray], F: Array, root: Array, influence: Array, errors: Array
) -> tuple[Array, Array]:
    """Variances and degrees of freedom, (c,) each."""
    number = influence.shape[2]
    squares, own = np.zeros(number), []
    shared = []
    for block in blocks:
        Q = F[block].reshape(-1, F.shape[2]) @ root
        a = influence[block].reshape(-1, number)
        leverage, V = symmetric_eigen(Q.T @ Q)
        leverage = np.clip(leverage, 0.0, LARGEST_LEVERAGE)
        raised = (1.0 / np.sqrt(1.0 - leverage) - 1.0) / np.maximum(leverage, 1e-12)
        v = a + Q @ (V @ (raised[:, None] * (V.T @ (Q.T @ a))))
        squares += (v.T @ errors[block].ravel()) ** 2
        own.append(np.sum(v * v, axis=0))
        shared.append(Q.T @ v)
    freedom = np.empty(number)
    for c in range(number):
        P = np.array([s[:, c] for s in shared])
        M = np.diag([o[c] for o in own]) - P @ P.T
        freedom[c] = np.trace(M) ** 2 / max(np.sum(M * M), 1e-300)
    return squares, np.maximum(freedom, 1.0)


def _long_run(rows: DifferenceRows, influence: Array, errors: Array, time: float) -> Array:
    """Variances from autocovariances of all recordings, with weights that fall with the lag."""
    numbers = np.unique(rows.stretch)
    lags = max(round(2.0 * time * rows.rate), 1)
    total = np.zeros(influence.shape[2])
    pieces = [np.flatnonzero(rows.stretch == i) for i in numbers]
    for lag in range(lags + 1):
        pairs = [(x[: len(x) - lag], x[lag:]) for x in pieces if len(x) > lag]
        count = sum(len(first) for first, _ in pairs)
        if not count:
            break
        gamma = sum(errors[first].T @ errors[later] for first, later in pairs) / count
        weight = (1.0 - lag / (lags + 1)) * (1.0 if lag == 0 else 2.0)
        for first, later in pairs:
            a, b = influence[first], influence[later]
            total += weight * np.einsum('tic,tic->c', a, np.einsum('ij,tjc->tic', gamma, b))
    return np.maximum(total, 0.0)
