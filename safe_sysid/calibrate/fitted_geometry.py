"""Geometry of an arm, fitted to most of the poses of its tip and judged by the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from safe_sysid.arrays import IntArray
from safe_sysid.calibrate.kinematic_fit import (
    KinematicFit,
    Marker,
    TipPoses,
    chain_to,
    kinematic_fit,
    logarithm,
    seen_poses,
    tip_poses,
)
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.calibrate.unit_findings import position_finding
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.model.arm import Arm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw

UNIT = 30.0  # times as far apart as the description has them: points in another unit
MOVING = 1e-6  # [m or rad] of a last step that is none of rounding
FAR = 30.0  # times the noise that points are off beyond what arms bend and play
TURNED = 0.5  # [rad] that no orientation is off which somebody measured
CAUSES = 'joint positions may be in another unit, order or sense, or of another arm'
ORDER = 'quaternions may be in another order than x, y, z, w, or of the inverse rotation'
SMALLEST_GAP = 100.0  # between singular values, below which a rank means little


@dataclass(frozen=True, eq=False)
class FittedGeometry:
    """The arm with its geometry, how well poses determine it, and what it is worth."""

    model: RobotModel
    figures: dict[str, Any]
    warning: str | None  # where the poses determine too little


def fitted_geometry(
    arm: Arm, poses: TipPoses, noise: PoseNoise, marked: str | None, held_out: float
) -> FittedGeometry:
    """Fit of an arm whose marker is near the link `marked`; a share of the poses is held out."""
    link = marked or arm.facts.tip
    marker = _marker(arm.model, link)
    _check_unit(arm.model, poses, marker)
    fitted, held = _split(poses, held_out)
    found = kinematic_fit(arm.model, fitted, noise, marker)
    figures = _figures(arm.model, found, fitted, held) | _of_frames(found, link, marker)
    doubts = [figures['warning'], _doubt(found, figures, noise)]
    figures['warning'] = '; '.join(x for x in doubts if x is not None) or None
    return FittedGeometry(found.model, figures, figures['warning'])


def _marker(model: RobotModel, name: str) -> Marker:
    """Return the frame of a link as seen from the last joint."""
    if name not in model.frames:
        raise ConfigError(f"no link '{name}' for the marker, links are {list(model.frames)}")
    frame = model.frames[name]
    if frame.joint != model.layout.tip:
        raise ConfigError(f"the link '{name}' is not moved by the last joint of the tip")
    return Marker(frame.R, frame.p)


def _check_unit(model: RobotModel, poses: TipPoses, marker: Marker) -> None:
    """Refuse degrees, and points spread wider than any error of the description explains."""
    unit = position_finding(poses.q, model.layout.joint_names, model.limits)
    if unit is not None and unit.quantity == 'position':
        raise MeasurementError(unit.sentence)
    described = tip_poses(model, poses.q, marker)[1]
    seen, expected = (float(np.ptp(p, axis=0).max()) for p in (poses.p, described))
    if seen > UNIT * expected:
        raise MeasurementError(
            f'the points are spread over {seen:.4g} m, the tip of {model.name} at these joint '
            f'positions over {expected:.4g} m: x, y, z have to be in metres (millimetres?), '
            'joint positions in radians'
        )


def _split(poses: TipPoses, share: float) -> tuple[TipPoses, TipPoses]:
    """Poses for the fit and every so many for judging it."""
    N = len(poses.q)
    order = np.random.default_rng(0).permutation(N)
    held = np.sort(order[: round(share * N)])
    fitted = np.sort(order[round(share * N) :])

    def chosen(rows: IntArray) -> TipPoses:
        return TipPoses(poses.q[rows], poses.p[rows], None if poses.R is None else poses.R[rows])

    return chosen(fitted), chosen(held)


def _figures(
    model: RobotModel, found: KinematicFit, fitted: TipPoses, held: TipPoses
) -> dict[str, Any]:
    """How well the poses determine the geometry, what it is worth, and how far it is changed."""
    chain = chain_to(model.tree, model.layout.tip)
    sliders = int(np.sum(model.tree.is_prismatic[chain]))
    shown = 4 * len(chain) - 2 * sliders + 6 - (3 if fitted.R is None else 0)
    warning = None
    if found.rank < shown or found.gap < SMALLEST_GAP:
        warning = (
            f'{found.rank} combinations are determined (gap {found.gap:.3g}), an arm like this '
            f'can show {shown}: move all joints over their whole range; a marker on the axis of '
            'the last joint hides its angle'
        )
    figures: dict[str, Any] = {
        'robot': model.name,
        'measured': 'points' if fitted.R is None else 'poses',
        'fitted_poses': len(fitted.q),
        'unknowns': found.unknowns,
        'determined': found.rank,
        'singular_value_gap': found.gap,
        'warning': warning,
        'steps': found.steps,
        'residual_position_rms_mm': 1e3 * found.position_rms,
        'residual_rotation_rms_deg': float(np.degrees(found.rotation_rms)),
        'tip_deviation_largest_mm': 1e3 * float(np.linalg.norm(found.deviation, axis=1).max()),
    }
    if len(held.q):
        figures |= _held_out(found, held)
    figures['joints'] = [_joint(found.model, model, i) for i in chain]
    return figures


def _of_frames(found: KinematicFit, link: str, marked: Marker) -> dict[str, Any]:
    """Where the marker is in the frame of a link, and the frame of measurements in the base."""
    back = marked.R.T
    return {
        'marker_in': link,
        'marker_xyz_m': (back @ (found.marker.p - marked.p)).tolist(),
        'marker_rpy_rad': roll_pitch_yaw(back @ found.marker.R).tolist(),
        'frame_xyz_m': found.frame.p.tolist(),
        'frame_rpy_rad': roll_pitch_yaw(found.frame.R).tolist(),
    }


def _doubt(found: KinematicFit, figures: dict[str, Any], noise: PoseNoise) -> str | None:
    """Return what speaks against the geometry, however well poses determine one."""
    if found.last_step > MOVING:
        return (
            f'the fit has not settled after {found.steps} steps (the last one changed '
            f'{found.last_step:.2g} m or rad): {CAUSES}'
        )
    turned = figures.get('held_out_rotation_rms_deg', figures['residual_rotation_rms_deg'])
    if np.radians(turned) > min(FAR * noise.rotation, TURNED):
        return (
            f'orientations are off by {turned:.3g} degrees rms, more than --rotation-noise '
            f'({np.degrees(noise.rotation):.3g} degrees) can explain: {ORDER}; {CAUSES}'
        )
    off = figures.get('held_out_position_rms_mm', figures['residual_position_rms_mm'])
    times = 1e-3 * off / noise.position
    if times <= FAR:
        return None
    return (
        f'points are off by {off:.3g} mm rms, {times:.0f} times what --position-noise says '
        f'({1e3 * noise.position:g} mm; up to {FAR:g} times may be the arm): {CAUSES}, or less '
        'exactly measured'
    )


def _held_out(found: KinematicFit, held: TipPoses) -> dict[str, Any]:
    """How near the fit comes to poses that had no part in it."""
    R, p = seen_poses(found, held.q)
    off = np.linalg.norm(p - held.p, axis=1)
    figures: dict[str, Any] = {
        'held_out_poses': len(held.q),
        'held_out_position_rms_mm': 1e3 * float(np.sqrt(np.mean(off**2))),
        'held_out_position_largest_mm': 1e3 * float(off.max()),
    }
    if held.R is not None:
        turned = np.degrees([np.linalg.norm(logarithm(x)) for x in held.R.transpose(0, 2, 1) @ R])
        figures['held_out_rotation_rms_deg'] = float(np.sqrt(np.mean(turned**2)))
        figures['held_out_rotation_largest_deg'] = float(turned.max())
    return figures


def _joint(now: RobotModel, before: RobotModel, i: int) -> dict[str, Any]:
    shift = now.tree.p_parent_joint[i] - before.tree.p_parent_joint[i]
    turn = logarithm(before.tree.R_parent_joint[i].T @ now.tree.R_parent_joint[i])
    tilt = np.arccos(np.clip(now.tree.axis[i] @ before.tree.axis[i], -1.0, 1.0))
    return {
        'joint': before.layout.joint_names[i],
        'shift_mm': 1e3 * float(np.linalg.norm(shift)),
        'turn_deg': float(np.degrees(np.linalg.norm(turn))),
        'axis_deg': float(np.degrees(tilt)),
    }
