"""Goals that come while the loop runs: configurations they may mean, or why they are refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.input_file import listed
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.inverse_kinematics import LinkPose, configurations
from safe_sysid.plan.path.joint_path import FARTHEST
from safe_sysid.plan.rest_limits import RestLimits

MOST = 4  # configurations of a pose that are tried, one after the other


class GoalError(SafeSysidError):
    """A goal is refused."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Where an arm is when a goal is looked at, and what is around it."""

    model: RobotModel
    obstacles: Obstacles
    start: Array  # (n,) [rad]
    rest: RestLimits | None = None  # how near to joint limits it may rest; None: up to them


def joint_goal(model: RobotModel, positions: Mapping[str, float]) -> Array:
    """Return a configuration from a position for each joint [rad]; other joints are left out."""
    names = model.layout.joint_names
    missing = [name for name in names if name not in positions]
    if missing:
        raise GoalError(
            f'the goal has no {missing}; its joints are {listed(list(positions))}, all of '
            f'{list(names)} are needed'
        )
    q = np.array([positions[name] for name in names], dtype=np.float64)
    if (np.abs(q) > FARTHEST).any():
        j = int(np.abs(q).argmax())
        raise GoalError(f'the goal has {names[j]} at {q[j]:.4g}; at most {FARTHEST:g} is allowed')
    return q


def refuse_place(model: RobotModel, q: Array, rest: RestLimits | None = None) -> None:
    """Raise `GoalError` where an arm may not stand, whatever is around it."""
    trouble = standing_trouble(q, Surroundings(model, NO_OBSTACLES, q, rest))
    if trouble:
        raise GoalError(trouble)


def choices_of_joints(q: Array, around: Surroundings) -> tuple[Array, ...]:
    """Return the configuration, if the arm may stand in it."""
    trouble = standing_trouble(q, around)
    if trouble:
        raise GoalError(trouble)
    return (q,)


def choices_of_pose(pose: LinkPose, around: Surroundings) -> tuple[Array, ...]:
    """Return configurations with the link at a pose, the arm free to stand, nearest first."""
    found = configurations(around.model, pose, around.start)
    troubles = [standing_trouble(q, around) for q in found]
    free = [q for q, trouble in zip(found, troubles, strict=True) if not trouble]
    if not free:
        raise GoalError(
            f'in none of {len(found)} configurations with the link at the pose the arm may stand; '
            f'in the nearest, {troubles[0]}'
        )
    return tuple(free[:MOST])


def standing_trouble(q: Array, around: Surroundings) -> str:
    """Why the arm may not stand in a configuration; empty if it may."""
    model, limits = around.model, around.model.limits
    if not np.isfinite(q).all():
        return f'the goal {q.tolist()} is not finite'
    outside = np.flatnonzero((q < limits.position_lower) | (q > limits.position_upper))
    if outside.size:
        i = int(outside[0])
        return (
            f'{model.layout.joint_names[i]} is at {q[i]:.4g} rad; '
            f'[{limits.position_lower[i]:.4g}, {limits.position_upper[i]:.4g}] is allowed'
        )
    if around.rest is not None and (trouble := around.rest.trouble(q)):
        return trouble
    nearest = arm_clearance(model, around.obstacles, q)
    if nearest is not None and nearest.distance < 0.0:
        return f'{nearest.first} is {-1000.0 * nearest.distance:.3g} mm inside {nearest.second}'
    return ''
