"""Recordings whose truth is known: smooth motions with the torque that inverse dynamics gives."""

import numpy as np

from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel


def fourier_motion(rng: np.random.Generator, n: int, seconds: float, period: float, speed=1.0):
    """Rows q, qd, qdd (N, n) of a sum of five harmonics of 0.1 Hz, at `period` [s]."""
    t = np.arange(round(seconds / period) + 1) * period
    w = 2 * np.pi * 0.1 * np.arange(1, 6) * speed
    a, b = rng.normal(size=(2, 5, n)) / np.arange(1, 6)[:, None] * 0.6
    phase = np.outer(t, w)
    q = np.sin(phase) @ a - np.cos(phase) @ b + rng.normal(size=n)
    qd = (np.cos(phase) * w) @ a + (np.sin(phase) * w) @ b
    qdd = (-np.sin(phase) * w**2) @ a + (np.cos(phase) * w**2) @ b
    return t, q, qd, qdd


def recorded(model: RobotModel, motion, torque_error=0.0) -> JointLog:
    """What is measured along a motion; `torque_error` (N, n) is added to the true torque."""
    t, q, qd, qdd = motion
    tau = standard_regressor(model, q, qd, qdd) @ model.theta
    return JointLog(np.round(t * 1e9).astype(np.int64), q, qd, tau + torque_error)
