"""Vectors and matrices whose entries are sets: intervals or Taylor models, with batch axes.

Both kinds of set come with +, -, * and indexing, which is all that is used here. A compiled
recursion has its own versions of these on rows of a pool.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets import interval, taylor_model
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.taylor_model import TaylorModel

Set = TypeVar('Set', Interval, TaylorModel)


def stack(parts: list[Set]) -> Set:
    """Join sets of one shape along a new last axis."""
    if isinstance(parts[0], TaylorModel):
        return taylor_model.stack(parts)
    return interval.stack(parts, axis=-1)


def dot(a: Set | Array, b: Set) -> Set:
    """Encloses the scalar products along the last axis."""
    total = b[..., 0] * a[..., 0]
    for i in range(1, b.shape[-1]):
        total = total + b[..., i] * a[..., i]
    return total


def cross(a: Set | Array, b: Set) -> Set:
    """Encloses the cross products of 3-vectors."""
    return stack(
        [
            b[..., 2] * a[..., 1] - b[..., 1] * a[..., 2],
            b[..., 0] * a[..., 2] - b[..., 2] * a[..., 0],
            b[..., 1] * a[..., 0] - b[..., 0] * a[..., 1],
        ]
    )


def matrix_vector(matrix: Set | Array, vector: Set) -> Set:
    """Encloses matrix times vector; (..., m, n) and (..., n) give (..., m)."""
    return stack([dot(matrix[..., i, :], vector) for i in range(matrix.shape[-2])])


def matrix_matrix(left: Set | Array, right: Set) -> Set:
    """Encloses matrix times matrix; (..., m, n) and (..., n, p) give (..., m, p)."""
    columns = [matrix_vector(left, right[..., :, j]) for j in range(right.shape[-1])]
    return stack(columns)


def rotation(fixed: Array, axis: Array, sine: Set, cosine: Set) -> Set:
    """Encloses fixed times the rotation about a unit axis (Rodrigues); (3, 3) matrices.

    The axis is taken as it is: if its float norm is off by one part in 1e16, so is the rotation.
    """
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    outer = Interval.of(axis[:, None]) * axis[None, :]
    along = Interval.of(fixed) @ outer
    across = Interval.of(fixed) @ (Interval.of(np.eye(3)) - outer)
    turned = Interval.of(fixed) @ skew
    entries = [
        [cosine * across[i, j] + sine * turned[i, j] + along[i, j] for j in range(3)]
        for i in range(3)
    ]
    return _matrix(entries)


def _matrix(entries: list[list[Set]]) -> Set:
    """Matrix from its rows of entries."""
    columns = [stack([row[j] for row in entries]) for j in range(len(entries[0]))]
    return stack(columns)
