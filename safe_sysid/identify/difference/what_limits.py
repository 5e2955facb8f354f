"""What limits each parameter of a payload, and how much longer recordings would change that.

The variance of a parameter is compared with what it would be if the friction of the arm were
known, and if all of the arm were: the differences are due to friction and to links, the rest is
what the model leaves out of the loaded recording itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import THRESHOLD, SharedFit, information
from safe_sysid.sets.symmetric_eigen import symmetric_eigen


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the variance of each parameter, and its half-widths by cause, (10,) each."""

    noise: Array  # left if the arm were known
    friction: Array
    links: Array
    residuals: Array  # half-widths by what the model leaves out, kappa included
    before: Array  # by what was known of the inertia before
    delay: Array
    unit: Array  # of the effort
    calibrated: Array  # of that by deviations of calibrated gains


def variance_shares(
    rows: DifferenceRows, fit: SharedFit, prior: Array, bodies: IntArray
) -> tuple[Array, Array, Array]:
    """Shares of noise, friction and links, (10,) each; `bodies` are the columns of links."""
    p = rows.Y.shape[2]
    G = information(rows, fit.spread)
    whole, without_friction, alone = (
        _variance(G, columns, p, prior) for columns in (np.arange(p), bodies, np.arange(0))
    )
    whole = np.maximum(whole, 1e-300)
    noise = np.clip(alone / whole, 0.0, 1.0)
    links = np.clip(without_friction / whole, noise, 1.0) - noise
    return noise, 1.0 - noise - links, links


def _variance(G: Array, columns: IntArray, p: int, prior: Array) -> Array:
    """Variances of the payload if only these columns of the arm were unknown, (10,)."""
    chosen = np.concatenate([columns, p + np.arange(10)])
    A = G[np.ix_(chosen, chosen)] + np.diag(np.append(np.zeros(len(columns)), prior**-2.0))
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = symmetric_eigen(A / np.outer(size, size))
    kept = values > THRESHOLD**2 * values[-1]
    inverse = (vectors[-10:, kept] ** 2) @ (1.0 / values[kept])
    variance: Array = inverse / size[-10:] ** 2
    return variance


def spread_if_longer(
    rows: DifferenceRows, fit: SharedFit, prior: Array
) -> Callable[[float, float], float]:
    """Share of the mass's deviation that longer recordings would leave.

    Its arguments are how many times as long they are with the payload and without, of its kind.
    """
    p = rows.Y.shape[2]
    held, empty = (information(rows.part(x), fit.spread) for x in (rows.loaded, ~rows.loaded))
    every = np.arange(p)

    def deviation(loaded: float, without: float) -> float:
        variance = _variance(loaded * held + without * empty, every, p, prior)
        return float(np.sqrt(variance[0]))

    now = deviation(1.0, 1.0)
    return lambda loaded, without: deviation(loaded, without) / now
