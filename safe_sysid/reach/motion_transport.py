"""Compiled: spatial motions on Taylor models, taken from one joint frame to the next.

A motion is six rows of a pool, linear before angular. Geometry is that of `joint_geometry`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.tree import Tree
from safe_sysid.reach.joint_geometry import AXIS, BACK, INTO, LEVER, aligned, joint_geometry
from safe_sysid.reach.joint_geometry import TURN as CROSS_AXIS
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.taylor_kernels import add_product, clear, copy
from safe_sysid.sets.taylor_vectors import add_linear, clear_vector

PRISMATIC, ALIGNED, TURNED = 0, 1, 2  # kinds of joint; ALIGNED turns about z
MOTION = 6  # rows of a motion
TRANSPORT_WORK = 12  # rows


class TransportJoints(NamedTuple):
    """Joints of a tree as the kernels want them."""

    geometry: Array  # (n, 5, 2, 3, 3)
    kind: IntArray  # (n,)
    parent: IntArray  # (n,)
    below: AnyArray  # (n, n) bool: joint k is below joint i, or i itself
    gravity: Array  # (3,)


def kernel_joints(tree: Tree) -> TransportJoints:
    """Joints of a tree, with their geometry enclosed."""
    n = len(tree.parent)
    geometry = joint_geometry(tree)
    kind = np.where(tree.is_prismatic, PRISMATIC, np.where(aligned(geometry), ALIGNED, TURNED))
    below = np.eye(n, dtype=bool)
    for i in range(n):
        if tree.parent[i] >= 0:
            below[i] |= below[tree.parent[i]]
    return TransportJoints(geometry, kind.astype(np.int64), tree.parent, below, tree.gravity)


@jit
def to_child(
    pool: Array, joint: Array, kind: int, state: int, a: int, out: int, work: int, table: IntArray
) -> None:
    """Enclose motion a of the frame below in the frame of a joint; state: rows cos, sin, q.

    lin' = R' (lin + w x p), w' = R' w, with R = R0 B Rz B' or p = p0 + R0 axis q.
    """
    for r in range(MOTION):
        clear(pool, work + r)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a, work)
    add_linear(pool, joint[LEVER, 0], joint[LEVER, 1], a + 3, work)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a + 3, work + 3)
    if kind == PRISMATIC:
        for r in range(MOTION):
            copy(pool, work + r, out + r)
        clear_vector(pool, work)
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], out + 3, work)
        for r in range(3):
            add_product(pool, state + 2, work + r, 1.0, out + r, table)
    elif kind == ALIGNED:
        _turn_about_z(pool, state, work, out, table)
        _turn_about_z(pool, state, work + 3, out + 3, table)
    else:
        _turn_about_z(pool, state, work, work + 6, table)
        _turn_about_z(pool, state, work + 3, work + 9, table)
        for r in range(0, MOTION, 3):
            clear_vector(pool, out + r)
            add_linear(pool, joint[BACK, 0], joint[BACK, 1], work + 6 + r, out + r)


@jit
def _turn_about_z(pool: Array, state: int, a: int, out: int, table: IntArray) -> None:
    """Enclose Rz' a; rows state and state + 1 are the cosine and the sine."""
    clear(pool, out)
    clear(pool, out + 1)
    copy(pool, a + 2, out + 2)
    for r in range(2):
        add_product(pool, state, a + r, 1.0, out + r, table)
    add_product(pool, state + 1, a + 1, 1.0, out, table)
    add_product(pool, state + 1, a, -1.0, out + 1, table)


@jit
def set_to_axis(pool: Array, joint: Array, kind: int, out: int) -> None:
    """Set out to the motion of the joint itself at unit rate."""
    for r in range(MOTION):
        clear(pool, out + r)
    own = 0 if kind == PRISMATIC else 3
    for r in range(3):
        pool[out + own + r, 0] = joint[AXIS, 0, 0, r]
        pool[out + own + r, pool.shape[1] - 1] = joint[AXIS, 1, 0, r]


@jit
def cross_axis(pool: Array, joint: Array, kind: int, a: int, out: int) -> None:
    """Enclose the motion a x s, s that of the joint itself at unit rate."""
    for r in range(MOTION):
        clear(pool, out + r)
    if kind == PRISMATIC:
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], a + 3, out)
    else:
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], a, out)
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], a + 3, out + 3)
