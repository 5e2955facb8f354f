"""`safe-sysid calibrate-kinematics`: poses of the tip in, geometry of the arm as URDF out."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.kinematic_fit import (
    KinematicFit,
    Marker,
    PoseNoise,
    TipPoses,
    chain_to,
    kinematic_fit,
    logarithm,
    tip_poses,
)
from safe_sysid.cli.output import print_to_error
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.export.arm_urdf import roll_pitch_yaw, write_geometry
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures_text import as_json, as_table

POINT = ('x', 'y', 'z')
ROTATION = ('qx', 'qy', 'qz', 'qw')
SMALLEST_GAP = 100.0  # between singular values, below which a rank means little


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-kinematics`; status 1 if poses determine too little."""
    with print_to_error():
        arm = arm_of(options.robot, options.config)
        poses = read_poses(options.poses, arm.model.layout.joint_names)
        noise = PoseNoise(options.position_noise, options.rotation_noise)
        marker = _marker(arm, options.marker)
        fitted, held = _split(poses, options.hold_out)
        found = kinematic_fit(arm.model, fitted, noise, marker)
        figures = _figures(arm, found, fitted, held)
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            write_geometry(found.model, arm.urdf, options.out / f'{arm.model.name}.urdf')
    print(as_json(figures) if options.json else as_table(figures))
    return 0 if figures['warning'] is None else 1


def read_poses(path: Path, joints: tuple[str, ...]) -> TipPoses:
    """Joint positions and poses or points of a marker from a table with named columns."""
    try:
        with path.open(encoding='utf-8-sig') as file:
            names = [name.strip().strip('"') for name in file.readline().split(',')]
            values = np.loadtxt(file, delimiter=',', ndmin=2)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise MeasurementError(f'{path}: is not a table of numbers ({error})') from error
    if values.size == 0 or values.shape[1] != len(names):
        raise MeasurementError(f'{path}: {len(names)} columns are named, rows have {values.shape}')
    q = _columns(path, names, values, joints) if joints[0] in names else None
    if q is None:
        q = _columns(path, names, values, tuple(f'q_{i}' for i in range(len(joints))))
    p = _columns(path, names, values, POINT)
    if not set(ROTATION) & set(names):
        return TipPoses(q, p, None)
    quaternions = _columns(path, names, values, ROTATION)
    length = np.linalg.norm(quaternions, axis=1, keepdims=True)
    if np.abs(length - 1.0).max() > 1e-2:
        row = int(np.argmax(np.abs(length - 1.0)))
        raise MeasurementError(
            f'{path}: the quaternion of row {row + 1} has length {length[row, 0]:.4g}, not 1'
        )
    return TipPoses(q, p, np.array([_rotation(x) for x in quaternions / length]))


def _columns(path: Path, names: list[str], values: Array, wanted: tuple[str, ...]) -> Array:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise MeasurementError(f'{path}: no columns {missing}; its columns are {names}')
    return values[:, [names.index(name) for name in wanted]]


def _rotation(quaternion: Array) -> Array:
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _marker(arm: Arm, link: str | None) -> Marker:
    model = arm.model
    name = link or arm.facts.tip
    if name not in model.frames:
        raise ConfigError(f"no link '{name}' for the marker, links are {list(model.frames)}")
    frame = model.frames[name]
    if frame.joint != model.layout.tip:
        raise ConfigError(f"the link '{name}' is not moved by the last joint of the tip")
    return Marker(frame.R, frame.p)


def _split(poses: TipPoses, share: float) -> tuple[TipPoses, TipPoses]:
    """Poses for the fit and every so many for judging it."""
    N = len(poses.q)
    order = np.random.default_rng(0).permutation(N)
    held = np.sort(order[: round(share * N)])
    fitted = np.sort(order[round(share * N) :])

    def chosen(rows: IntArray) -> TipPoses:
        return TipPoses(poses.q[rows], poses.p[rows], None if poses.R is None else poses.R[rows])

    return chosen(fitted), chosen(held)


def _figures(arm: Arm, found: KinematicFit, fitted: TipPoses, held: TipPoses) -> dict[str, object]:
    model = arm.model
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
    figures: dict[str, object] = {
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
    figures['marker_xyz_m'] = found.marker.p.tolist()
    figures['marker_rpy_rad'] = roll_pitch_yaw(found.marker.R).tolist()
    return figures


def _held_out(found: KinematicFit, held: TipPoses) -> dict[str, object]:
    R, p = tip_poses(found.model, held.q, found.marker)
    off = np.linalg.norm(p - held.p, axis=1)
    figures: dict[str, object] = {
        'held_out_poses': len(held.q),
        'held_out_position_rms_mm': 1e3 * float(np.sqrt(np.mean(off**2))),
        'held_out_position_largest_mm': 1e3 * float(off.max()),
    }
    if held.R is not None:
        turned = [np.linalg.norm(logarithm(a.T @ b)) for a, b in zip(held.R, R, strict=True)]
        figures['held_out_rotation_largest_deg'] = float(np.degrees(max(turned)))
    return figures


def _joint(now: RobotModel, before: RobotModel, i: int) -> dict[str, object]:
    shift = now.tree.p_parent_joint[i] - before.tree.p_parent_joint[i]
    turn = logarithm(before.tree.R_parent_joint[i].T @ now.tree.R_parent_joint[i])
    tilt = np.arccos(np.clip(now.tree.axis[i] @ before.tree.axis[i], -1.0, 1.0))
    return {
        'joint': before.layout.joint_names[i],
        'shift_mm': 1e3 * float(np.linalg.norm(shift)),
        'turn_deg': float(np.degrees(np.linalg.norm(turn))),
        'axis_deg': float(np.degrees(tilt)),
    }
