"""Recordings whose truth is known: smooth motions with the torque that inverse dynamics gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import felt_parameters

HARMONICS = 5


class SimulatedMotion(NamedTuple):
    """Joint states over time, exact derivatives of each other."""

    t: Array  # (N,) [s]
    q: Array  # (N, n)
    qd: Array
    qdd: Array

    @property
    def stamp(self) -> IntArray:
        """Times in whole nanoseconds."""
        return np.round(self.t * 1e9).astype(np.int64)


def fourier_motion(
    rng: np.random.Generator, n: int, seconds: float, period: float, base: float = 0.1
) -> SimulatedMotion:
    """Sum of the first harmonics of `base` [Hz], random amplitudes, sampled every `period` [s]."""
    t = np.arange(round(seconds / period) + 1, dtype=float) * np.float64(period)
    order = np.arange(1, HARMONICS + 1)
    w = 2 * np.pi * base * order
    a, b = rng.normal(scale=0.6, size=(2, HARMONICS, n)) / order[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return SimulatedMotion(
        t,
        sine @ a - cosine @ b + rng.normal(size=n),
        (cosine * w) @ a + (sine * w) @ b,
        (cosine * w**2) @ b - (sine * w**2) @ a,
    )


def true_torque(model: RobotModel, motion: SimulatedMotion) -> Array:
    """Torque that drives the arm along a motion, (N, n)."""
    torque: Array = standard_regressor(model, motion.q, motion.qd, motion.qdd) @ model.theta
    return torque


def measured_torque(model: RobotModel, motion: SimulatedMotion) -> Array:
    """Torque that the sensors of the arm feel along a motion, (N, n), were they exact."""
    return true_torque(model.with_parameters(felt_parameters(model)), motion)


def recorded(motion: SimulatedMotion, torque: Array) -> JointLog:
    """Return a recording of a motion with exact states and some measured torque."""
    return JointLog(motion.stamp, motion.q, motion.qd, torque)
