"""Windows of a recording, each with its rows and with what a force on the object does in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.change.rigidity import FORCE, WindowRows
from safe_sysid.identify.momentum_observation import (
    MomentumObserver,
    ObservationSettings,
    whole_windows,
)
from safe_sysid.identify.observation import Observation
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.forward_kinematics import frames_of_poses, tip_jacobians
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

MOVING = 0.02  # [rad/s] of a joint whose friction has the sign of its velocity


@dataclass(frozen=True, eq=False)
class RecordedWindow:
    """Rows of a window, and the pose in its middle."""

    rows: Observation
    position: Array  # (n,) [rad]


def recorded_windows(
    model: RobotModel, bounds: Interval, settings: ObservationSettings, log: JointLog
) -> list[RecordedWindow]:
    """Return all whole windows, in the order of time."""
    observer = MomentumObserver(model, bounds, settings)
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    found = []
    for rows in whole_windows(observer, log):
        start, end = float(rows.start[0]), float(rows.end[0])
        middle = int(np.searchsorted(seconds, 0.5 * (start + end)))
        found.append(RecordedWindow(rows, log.position[min(middle, len(log) - 1)]))
    return found


def moving(windows: Sequence[RecordedWindow], log: JointLog) -> list[RecordedWindow]:
    """Return rows of joints that move all through a window, of windows in which enough do."""
    seconds, speed = (log.stamp - log.stamp[0]) * 1e-9, np.abs(log.velocity)
    found = []
    for each in windows:
        first, last = np.searchsorted(seconds, (each.rows.start[0], each.rows.end[0]))
        moves = speed[first : last + 1].min(axis=0) > MOVING
        rows = each.rows.rows(moves[each.rows.joint])
        if len(rows) > FORCE:
            found.append(replace(each, rows=rows))
    return found


def with_pushes(
    model: RobotModel, windows: Sequence[RecordedWindow], point: Array
) -> list[WindowRows]:
    """Return rows with what forces on a point (3,) [m] of the last joint's frame do in them."""
    if not windows:
        return []
    poses = np.stack([each.position for each in windows])
    jacobians = tip_jacobians(model, poses)
    arms = frames_of_poses(model, poses)[0][:, model.layout.tip] @ point
    at_point = jacobians[:, :3] + np.cross(jacobians[:, 3:], arms[:, :, None], axis=1)
    found = []
    for each, J in zip(windows, at_point, strict=True):
        length = each.rows.end - each.rows.start
        found.append(WindowRows(each.rows, -length[:, None] * J.T[each.rows.joint]))
    return found
