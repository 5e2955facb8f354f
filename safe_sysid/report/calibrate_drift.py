"""`safe-sysid calibrate-drift`: external torque nobody exerts, and the drift it would cause."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from safe_sysid.calibrate.external_torque import AdmittanceSettings, Drift, drift_of
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import MOTION, motion_of
from safe_sysid.cli.output import print_to_error
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.calibrate_input import Recorded, arm_of_options, recorded
from safe_sysid.report.figures_text import as_json, as_table

LARGEST_DRIFT = 1e-3  # [m in 60 s]


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-drift`; status 1 if the arm would drift."""
    with print_to_error():
        arm = arm_of_options(options)
        data = recorded(options, options.recordings, arm)
        settings = AdmittanceSettings()
        if options.dead_zone is not None:
            settings = replace(settings, dead_zone=tuple(options.dead_zone))
        figures: dict[str, object] = {
            'robot': arm.model.name,
            'cutoff_hz': options.cutoff,
            'dead_zone': settings.dead_zone,
            'mobility': settings.mobility,
        }
        found = _worst(arm.model, data, options.cutoff, settings)
        figures |= _figures(found)
        if options.against is not None:
            other = arm_of(options.against, None).model
            compared = _worst(other, data, options.cutoff, settings)
            figures['against'] = {'robot': other.name, **_figures(compared)}
    print(as_json(figures) if options.json else as_table(figures))
    return 0 if found.per_minute <= LARGEST_DRIFT else 1


def _worst(
    model: RobotModel, data: Recorded, cutoff: float, settings: AdmittanceSettings
) -> Drift:
    """The piece of the recordings with the largest drift."""
    columns = FitColumns(model.layout, settings.standing)
    found = [
        drift_of(model, motion_of(log, MOTION * cutoff), columns, model.theta, cutoff, settings)
        for log in data.logs
    ]
    return max(found, key=lambda one: one.per_minute)


def _figures(found: Drift) -> dict[str, object]:
    return {
        'drift_mm_per_minute': 1e3 * found.per_minute,
        'passed': found.per_minute <= LARGEST_DRIFT,
        'share_of_samples_active': found.active,
        'turned_degrees': float(np.degrees(found.turned)),
        'seconds': found.seconds,
        'smallest_dead_zone_without_drift': found.smallest_dead_zone.tolist(),
        'wrench_rms': found.wrench_rms.tolist(),
    }
