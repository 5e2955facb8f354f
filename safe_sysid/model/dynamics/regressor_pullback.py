"""How entries of the whole torque regressor move with the motion, by the adjoint of `torque_rows`.

The columns of friction are sign(qd), qd, qdd and 1 of the joint itself.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.tip_regressor import checked_states
from safe_sysid.model.dynamics.torque_rows import RowLayout, torque_pullback_into
from safe_sysid.model.robot_model import RobotModel


def regressor_pullback(
    model: RobotModel, q: Array, qd: Array, qdd: Array, weights: Array
) -> Array:
    """Return derivatives of sum(weights * W) in q, qd and qdd; weights (N, n, 14 n) -> (3, N, n).

    Of sign(qd) there is none: it does not change, or jumps.
    """
    states, n, layout = checked_states(model, q, qd, qdd), model.n, model.layout
    expected = (states.shape[1], n, layout.size)
    if np.shape(weights) != expected:
        raise MeasurementError(
            f'weights have shape {np.shape(weights)}; one per entry of W is needed, {expected}'
        )
    column = np.tile(np.arange(layout.size), (n, 1))
    column[:, layout.joint_entries('Fc')] = -1
    slopes = np.zeros_like(states)
    by_joint = np.ascontiguousarray(np.swapaxes(weights, 0, 1), dtype=float)
    torque_pullback_into(model.tree, RowLayout(column, 1.0), states, by_joint, slopes)
    return slopes
