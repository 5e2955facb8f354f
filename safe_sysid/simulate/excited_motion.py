"""Recordings whose truth is known: smooth motions with the torque that inverse dynamics gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import felt_parameters
from safe_sysid.model.tree import JointLimits

HARMONICS = 5
USED = 0.95  # of a limit that a motion would exceed


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


def within_limits(motion: SimulatedMotion, limits: JointLimits) -> SimulatedMotion:
    """Make smaller, and move, what of a motion is beyond limits of position or speed."""
    lower, upper = limits.position_lower, limits.position_upper
    low, high = motion.q.min(axis=0), motion.q.max(axis=0)
    fastest = np.abs(motion.qd).max(axis=0)
    share = np.minimum(np.minimum((upper - lower) / (high - low), limits.velocity / fastest), 1.0)
    share = np.where(share < 1.0, USED * share, 1.0)
    middle, half = 0.5 * (low + high), 0.5 * share * (high - low)
    moved = np.clip(middle, lower + half, upper - half) - share * middle
    return SimulatedMotion(
        motion.t, share * motion.q + moved, share * motion.qd, share * motion.qdd
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
