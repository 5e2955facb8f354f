"""`safe-sysid calibrate`: recordings in, settings, URDF, MJCF and a report on their worth out."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from safe_sysid.calibrate.calibration import Calibration, calibrate
from safe_sysid.calibrate.effort_check import EffortError
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.errors import ConfigError
from safe_sysid.export.arm_mjcf import write_mjcf
from safe_sysid.export.arm_settings import write_settings
from safe_sysid.export.arm_urdf import write_dynamics
from safe_sysid.model.arm import Arm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.calibrate_input import Recorded, arm_of_options, recorded, settings_of
from safe_sysid.report.calibrate_loops import calibrate_loops
from safe_sysid.report.calibrate_page import (
    as_mapping,
    as_page,
    refusal_mapping,
    refusal_page,
)
from safe_sysid.report.figures import Axes, line_plot
from safe_sysid.report.figures_text import as_json

REFUSED = 1
DRAWN = 1000  # instants of a plot


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate`."""
    with print_to_error():
        bar = ProgressBar('calibrating')
        arm = arm_of_options(options)
        loops = calibrate_loops(options, arm) if arm.facts.closed_chain is not None else None
    if loops is not None:
        print(loops)
        return 0
    if options.loops is not None:
        raise ConfigError(
            f'--loops {options.loops}: {arm.model.name} has no loops; its settings would say so '
            'under closed_chain'
        )
    with print_to_error():
        status, page, figures = _calibrated(options, arm, bar)
    print(as_json(figures) if options.json else page)
    return status


def _calibrated(
    options: argparse.Namespace, arm: Arm, bar: ProgressBar
) -> tuple[int, str, dict[str, object]]:
    """Exit status, report, and the same for programs; files of the arm are written."""
    settings = settings_of(options)
    bar.show(0.1, 'reading')
    fitted = recorded(options, options.recordings, arm)
    judged = recorded(options, options.validate, arm)
    remarks = fitted.remarks + judged.remarks
    bar.show(0.3, f'{fitted.seconds:.0f} s')
    try:
        found = calibrate(arm.model, fitted.logs, judged.logs, settings)
    except EffortError as error:
        bar.end()
        page = refusal_page(arm.model, error, remarks)
        _write_report(options.out, page)
        return REFUSED, page, refusal_mapping(arm.model, error)
    bar.end()
    page = as_page(arm.model, found, remarks)
    _write_report(options.out, page)
    if options.out is not None:
        _write(options.out, arm, found)
        _draw(options.out, arm.model, found, judged if judged.logs else fitted)
    status = 0 if found.refused is None else REFUSED
    return status, page, as_mapping(arm.model, found)


def _write_report(folder: Path | None, page: str) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'report.md').write_text(page, encoding='utf-8')


def _write(folder: Path, arm: Arm, found: Calibration) -> None:
    """The arm in every format unless the fit must not be used."""
    if found.refused is not None:
        return
    name = arm.model.name
    model = arm.model.with_parameters(found.theta)
    write_dynamics(model, arm.urdf, folder / f'{name}.urdf')
    write_mjcf(model, folder / f'{name}.xml')
    write_settings(model, arm.facts, f'{name}.urdf', folder / f'{name}.yaml', _left_out(found))


def _left_out(found: Calibration) -> tuple[str, ...]:
    """What the fit has and a settings file has no place for."""
    extra = range(found.columns.layout.size, found.columns.size)
    return tuple(f'not in this file: {found.columns.labels[i]} = {found.x[i]:.5g}' for i in extra)


def _draw(folder: Path, model: RobotModel, found: Calibration, judged: Recorded) -> None:
    """Torque of the last recording and its prediction, joint by joint."""
    rows = torque_rows(model, found.columns, judged.logs[-1], found.settings.cutoff)
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
