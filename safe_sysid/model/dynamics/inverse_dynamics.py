"""Torque of a motion by Pinocchio's Newton-Euler recursion, independent of the regressors."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.model.friction import friction_torque
from safe_sysid.model.robot_model import RobotModel


def inverse_dynamics(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """H qdd + C qd + g + F with the parameters of the model; (N, n) -> (N, n)."""
    rigid = model.pinocchio()
    rigid.armature = np.zeros(model.n)  # friction_torque has the Ia term
    data = rigid.createData()
    torque = np.array([pin.rnea(rigid, data, *row) for row in zip(q, qd, qdd, strict=True)])
    friction: Array = friction_torque(model.layout.friction(model.theta), qd, qdd)
    return torque.reshape(q.shape) + friction
