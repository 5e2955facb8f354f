"""Measurement of a braked arm: zero velocity, gravity torque."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.robot_model import RobotModel


def in_brakes(truth: RobotModel, sample: JointMeasurement) -> JointMeasurement:
    """Return the same sample, had the brakes of the arm held it."""
    rest = np.zeros((1, truth.n))
    (weight,) = inverse_dynamics(truth, sample.position[None], rest, rest)
    return replace(sample, velocity=rest[0], torque=weight)
