"""Ellipsoids of the positions that an arm may have in each step of time, from its joint states.

A row of positions says q = c + l x + g_1 z_1 + g_2 z_2 +- R with x in the unit box and each z in
the unit ball. L L' of the linear terms in one z is the shape of one ellipsoid, and a box of half
widths b is inside the one with half axes sqrt(n) b. Their sum is inside an ellipsoid again.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.reach.joint_reach import JointReach, Q
from safe_sysid.sets.ellipsoids import sum_of, upper_factor

UP = 1.0 + 1e-9


def position_ellipsoids(reach: JointReach) -> tuple[Array, Array]:
    """Return q_c (T, n) and G (T, n, n) with every position in q_c + G z, |z| <= 1.

    G is upper triangular, for which `congruent_inertia` has the least to do.
    """
    rows, count = reach.rows[Q], reach.monomials.count
    n = rows.shape[1]
    box = (np.abs(rows[..., 1:count]).sum(axis=-1) + rows[..., -1]) * UP + 1e-12
    around = n * box[..., None] ** 2 * np.eye(n) * UP
    shapes = [around]
    for first in range(count, count + reach.error_variables, n):
        L = rows[..., first : first + n]
        if np.any(L):
            shapes.append(L @ np.swapaxes(L, 1, 2))
    if len(shapes) == 1:
        return rows[..., 0], np.sqrt(around)
    inverse = np.linalg.inv(np.sum(shapes, axis=0))
    sizes = [np.sqrt(np.maximum(np.einsum('tij,tji->t', inverse, P), 1e-12)) for P in shapes]
    return rows[..., 0], upper_factor(sum_of(shapes, sizes))
