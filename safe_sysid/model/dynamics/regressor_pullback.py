"""How entries of the whole torque regressor move with the motion: one adjoint pass per body.

A body's ten columns are those of a tip (see `tip_regressor`) at the end of the joints that move
it. The columns of friction are sign(qd), qd, qdd and 1 of the joint itself.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.tip_regressor import add_tip_pullback, checked_states, path_to
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
    slopes = np.zeros_like(states)
    for i in range(n):
        own = np.ascontiguousarray(weights[:, :, layout.inertial(i)])
        add_tip_pullback(model.tree, path_to(model.tree, i), states, own, slopes)
    joint = np.arange(n)
    for order, name in ((1, 'Fv'), (2, 'Ia')):
        columns = np.arange(layout.size)[layout.joint_entries(name)]
        slopes[order] += weights[:, joint, columns]
    return slopes
