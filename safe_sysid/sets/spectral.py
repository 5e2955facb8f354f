"""Bounds of eigenvalues of matrices in floats that hold for the matrices themselves."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.interval import EPS, TINY, Interval

POWER_STEPS = 8  # towards the best x, of which any is good


def spectral_radius(N: Array) -> Array:
    """Upper bounds of the spectral radius of matrices that are not negative, (...).

    It is at most the largest (N x)_i / x_i for any x > 0 (Collatz, Wielandt). For a symmetric
    matrix whose absolute values are at most N it bounds the 2-norm. Floats of a sum of n products
    that are not negative are off by less than (n + 8) EPS of it.
    """
    x = np.ones(N.shape[:-1])
    for _ in range(POWER_STEPS):
        x = (N @ x[..., None])[..., 0] + 1e-3 * x.max(axis=-1, keepdims=True)
        x /= x.max(axis=-1, keepdims=True)
    n = N.shape[-1]
    image = (N @ x[..., None])[..., 0] * (1.0 + (n + 8) * EPS) + 2.0 * n * TINY
    bound = (image / x * (1.0 + 2.0 * EPS)).max(axis=-1)
    return np.where(np.isnan(bound), np.inf, bound)


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
