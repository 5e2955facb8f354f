"""Poses or points of a marker on the tip of an arm, read from a table with named columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.kinematic_fit import TipPoses
from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import LARGEST_TEXT, check_file

POINT = ('x', 'y', 'z')
ROTATION = ('qx', 'qy', 'qz', 'qw')
FARTHEST = 1e3  # [m]


def read_poses(path: Path, joints: tuple[str, ...]) -> TipPoses:
    """Joint positions and poses or points of a marker, as the columns are named."""
    check_file(path, MeasurementError, LARGEST_TEXT)
    try:
        with path.open(encoding='utf-8-sig') as file:
            names = [name.strip().strip('"') for name in file.readline().split(',')]
            rows = file.readlines()
        if not rows:
            raise MeasurementError(f'{path}: has no rows')
        values = np.loadtxt(rows, delimiter=',', ndmin=2)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise MeasurementError(f'{path}: is not a table of numbers ({error})') from error
    if values.size == 0 or values.shape[1] != len(names):
        raise MeasurementError(f'{path}: {len(names)} columns are named, rows have {values.shape}')
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise MeasurementError(
            f'{path}: {names[column]} of row {row + 1} is {values[row, column]}; '
            'it has to be finite'
        )
    q = _columns(path, names, values, joints) if joints[0] in names else None
    if q is None:
        q = _columns(path, names, values, tuple(f'q_{i}' for i in range(len(joints))))
    p = _columns(path, names, values, POINT)
    if np.abs(p).max() > FARTHEST:
        row = int(np.argmax(np.abs(p).max(axis=1)))
        raise MeasurementError(
            f'{path}: the point of row {row + 1} is {p[row].tolist()}; x, y, z are in metres, '
            f'and an arm reaches no farther than {FARTHEST:g} m'
        )
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
