"""Boxes that contain every point of a cloud: voxels that have one, and larger boxes of them.

Nothing is said of the room between points: whoever shows points has to show them closely enough.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.enclosing_boxes import of_corners
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.interval import EPS

BITS = 21  # of a coordinate
HALF = 1 << (BITS - 1)
FARTHEST = 1e6  # cells from the origin, less than HALF


def voxel_cover(points: Array, cell: float, budget: int) -> list[Box]:
    """At most `budget` boxes that contain all points (N, 3) [m]; voxels have edges of `cell` [m].

    Voxels side by side along x are one box. Where that is not few enough neighbours share a box.
    """
    checked = finite_array(points, (None, 3), 'points')
    if not len(checked):
        return []
    if np.abs(checked).max() > FARTHEST * cell:
        raise BoundError(
            f'a point of the cloud is {np.abs(checked).max():.4g} m away; {FARTHEST * cell:.4g} m '
            'are allowed'
        )
    first, last = runs_along_x(_without_doubles(np.floor(checked / cell).astype(np.int64)))
    lower, upper = first * cell, (last + 1) * cell
    slack = 64 * EPS * (np.abs(lower) + np.abs(upper) + cell)  # of p / cell, and of these products
    return of_corners(np.stack([lower - slack, upper + slack], axis=1), budget)


def _without_doubles(voxels: IntArray) -> IntArray:
    """Return each of the voxels (N, 3) once; as one number each they are sorted much faster."""
    x, y, z = (voxels + HALF).T
    each = np.unique(z << 2 * BITS | y << BITS | x)
    mask = (1 << BITS) - 1
    return np.stack([each & mask, each >> BITS & mask, each >> 2 * BITS], axis=1) - HALF


def runs_along_x(voxels: IntArray) -> tuple[IntArray, IntArray]:
    """First and last of voxels (N, 3), no two of them alike, that are side by side along x."""
    voxels = voxels[np.lexsort(voxels.T)]  # by z, y, then x
    begins = np.ones(len(voxels), dtype=bool)
    begins[1:] = np.any(np.diff(voxels, axis=0) != [1, 0, 0], axis=1)
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(voxels)) - 1
    return voxels[first], voxels[last]
