"""What a PointCloud2 changes in a scene: all its points, in place of those of the cloud before."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.input_file import listed
from safe_sysid.model.collision.shown_scene import Change, Shown
from safe_sysid.model.collision.voxel_cover import voxel_cover
from safe_sysid.ros.messages.codec import stamp_of

KEY = 'points'
LARGEST = 2**31 - 1  # bytes of a point
NUMBERS = {PointField.FLOAT32: 'f4', PointField.FLOAT64: 'f8'}


def cloud_changes(msg: PointCloud2, cell: float, budget: int) -> list[Change]:
    """Boxes about the points in their own frame, or why they are not understood."""
    try:
        boxes = voxel_cover(_points(msg), cell, budget)
    except SafeSysidError as error:
        return [Change(KEY, unclear=str(error))]
    return [Change(KEY, Shown(tuple(boxes), msg.header.frame_id, stamp_of(msg.header.stamp)))]


def _points(msg: PointCloud2) -> Array:
    """Return those that are somewhere (N, 3) [m]."""
    return _seen(_told(msg))


def _seen(points: Array) -> Array:
    """Return the finite ones; others are rays that met nothing, unless they warn.

    By REP 117 -inf is for what is too near to be measured, and +inf for a ray that met nothing. A
    covered sensor has neither points nor such rays.
    """
    near = int(np.isneginf(points).any(axis=1).sum())
    if near:
        raise MessageError(
            f'{near} of {len(points)} points of the cloud have a coordinate of -inf: something is '
            'too near to the sensor to be measured; take it away, or where these are rays that '
            'met nothing, publish them as nan'
        )
    seen = points[np.isfinite(points).all(axis=1)]
    if len(points) and not len(seen) and not np.isposinf(points).any():
        raise MessageError(
            f'all {len(points)} points of the cloud are nan: the sensor may be covered; where it '
            'does see that nothing is there, an empty cloud or points of +inf say so'
        )
    return np.asarray(seen)


def _told(msg: PointCloud2) -> Array:
    """Return all points (N, 3) [m] as they are told."""
    fields = {field.name: field for field in msg.fields}
    missing = [name for name in 'xyz' if name not in fields]
    if missing:
        raise MessageError(f'the cloud has no {missing}; its fields are {listed(list(fields))}')
    kinds = [fields[name].datatype for name in 'xyz']
    if any(kind not in NUMBERS for kind in kinds):
        raise MessageError(f'x, y, z of the cloud have datatypes {kinds}; 7 and 8 are known')
    order = '>' if msg.is_bigendian else '<'
    rows, columns = int(msg.height), int(msg.width)
    ends = [fields[name].offset + int(NUMBERS[k][1]) for name, k in zip('xyz', kinds, strict=True)]
    if max(ends) > min(msg.point_step, LARGEST) or columns * msg.point_step > msg.row_step:
        raise MessageError(
            f'a point of the cloud takes {msg.point_step} bytes and a row {msg.row_step}; its '
            f'fields end at {max(ends)}, and a row has {columns} points'
        )
    data = np.frombuffer(bytes(msg.data), dtype=np.uint8)
    if len(data) != rows * msg.row_step:
        raise MessageError(
            f'the cloud has {len(data)} bytes; {rows} rows of {msg.row_step} were announced'
        )
    kind = np.dtype(
        {
            'names': list('xyz'),
            'formats': [order + NUMBERS[k] for k in kinds],
            'offsets': [fields[name].offset for name in 'xyz'],
            'itemsize': msg.point_step,
        }
    )
    told = data[: rows * msg.row_step].reshape(rows, msg.row_step)[:, : columns * msg.point_step]
    packed = np.ascontiguousarray(told).reshape(-1).view(kind)
    return np.stack([packed[name].astype(np.float64) for name in 'xyz'], axis=1)
