"""The way off something that the hand is about: straight on, as the hand is turned."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsules_to_box import clearances
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.plan.path.inverse_kinematics import FramePose, nearby
from safe_sysid.plan.path.route import Route
from safe_sysid.reach.lift_off import LiftOff

STEP = 0.02  # [m] between waypoints
FARTHEST = 0.6  # [m]


def is_clear(model: RobotModel, lift: LiftOff, q: Array) -> bool:
    """Whether what may touch is away from what it leaves, by as much as errors may come to."""
    return bool(clearances(model, q, lift.capsules, lift.support).min() > lift.depth)


def leaving_route(model: RobotModel, lift: LiftOff, start: Array) -> Route | None:
    """Return a route from `start` until the arm is clear; None where joints do not lead there.

    The hand keeps its orientation where the arm has joints for that, else it may turn.
    """
    for turns_freely in (False, True):
        waypoints = _waypoints(model, lift, start, turns_freely)
        if waypoints is not None:
            return Route(waypoints, model.limits.is_continuous)
    return None


def _waypoints(model: RobotModel, lift: LiftOff, start: Array, turns_freely: bool) -> Array | None:
    """Lead the point of the hand that is in the middle of what it leaves."""
    tip, (R, p) = model.layout.tip, joint_frames(model, start)
    middle = lift.support.center
    frame = Frame(tip, np.eye(3), R[tip].T @ (middle - p[tip]))
    way = [start]
    for length in np.arange(STEP, FARTHEST, STEP):
        place = Placement(R[tip], middle + length * lift.direction)
        q = nearby(model, FramePose(frame, place, turns_freely), way[-1])
        if q is None:
            return None
        way.append(q)
        if is_clear(model, lift, q):
            return np.stack(way)
    return None
