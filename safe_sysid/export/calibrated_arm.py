"""A calibrated arm in every format: settings, URDF and MJCF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from safe_sysid.calibrate.calibration import Calibration
from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit
from safe_sysid.export.arm_mjcf import write_mjcf
from safe_sysid.export.arm_settings import write_settings
from safe_sysid.export.arm_urdf import write_dynamics
from safe_sysid.model.arm import Arm
from safe_sysid.model.robot_model import RobotModel


def write_calibrated_arm(folder: Path, arm: Arm, found: Calibration) -> None:
    """Write the arm unless the fit must not be used."""
    if found.refused is not None:
        return
    name = arm.model.name
    model = arm.model.with_parameters(found.theta)
    write_mjcf(model, folder / f'{name}.xml')
    _write_urdf_and_settings(folder, arm, model, _left_out(found))


def write_closed_chain_arm(folder: Path, arm: Arm, fit: ClosedChainFit) -> None:
    """Write settings, and the URDF with its bodies."""
    theta = fit.theta(arm.model.theta)
    model = arm.model.with_parameters(np.where(np.abs(theta) < 1e-12, 0.0, theta))
    _write_urdf_and_settings(folder, arm, model, tuple(fit.separability.sentences()))


def _write_urdf_and_settings(
    folder: Path, arm: Arm, model: RobotModel, remarks: tuple[str, ...]
) -> None:
    name, held = model.name, arm.facts.held
    still_held = write_dynamics(model, held, arm.urdf, folder / f'{name}.urdf')
    fixed = [f'{joint} at {held[joint]:g}' for joint in held if joint not in still_held]
    if fixed:
        remarks = (*remarks, f'Fixed in the URDF, as they were held: {", ".join(fixed)}.')
    facts = replace(arm.facts, held=still_held)
    write_settings(model, facts, f'{name}.urdf', folder / f'{name}.yaml', remarks)


def _left_out(found: Calibration) -> tuple[str, ...]:
    """Return what the fit has and a settings file has no place for."""
    extra = range(found.columns.layout.size, found.columns.size)
    return tuple(f'not in this file: {found.columns.labels[i]} = {found.x[i]:.5g}' for i in extra)
