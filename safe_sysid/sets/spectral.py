"""Bounds of eigenvalues of matrices in floats that hold for the matrices themselves."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS, TINY, Interval

POWER_STEPS = 8  # towards the best x, of which any is good


def spectral_radius(N: Array) -> Array:
    """Upper bounds of the spectral radius of matrices that are not negative, (...).

    It is at most the largest (N x)_i / x_i for any x > 0 (Collatz, Wielandt). For a symmetric
    matrix whose absolute values are at most N it bounds the 2-norm. Floats of a sum of n products
    that are not negative are off by less than (n + 8) EPS of it.
    """
    n = N.shape[-1]
    flat, bounds = (
        np.ascontiguousarray(N, dtype=np.float64).reshape(-1, n, n),
        np.empty(N.shape[:-2]),
    )
    _spectral_radii(flat, bounds.reshape(-1))
    return bounds


@jit
def _spectral_radii(matrices: Array, bounds: Array) -> None:
    work = np.empty((2, matrices.shape[2]))
    for i in range(len(matrices)):
        bounds[i] = spectral_bound(matrices[i], work)


@jit
def spectral_bound(N: Array, work: Array) -> float:
    """Return the bound for one matrix (n, n); rows of `work` (2, n) are x and N x."""
    n = len(N)
    for i in range(n):
        work[0, i] = 1.0
    for _ in range(POWER_STEPS):
        _multiply(N, work)
        largest = 0.0
        for i in range(n):
            work[1, i] += 1e-3
            largest = max(largest, work[1, i])
        for i in range(n):
            work[0, i] = work[1, i] / largest
    _multiply(N, work)
    bound = 0.0
    for i in range(n):
        image = work[1, i] * (1.0 + (n + 8) * EPS) + 2.0 * n * TINY
        share = image / work[0, i] * (1.0 + 2.0 * EPS)
        if not share <= bound:
            bound = share
        if not share < np.inf:  # nor NaN
            return np.inf
    return bound


@jit
def _multiply(N: Array, work: Array) -> None:
    """Set the second row of `work` to N times the first."""
    for i in range(len(N)):
        work[1, i] = 0.0
        for j in range(len(N)):
            work[1, i] += N[i, j] * work[0, j]


def largest_eigenvalue(A: Interval) -> Array:
    """Upper bounds of the eigenvalues of every symmetric matrix in A, not below 0; (...).

    With V close to eigenvectors and D = V'AV, a eigenvalue is x'Dx / (x'V'Vx) for some x. The
    numerator is at most the largest Gershgorin bound of D, the denominator at least 1 - d with d
    the largest row sum of |V'V - 1|.
    """
    _, V = np.linalg.eigh(A.center)
    transposed = np.swapaxes(V, -1, -2)
    D = Interval.of(transposed) @ A @ V
    n = V.shape[-1]
    off = D.magnitude * (1.0 - np.eye(n))
    diagonal = np.diagonal(D.upper, axis1=-2, axis2=-1)
    top = (Interval.of(off).sum() + diagonal).upper.max(axis=-1)
    gap = (Interval.of(transposed) @ V - np.eye(n)).magnitude
    least = (1.0 - Interval.of(gap).sum()).lower.min(axis=-1)
    if not np.all(least > 0.0):
        return np.full(least.shape, np.inf)
    return np.asarray((Interval.of(np.maximum(top, 0.0)) / least).upper)
