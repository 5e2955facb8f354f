"""Baseline: PID with gravity compensation.

    tau = g(q; theta_0) + P e + D de/dt + clip(I integral of e, +- integral_limit)

Where the integral is at its limit, or I is 0, an arm that holds more than theta_0 says sags by
(missing gravity torque - integral) / P.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Positive, Settings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.baselines.elapsed import Elapsed
from safe_sysid.track.tracking import (
    compared,
    per_joint,
)
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True)
class GravityPidSettings(Settings):
    """Gains, for all joints or one number per joint."""

    P: tuple[Positive, ...] = (200.0,)  # [N m/rad]
    I: tuple[NotNegative, ...] = (0.0,)  # [N m/(rad s)]  # noqa: E741 - its name in every text
    D: tuple[Positive, ...] = (20.0,)  # [N m s/rad]
    integral_limit: tuple[NotNegative, ...] = (5.0,)  # [N m]


class GravityPidController:
    """Pulls each joint to its plan, and carries the weight that the estimate knows of."""

    def __init__(self, model: RobotModel, settings: GravityPidSettings, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self._elapsed = Elapsed()
        self._P, self._I, self._D, self._limit = (
            per_joint(getattr(settings, name), model, name)
            for name in ('P', 'I', 'D', 'integral_limit')
        )
        self._integral = np.zeros(model.n)

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        tracking = compared(self._model, self._clock, measurement, plan)
        dt = self._elapsed.step(measurement.stamp)
        grown = self._integral + dt * self._I * tracking.e
        self._integral = np.clip(grown, -self._limit, self._limit)
        torque: Array = (
            self._gravity(tracking.q, estimate.theta)
            + self._P * tracking.e
            + self._D * tracking.ed
            + self._integral
        )
        return torque

    def _gravity(self, q: Array, theta: Array) -> Array:
        """Gravity torque and offset."""
        rest = np.zeros(self._model.n)
        torque: Array = slotine_li_regressor(self._model, q, rest, rest, rest) @ theta
        return torque
