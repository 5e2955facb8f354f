"""Pinocchio's own algorithms of an arm, by the names they have here, to compare speed with."""

from __future__ import annotations

from collections.abc import Callable

import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel


def pinocchio_algorithms(
    arm: RobotModel, q: Array, qd: Array, qdd: Array, tau: Array
) -> dict[str, Callable[[], object]]:
    """Return calls of Pinocchio at one state, (n,) each; friction is in none of them."""
    model = arm.pinocchio()
    data = model.createData()
    return {
        'inverse_dynamics': lambda: pin.rnea(model, data, q, qd, qdd),
        'forward_dynamics': lambda: pin.aba(model, data, q, qd, tau),
        'mass_matrix': lambda: pin.crba(model, data, q),
        'bias': lambda: pin.nonLinearEffects(model, data, q, qd),
        'gravity': lambda: pin.computeGeneralizedGravity(model, data, q),
        'standard_regressor': lambda: pin.computeJointTorqueRegressor(model, data, q, qd, qdd),
    }
