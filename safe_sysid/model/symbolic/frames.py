"""Poses, Jacobians and loop closures in SX, in the base frame."""

from __future__ import annotations

import numpy as np

from safe_sysid.model.closed_chain.loop_closure import Loops
from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.recursions import SymbolicTree
from safe_sysid.model.urdf_tree import Frame


def frame_pose(tree: SymbolicTree, frame: Frame) -> tuple[SX, SX]:
    """Return rotation (3, 3) and origin (3,) [m] of a frame."""
    R, p = cs.SX(cs.DM(frame.R)), cs.SX(cs.DM(frame.p))
    if frame.joint < 0:
        return R, p
    R_joint, p_joint = tree.frames()[frame.joint]
    return cs.mtimes(R_joint, R), p_joint + cs.mtimes(R_joint, p)


def frame_jacobian(tree: SymbolicTree, frame: Frame) -> SX:
    """Return J (6, n) with J qd the velocity of a frame's origin and its angular velocity."""
    placed, (_, point) = tree.frames(), frame_pose(tree, frame)
    J = cs.SX(6, tree.n)
    for j in tree.path(frame.joint):
        R, p = placed[j]
        axis = cs.mtimes(R, tree.axis[j])
        J[:3, j] = axis if tree.is_prismatic[j] else cs.cross(axis, point - p)
        if not tree.is_prismatic[j]:
            J[3:, j] = axis
    return cs.sparsify(J)


def loop_gap(tree: SymbolicTree, loops: Loops) -> SX:
    """Return c (m,) [m], 0 where the loops are closed."""
    rows = []
    for loop, direction in zip(loops.loop, loops.direction, strict=True):
        ends = [
            frame_pose(tree, Frame(int(loops.body[loop, end]), np.eye(3), loops.point[loop, end]))
            for end in (0, 1)
        ]
        along, carrier = cs.SX(cs.DM(direction)), int(loops.carrier[loop])
        if carrier >= 0:
            along = cs.mtimes(tree.frames()[carrier][0], along)
        rows.append(cs.dot(along, ends[0][1] - ends[1][1]))
    return cs.vertcat(*rows)
