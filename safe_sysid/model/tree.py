"""Joints of an arm as arrays: how they follow each other, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from safe_sysid.arrays import AnyArray, Array, IntArray


class Tree(NamedTuple):
    """Joints of an open chain or tree as arrays, parents before children, for compiled code."""

    parent: IntArray  # (n,) joint below, -1 at the base
    R_parent_joint: Array  # (n, 3, 3) joint frame at q = 0 in the frame of the joint below
    p_parent_joint: Array  # (n, 3) [m]
    axis: Array  # (n, 3) unit vectors in the joint frame
    is_prismatic: AnyArray  # (n,) bool
    gravity: Array  # (3,) [m/s^2]


@dataclass(frozen=True, eq=False)
class JointLimits:
    """What the joints may do; infinite where there is no limit."""

    position_lower: Array  # [rad]
    position_upper: Array  # [rad]
    velocity: Array  # [rad/s]
    acceleration: Array  # [rad/s^2]
    torque: Array  # [N m]
    is_continuous: AnyArray  # bool: the joint turns without end, its position wraps
