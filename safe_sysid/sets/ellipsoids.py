"""Ellipsoids E(P) = {x: c'x <= sqrt(c'Pc) for all c}, P symmetric and not negative, in floats.

P is the shape of the ellipsoid, P = L L' makes it {L z: |z| <= 1}. P >= P' says that E(P) contains
E(P'). Shapes are compared in floats: a Cholesky factor computed in floats is the exact one of a
matrix that is off by less than 2 (n + 1) EPS sqrt(a_ii a_jj) entry by entry (Demmel), and such a
matrix of errors is below n times as much of the diagonal. So is any error of entries that is a
share of sqrt(a_ii a_jj), such as those of sums and multiples of shapes. SLACK of the diagonal is
above all of these, for sizes up to LARGEST.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.compiled import jit

SLACK = 1e-10
LARGEST = 64  # rows: errors are below 2 * 64 * 65 EPS = 2e-12 of the diagonal


def widened(P: Array) -> Array:
    """Return shapes that contain those computed as P to rounding, (..., n, n)."""
    n = P.shape[-1]
    if n > LARGEST:
        raise BoundError(f'an ellipsoid in {n} dimensions; {LARGEST} are allowed')
    diagonal = _diagonal(P)
    symmetric: Array = 0.5 * (P + np.swapaxes(P, -1, -2))
    return np.asarray(symmetric + SLACK * diagonal[..., None] * np.eye(n))


def factor(P: Array) -> Array:
    """Lower triangular L with L L' >= P, (..., n, n); NaN where P is not finite or none."""
    wide = widened(P)
    try:
        return np.asarray(np.linalg.cholesky(wide))
    except np.linalg.LinAlgError:
        return np.full_like(wide, np.nan)


def upper_factor(P: Array) -> Array:
    """Upper triangular U with U U' >= P, (..., n, n); NaN where P is not finite or none."""
    return np.asarray(factor(P[..., ::-1, ::-1])[..., ::-1, ::-1])


def contains(outer: Array, inner: Array) -> bool:
    """Whether outer >= inner is proven, for all pairs of shapes (S, n, n)."""
    return all(is_inside(outer[s], inner[s]) for s in range(len(outer)))


@jit
def is_inside(outer: Array, inner: Array) -> bool:
    """Whether outer >= inner is proven of two shapes: their difference has a Cholesky factor."""
    n = len(outer)
    L = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            entry = outer[i, j] - inner[i, j]
            if i == j:
                entry -= SLACK * (outer[i, i] + inner[i, i])
            for k in range(j):
                entry -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = entry / L[j, j]
            elif entry > 0.0:  # False for NaN
                L[i, i] = np.sqrt(entry)
            else:
                return False
    return bool(np.isfinite(L[n - 1, n - 1]))


def sum_of(shapes: list[Array], sizes: list[Array]) -> Array:
    """Shape of an ellipsoid that contains the sums of points of all; any sizes (...,) are sound.

    For sizes t_i > 0 it is (sum t_i) sum P_i / t_i. A shape that is zero may have the size 0.
    """
    total: Array = np.sum(sizes, axis=0)
    parts = [
        shape / np.where(size > 0.0, size, 1.0)[..., None, None]
        for shape, size in zip(shapes, sizes, strict=True)
    ]
    return widened(total[..., None, None] * np.sum(parts, axis=0))


def _diagonal(P: Array) -> Array:
    return np.diagonal(P, axis1=-2, axis2=-1)
