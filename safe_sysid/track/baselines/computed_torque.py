"""Baseline: computed torque, the inverse dynamics of theta_0 with linear error feedback.

    tau = W_s(q, qd, qd, qdd_d + D de/dt + P e) theta_0

With the true theta the error obeys d2e/dt2 + D de/dt + P e = 0; with another one nothing is
promised.
"""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.arrays import Array
from safe_sysid.config import Positive, Settings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.tracking import (
    compared,
    per_joint,
    smooth_regressor,
)
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True)
class ComputedTorqueSettings(Settings):
    """Error feedback, for all joints or one number per joint."""

    P: tuple[Positive, ...] = (100.0,)  # [1/s^2]
    D: tuple[Positive, ...] = (20.0,)  # [1/s]
    coulomb_speed: Positive = 0.05  # [rad/s] desired speed at which friction is compensated


class ComputedTorqueController:
    """Cancels the dynamics of the estimate."""

    def __init__(self, model: RobotModel, settings: ComputedTorqueSettings, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self._settings = settings
        self._P = per_joint(settings.P, model, 'P')
        self._D = per_joint(settings.D, model, 'D')

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        tracking = compared(self._model, self._clock, measurement, plan)
        qdd_a = tracking.qdd_d + self._D * tracking.ed + self._P * tracking.e
        W_s = smooth_regressor(
            self._model, tracking, tracking.qd, qdd_a, self._settings.coulomb_speed
        )
        torque: Array = W_s @ estimate.theta
        return torque
