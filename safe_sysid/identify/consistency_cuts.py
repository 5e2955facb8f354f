"""Linear consequences of physical consistency: half-spaces that contain every real body.

A body has a positive semidefinite pseudo-inertia J(phi), so v' J(phi) v >= 0 for every v, which
is linear in phi. Together these half-spaces are the consistent set; a few of them, chosen where
a linear program leaves the set, tighten its bounds without losing a body.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.inertia import pseudo_inertia

ROUNDING = 2.0**-49  # 16 units: more than the rounding of a coefficient below
VIOLATION = 1e-4  # share of the largest eigenvalue of J that is worth a cut
SAME = 1.0 - 1e-4  # cosine of the angle between vectors that make the same cut
LENGTH = 0.1  # [m]; J in units of this length has entries of like size for hand-held things

_SCALE = np.array([1.0, 1.0, 1.0, LENGTH]) / LENGTH


def cut(v: Array) -> Array:
    """Coefficients a with a . phi = v' J(phi) v, (..., 4) -> (..., 10)."""
    x, y, z, w = np.moveaxis(v, -1, 0)
    half = 0.5 * (x * x + y * y + z * z)
    return np.stack(
        [
            w * w, 2 * w * x, 2 * w * y, 2 * w * z,
            half - x * x, -2 * x * y, half - y * y, -2 * x * z, -2 * y * z, half - z * z,
        ],
        -1,
    )  # fmt: skip


def cut_rounding(v: Array, largest: Array) -> Array:
    """How far below zero a cut can be for a real body, because its coefficients are rounded."""
    x, y, z, w = np.abs(np.moveaxis(v, -1, 0))
    size = (x + y + z + w) ** 2  # no coefficient and none of its terms is larger
    slack: Array = ROUNDING * size * largest.sum() + 1e-300
    return slack


def first_vectors() -> Array:
    """Cuts that hold from the start: m and moments not negative, products of inertia bounded."""
    unit = np.diag([1.0, 1.0, 1.0, LENGTH])
    pairs = [unit[i] + sign * unit[j] for i, j in combinations(range(4), 2) for sign in (1, -1)]
    return np.concatenate([unit, np.array(pairs)])


def violated_vectors(phi: Array) -> Array:
    """Directions v in which bodies (m, 10) are not consistent, most violated first, (k, 4)."""
    values, vectors = np.linalg.eigh(pseudo_inertia(phi) * _SCALE * _SCALE[:, None])
    size = np.maximum(np.abs(values).max(axis=-1, keepdims=True), 1e-12)
    which = values < -VIOLATION * size
    ranked = np.argsort((values / size)[which])
    found: Array = np.swapaxes(vectors, -1, -2)[which][ranked] * _SCALE
    return found


def distinct(vectors: Array, known: Array) -> Array:
    """Those of the vectors that point elsewhere than known ones and earlier ones.

    Cuts that are nearly the same tighten nothing and send the simplex method in circles.
    """
    every = np.concatenate([known, vectors]) / _SCALE
    every /= np.linalg.norm(every, axis=1, keepdims=True)
    is_other = np.abs(every @ every[len(known) :].T) < SAME
    kept = np.ones(len(every), dtype=bool)
    for place, others in enumerate(is_other.T, len(known)):
        kept[place] = others[:place][kept[:place]].all()
    new: Array = vectors[kept[len(known) :]]
    return new


def reach_cuts(reach: float) -> Array:
    """Rows a . phi >= 0 of a body that lies within `reach` [m] of the joint, (7, 10)."""
    rows = np.zeros((7, 10))
    rows[:, 0] = reach
    for axis in range(3):
        rows[2 * axis, 1 + axis], rows[2 * axis + 1, 1 + axis] = 1.0, -1.0
    rows[6, [0, 4, 6, 9]] = [reach * reach, -0.5, -0.5, -0.5]  # tr(J_3x3) = 1/2 tr(I) <= m r^2
    return rows
