"""Up to which speeds the dry friction of other people's simulators is not what the model says."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.mujoco import creep_of

DRAKE_CREEP = 0.0005  # [rad/s] 5 times that of its smooth friction


def softness_of(bridge: str, model: RobotModel, bounds: Interval) -> Array:
    """Return these speeds [rad/s] of the simulator behind a bridge, (n,)."""
    if bridge == 'mujoco_bridge':
        return creep_of(model, bounds)
    return np.full(model.n, DRAKE_CREEP if bridge == 'drake_bridge' else 0.0)
