"""A base that is not level, by as much as is stated or assumed of the arm."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors

NEARLY = 1.0 - 2.0**-20  # share of the tilt that is used


def tilt_of(model: RobotModel, rng: np.random.Generator) -> Array:
    """Rotation of gravity about some axis across it, by all that it may be."""
    from scipy.spatial.transform import Rotation  # slow to import, for few simulated arms

    across = np.cross(model.tree.gravity, rng.normal(size=3))
    length = float(np.linalg.norm(across))
    if length == 0.0:
        return np.eye(3)
    turn = NEARLY * torque_errors(model).tilt * across / length
    R: Array = Rotation.from_rotvec(turn).as_matrix()
    return R
