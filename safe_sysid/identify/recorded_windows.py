"""Windows of a recording, each with its rows and with what a force at the tip does in them."""

from __future__ import annotations

import numpy as np

from safe_sysid.calibrate.external_torque import tip_jacobian
from safe_sysid.identify.change.rigidity import WindowRows
from safe_sysid.identify.momentum_observation import MomentumObserver, ObservationSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval


def recorded_windows(
    model: RobotModel, bounds: Interval, settings: ObservationSettings, log: JointLog
) -> list[WindowRows]:
    """Return all whole windows, in the order of time."""
    observer = MomentumObserver(model, bounds, settings)
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    found = []
    for k in range(len(log)):
        rows = observer.add(log[k])
        if rows is None:
            continue
        start, end = float(rows.start[0]), float(rows.end[0])
        middle = int(np.searchsorted(seconds, 0.5 * (start + end)))
        jacobian = tip_jacobian(model, log.position[min(middle, len(log) - 1)])[:3]
        found.append(WindowRows(rows, -(end - start) * jacobian.T[rows.joint]))
    return found
