"""Rotations: the angles that stand for a matrix."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array


def roll_pitch_yaw(R: Array) -> Array:
    """Angles about the fixed axes x, y, z, as a URDF has them [rad]."""
    cosine = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = np.arctan2(-R[2, 0], cosine)
    if cosine < 1e-9:  # x and z turn about one line: all of it is roll
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])
