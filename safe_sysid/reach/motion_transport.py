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
from safe_sysid.sets.taylor_kernels import add_product, clear, clear_vector, copy
from safe_sysid.sets.taylor_maps import add_linear, set_linear
from safe_sysid.sets.taylor_sums import note_sizes, set_turned

PRISMATIC, ALIGNED, TURNED = 0, 1, 2  # kinds of joint; ALIGNED turns about z
MOTION = 6  # rows of a motion
TRANSPORT_WORK = 9  # rows


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
    pool: Array,
    sizes: Array,
    joint: Array,
    kind: int,
    state: int,
    motion: int,
    work: int,
    table: IntArray,
) -> None:
    """Take a motion of the frame below to the frame of a joint; state: rows cos, sin, q.

    lin' = R' (lin + w x p), w' = R' w, with R = R0 B Rz B' or p = p0 + R0 axis q. Sizes of the
    motion and the state are known, and then those of the motion there.
    """
    set_linear(pool, sizes, joint[INTO], motion, work)
    add_linear(pool, sizes, joint[LEVER], motion + 3, work)
    set_linear(pool, sizes, joint[INTO], motion + 3, work + 3)
    note_sizes(pool, work, MOTION, sizes, table)
    if kind == PRISMATIC:
        for r in range(MOTION):
            copy(pool, work + r, motion + r)
        set_linear(pool, sizes, joint[CROSS_AXIS], work + 3, work)
        for r in range(3):
            add_product(pool, state + 2, work + r, 1.0, motion + r, table)
    else:
        for r in range(0, MOTION, 3):
            if kind == ALIGNED:
                set_turned(pool, sizes, state, work + r, motion + r, table)
            else:
                turned = work + MOTION
                set_turned(pool, sizes, state, work + r, turned, table)
                note_sizes(pool, turned, 3, sizes, table)
                set_linear(pool, sizes, joint[BACK], turned, motion + r)
    note_sizes(pool, motion, MOTION, sizes, table)


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
def cross_axis(pool: Array, sizes: Array, joint: Array, kind: int, a: int, out: int) -> None:
    """Enclose the motion a x s, s that of the joint itself at unit rate."""
    if kind == PRISMATIC:
        set_linear(pool, sizes, joint[CROSS_AXIS], a + 3, out)
        clear_vector(pool, out + 3)
    else:
        set_linear(pool, sizes, joint[CROSS_AXIS], a, out)
        set_linear(pool, sizes, joint[CROSS_AXIS], a + 3, out + 3)
