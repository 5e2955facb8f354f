"""What a recording shows of the errors of its own positions and velocities; never a promise."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.differences import Stencil
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
    stencil = _stencil(log, stride)
    far = np.abs(stencil.slopes(log.position) - log.velocity[stencil.at]).max(axis=0)
    farthest: Array = np.maximum(far, LEAST)
    return farthest


def difference_errors(log: JointLog, stride: int) -> Array:
    """How far central differences may be from the truth [rad/s], by how much velocities bend.

    The error of a difference over times h before and k after is h k / 6 times the jerk, which
    the second difference of velocities shows: twice that, for noise.
    """
    stencil = _stencil(log, stride)
    jerk = np.abs(stencil.bends(log.velocity)).max(axis=0)
    error: Array = np.maximum(stencil.largest_product / 3.0 * jerk, LEAST)
    return error


def _stencil(log: JointLog, stride: int) -> Stencil:
    seconds = np.asarray((log.stamp - log.stamp[:1]) * 1e-9, dtype=float)
    stencil = Stencil.of(seconds, stride)
    if not len(stencil.at):
        raise MeasurementError(_too_short(log))
    return stencil


def _too_short(log: JointLog) -> str:
    return f'{len(log)} samples are too few to see how wrong velocities are; give --velocity-error'
