"""Plots of recorded torque beside what a calibration predicts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safe_sysid.calibrate.calibration import Calibration
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes, line_plot

DRAWN = 1000  # instants of a plot


def draw_torques(folder: Path, model: RobotModel, found: Calibration, log: EvenLog) -> None:
    """Draw the torque of a recording and its prediction, joint by joint."""
    rows = torque_rows(model, found.columns, log, found.settings.cutoff)
    shown = slice(None, None, max(1, len(rows) // DRAWN))
    t = np.arange(len(rows))[shown] / rows.rate
    predicted = rows.Y @ found.x
    for i, name in enumerate(model.layout.joint_names):
        series = {
            'filtered': rows.tau[shown, i],
            'predicted': predicted[shown, i],
            'difference': rows.tau[shown, i] - predicted[shown, i],
        }
        axes = Axes('time [s]', f'torque of {name} [N m]')
        line_plot(folder / f'torque_{i + 1}.png', t, series, axes)
