"""Kinetic energy of an arm whose parameters are only known to be in an interval."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval


def kinetic_energy(model: RobotModel, theta: Interval, q: Array, qd: Array) -> Interval:
    """Range of 1/2 qd' (H + diag(Ia)) qd over [theta] [J], exact to rounding as it is linear.

    Bodies can exist, so their share is not negative, whatever the corners of [theta] say.
    """
    W_m, _ = momentum_regressors(model, q, qd)
    bodies = np.arange(10 * model.n)
    rigid = 0.5 * (np.asarray(qd) @ W_m[:, bodies])
    middle, radius = theta.center[bodies], theta.radius[bodies]
    at_middle, spread = float(rigid @ middle), float(np.abs(rigid) @ radius)
    rotors = 0.5 * np.asarray(qd) ** 2 * theta[model.layout.joint_entries('Ia')]
    turning = Interval(rotors.lower.sum(), rotors.upper.sum())
    lower, upper = max(0.0, at_middle - spread), max(0.0, at_middle + spread)
    return Interval(np.asarray(lower), np.asarray(upper)) + turning
