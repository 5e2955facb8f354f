"""Recorded torque beside what a calibration predicts, as files and for a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safe_sysid.calibrate.calibration import Calibration
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import panels
from safe_sysid.report.html_page import Line, Plot
from safe_sysid.report.palette import MEASURED

DRAWN = 1000  # instants of a plot


def torque_plots(model: RobotModel, found: Calibration, log: EvenLog) -> tuple[Plot, ...]:
    """Return the torque of a recording and its prediction, joint by joint."""
    rows = torque_rows(model, found.columns, log, found.settings.cutoff)
    shown = slice(None, None, max(1, len(rows) // DRAWN))
    t = np.arange(len(rows))[shown] / rows.rate
    predicted = rows.Y @ found.x
    return tuple(
        Plot(
            name,
            'torque [N m]',
            (
                Line('filtered', t, rows.tau[shown, i], color=MEASURED),
                Line('predicted', t, predicted[shown, i]),
                Line('difference', t, rows.tau[shown, i] - predicted[shown, i], color=1),
            ),
        )
        for i, name in enumerate(model.layout.joint_names)
    )


def draw_torques(folder: Path, plots: tuple[Plot, ...]) -> None:
    """Draw each of them into a file of its own."""
    for i, plot in enumerate(plots):
        panels([folder / f'torque_{i + 1}.png'], (plot,))
