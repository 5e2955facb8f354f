"""Rotations: the angles that stand for a matrix, and the matrix of a quaternion."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array

REMEMBERED = 256  # rotations


def roll_pitch_yaw(R: Array) -> Array:
    """Angles about the fixed axes x, y, z, as a URDF has them [rad]."""
    cosine = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = np.arctan2(-R[2, 0], cosine)
    if cosine < 1e-9:  # x and z turn about one line: all of it is roll
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def rotation_from_rpy(rpy: Array) -> Array:
    """Rotation by angles about the fixed axes x, y, z in this order, as in a URDF [rad]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_of(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z), which is not to be written to."""
    return _rotation_of(*quaternion.tolist())


@lru_cache(REMEMBERED)
def _rotation_of(w: float, x: float, y: float, z: float) -> Array:
    """Return the same one for all that is turned alike: hundreds of boxes of one message."""
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    R.setflags(write=False)
    return R
