"""What a recording shows of the errors of its own positions and velocities; never a promise."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointLog

LEAST = 1e-12  # [rad, rad/s]; less is rounding


def smallest_steps(position: Array) -> Array:
    """Smallest change of every joint between two samples [rad]: at least the encoder's step."""
    change = np.abs(np.diff(position, axis=0))
    change[change == 0.0] = np.inf
    smallest = change.min(axis=0, initial=np.inf)
    steps: Array = np.where(np.isfinite(smallest), np.maximum(smallest, LEAST), LEAST)
    return steps


def departures(log: JointLog, stride: int) -> Array:
    """Farthest that every velocity is from a central difference of the positions [rad/s]."""
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    across = (seconds[2 * stride :] - seconds[: -2 * stride])[:, None]
    if not len(across):
        raise MeasurementError(_too_short(log))
    slope = (log.position[2 * stride :] - log.position[: -2 * stride]) / across
    even = np.flatnonzero(across[:, 0] < 1.5 * np.median(across))  # not across gaps
    far = np.abs(slope - log.velocity[stride:-stride])[even].max(axis=0)
    farthest: Array = np.maximum(far, LEAST)
    return farthest


def difference_errors(log: JointLog, stride: int) -> Array:
    """How far central differences may be from the truth [rad/s], by how much they bend.

    The error of a difference over a time h to each side is h^2 / 6 times the jerk, and the
    second difference of velocities h^2 times the jerk: twice that, for noise.
    """
    v = log.velocity
    bend = np.abs(v[2 * stride :] - 2.0 * v[stride:-stride] + v[: -2 * stride])
    if not len(bend):
        raise MeasurementError(_too_short(log))
    error: Array = np.maximum(bend.max(axis=0) / 3.0, LEAST)
    return error


def _too_short(log: JointLog) -> str:
    return f'{len(log)} samples are too few to see how wrong velocities are; give --velocity-error'
