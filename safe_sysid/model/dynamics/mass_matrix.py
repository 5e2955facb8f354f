"""Mass matrix of an arm with any theta, in floats."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel


def mass_matrix(model: RobotModel, theta: Array, q: Array) -> Array:
    """H(q, theta) + diag(Ia), (N, n) -> (N, n, n) or (n,) -> (n, n)."""
    n = model.n
    rows = np.atleast_2d(q)
    W_m, _ = momentum_regressors(
        model, np.repeat(rows, n, axis=0), np.tile(np.eye(n), (len(rows), 1))
    )
    H = (W_m[..., : 10 * n] @ theta[: 10 * n]).reshape(len(rows), n, n)
    M: Array = H + np.diag(theta[model.layout.joint_entries('Ia')])
    return M if np.ndim(q) == 2 else np.asarray(M[0])


def inverse_length(M: Array, box: Array) -> Array:
    """Root of w' |M^-1| w, (N,): no |x| <= w is longer in the norm of M^-1."""
    squares = (box[..., None, :] @ np.abs(np.linalg.inv(M)) @ box[..., None])[..., 0, 0]
    return np.asarray(np.sqrt(squares))
