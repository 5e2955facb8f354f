"""Fixed geometry of the joints of a tree, as matrices in balls around their floats.

Axes and rotations of a tree were normalised in floats. What is enclosed is an arm whose axes have
length one and whose rotations are orthonormal; coordinate axes are exact.

A revolute joint turns about its axis a, which is the third column of a rotation B: so with
z-rotations Rz the rotation from joint frame to the frame below is R0 B Rz(q) B'.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.tree import Tree
from safe_sysid.sets.interval import Interval, stack

DIRECTION = 2.0**-50  # error of axes and rotations, 4 units in the last place of 1
GEOMETRY = ('into', 'lever', 'back', 'turn', 'axis')
INTO, LEVER, BACK, TURN, AXIS = range(len(GEOMETRY))


KNOWN = 32  # trees whose geometry is kept
_known: dict[tuple[bytes, ...], Array] = {}  # by all numbers of their arrays


def joint_geometry(tree: Tree) -> Array:
    """Return `_joint_geometry`, computed once for the numbers of a tree."""
    key = tuple(np.asarray(x).tobytes() for x in tree[:-1])  # gravity has no part in it
    if key not in _known:
        if len(_known) >= KNOWN:
            _known.clear()
        _known[key] = _joint_geometry(tree)
    return _known[key]


def _joint_geometry(tree: Tree) -> Array:
    """Centres and radii of five matrices per joint, (n, 5, 2, 3, 3).

    into   B' R0', B being 1 for a prismatic joint
    lever  -into [p], with [p] x = p x x: what a rotation w below adds to the linear motion
    back   B
    turn   x -> x x a
    axis   a in its first row, the rest zero
    """
    a = axes(tree)
    R0 = Interval.from_center_radius(tree.R_parent_joint, DIRECTION)
    B = third_column(a, tree.is_prismatic)
    into = _transposed(B) @ _transposed(R0)
    nothing = Interval.of(np.zeros(a.shape))
    axis = stack([a, nothing, nothing], axis=1)
    lever = into @ -cross_matrix(Interval.of(tree.p_parent_joint))
    joints = stack([into, lever, B, -cross_matrix(a), axis], axis=1)
    return np.stack([joints.center, joints.radius], axis=2)


def aligned(geometry: Array) -> AnyArray:
    """Whether B is the identity, for every joint, (n,)."""
    same = geometry[:, BACK] == np.array([np.eye(3), np.zeros((3, 3))])
    return np.asarray(same.all(axis=(1, 2, 3)))


def cross_matrix(a: Interval) -> Interval:
    """Matrix of x -> a x x; (..., 3) -> (..., 3, 3)."""
    x, y, z = (a[..., r] for r in range(3))
    zero = Interval.of(np.zeros(x.shape))
    rows = [stack(row, axis=-1) for row in ([zero, -z, y], [z, zero, -x], [-y, x, zero])]
    return stack(rows, axis=-2)


def third_column(a: Interval, is_prismatic: AnyArray) -> Interval:
    """Rotations whose third columns are the unit vectors a; the identity where prismatic.

    For a_z >= 0 it is the turn about z x a that takes z to a. Otherwise it is that of -a with the
    second and third column reversed. Its entries for coordinate axes are whole numbers.
    """
    up = np.where(a.center[..., 2] < 0.0, -1.0, 1.0)
    x, y, z = (a[..., r] * up for r in range(3))
    h = 1.0 / (1.0 + z)
    mixed = -(x * y * h)
    rows = [[1.0 - x.square() * h, mixed, x], [mixed, 1.0 - y.square() * h, y], [-x, -y, z]]
    B = stack([stack(row, axis=-1) for row in rows], axis=-2)
    B = B * (np.array([1.0, 0.0, 0.0]) + np.array([0.0, 1.0, 1.0]) * up[..., None])[..., None, :]
    B = _replaced(B, np.all(a.radius == 0.0, axis=-1), np.rint(B.center))
    return _replaced(B, is_prismatic, np.broadcast_to(np.eye(3), B.shape))


def axes(tree: Tree) -> Interval:
    """Axes of length one; exact where only one entry is not zero."""
    exact = np.sum(tree.axis != 0.0, axis=1) == 1
    a = Interval.from_center_radius(tree.axis, DIRECTION)
    return _replaced(a, exact, np.sign(tree.axis))


def _replaced(x: Interval, where: AnyArray, value: Array) -> Interval:
    """Set x, or a point where that is known."""
    chosen = where.reshape(where.shape + (1,) * (x.ndim - where.ndim))
    return Interval(np.where(chosen, value, x.lower), np.where(chosen, value, x.upper))


def _transposed(matrix: Interval) -> Interval:
    return Interval(np.swapaxes(matrix.lower, -1, -2), np.swapaxes(matrix.upper, -1, -2))
