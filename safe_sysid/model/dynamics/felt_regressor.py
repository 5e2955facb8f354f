"""The regressor of what torque sensors feel: behind a gear neither friction nor rotors."""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import unfelt


def felt_regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """W with W theta = the torque that the sensors of the arm feel; (N, n) -> (N, n, 14 n)."""
    W = standard_regressor(model, q, qd, qdd)
    for place in unfelt(model):
        W[..., place] = 0.0
    return W
