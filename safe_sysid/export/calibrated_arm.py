"""A calibrated arm in every format: settings, URDF and MJCF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.calibrate.calibration import Calibration
from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit
from safe_sysid.export.arm_mjcf import write_mjcf
from safe_sysid.export.arm_settings import OF_DRIVES, write_settings
from safe_sysid.export.arm_urdf import mounted_beyond, write_dynamics
from safe_sysid.model.arm import Arm
from safe_sysid.model.arm_knowledge import unknown_range
from safe_sysid.model.facts import RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width

IN_TIP = (
    'The last body is none without what the URDF has beyond the tip, so that is part of the '
    'tip here: a payload is without it.'
)


def write_calibrated_arm(folder: Path, arm: Arm, found: Calibration) -> None:
    """Write the arm unless the fit must not be used."""
    if found.refused is not None:
        return
    name = arm.model.name
    model = arm.model.with_parameters(found.known_theta)
    write_mjcf(model, folder / f'{name}.xml')
    facts = replace(arm.facts, uncertainty=_widened(model, found.drives.unknown))
    _write_urdf_and_settings(folder, arm.urdf, model, facts, _left_out(found))


def write_closed_chain_arm(folder: Path, arm: Arm, fit: ClosedChainFit) -> None:
    """Write settings, and the URDF with its bodies."""
    theta = fit.theta(arm.model.theta)
    model = arm.model.with_parameters(np.where(np.abs(theta) < 1e-12, 0.0, theta))
    facts = replace(arm.facts, uncertainty=_widened(model, fit.unknown_drives(model.n)))
    remarks = (*fit.drives.cautions(), *fit.separability.sentences())
    _write_urdf_and_settings(folder, arm.urdf, model, facts, remarks)


def _write_urdf_and_settings(
    folder: Path, source: Path, model: RobotModel, facts: RobotFacts, remarks: tuple[str, ...]
) -> None:
    name, held = model.name, facts.held
    mounted = mounted_beyond(facts.tip, model, source)
    if mounted is None:
        facts, mounted, remarks = replace(facts, gripper_in_tip=True), {}, (*remarks, IN_TIP)
    still_held = write_dynamics(model, held, source, folder / f'{name}.urdf', mounted)
    fixed = [f'{joint} at {held[joint]:g}' for joint in held if joint not in still_held]
    if fixed:
        remarks = (*remarks, f'Fixed in the URDF, as they were held: {", ".join(fixed)}.')
    facts = replace(facts, held=still_held)
    write_settings(model, facts, f'{name}.urdf', folder / f'{name}.yaml', remarks)


def _widened(model: RobotModel, unknown: AnyArray) -> Uncertainty:
    """Widths that the arm's file states, where a figure (3, n) is unknown as wide as unknown is.

    A stated width is around a figure; around the 0 of an unknown one it would promise its size.
    """
    widths = model.uncertainty
    none = np.zeros(model.n)
    for kind, joints in zip(OF_DRIVES, unknown, strict=True):
        stated: Width | None = getattr(widths, kind)
        if stated is None or not joints.any():
            continue
        most = unknown_range(kind, none, model.limits)[1]
        wide = Width(
            tuple((none + stated.shares).tolist()),
            tuple(np.where(joints, most, none + stated.on_top).tolist()),
        )
        widths = replace(widths, **{kind: wide})
    return widths


def _left_out(found: Calibration) -> tuple[str, ...]:
    """Return what the fit has and a settings file has no place for."""
    extra = range(found.columns.layout.size, found.columns.size)
    return tuple(f'not in this file: {found.columns.labels[i]} = {found.x[i]:.5g}' for i in extra)
