"""Plans to begin a search with: the gentlest one, and points all over the range."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.trajectory.bezier import Bezier, basis_derivative

SMALLEST = 0.03  # share of the range at which candidates are still spread


def gentlest(curve: Bezier) -> Array:
    """End position k with the least integral of squared acceleration."""
    s = np.linspace(0.0, 1.0, 101)
    V, A, K = (np.polynomial.polynomial.polyval(s, c) for c in basis_derivative(2))
    own = np.outer(V, curve.qd0) * curve.duration + np.outer(A, curve.qdd0) * curve.duration**2
    least: Array = -(K @ own) / (K @ K)
    return least


def spread(seed: int, count: int, n: int) -> Array:
    """Points that fill [-1, 1]^n evenly, at all scales from SMALLEST on; (count, n).

    An additive recurrence with the powers of the generalised golden ratio, one more for the scale.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (n + 2))
    steps = ratio ** -np.arange(1.0, n + 2.0)
    first = np.random.default_rng(seed).random(n + 1)
    points = (first + np.outer(np.arange(count), steps)) % 1.0
    evenly: Array = (2.0 * points[:, :n] - 1.0) * SMALLEST ** points[:, n:]
    return evenly
