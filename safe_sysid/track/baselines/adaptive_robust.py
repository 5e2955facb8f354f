"""Baseline: adaptation inside bounds, plus a bounded robust term against what it cannot learn.

    tau = W_s theta_hat + K_d r + rho sat(r / layer),   d theta_hat / dt = Gamma W_s' r in [theta]

A disturbance of at most rho adds at most rho layer / 4 per joint to dV/dt, so r comes close to
zero instead of to zero. How far it strays on the way is not bounded by a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Positive, Settings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.baselines.adaptation import Adaptation
from safe_sysid.track.tracking import (
    compared,
    passivity_form,
    per_joint,
)
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True)
class AdaptiveRobustSettings(Settings):
    """Gains, for all joints or one number per joint."""

    K_r: tuple[Positive, ...] = (5.0,)  # [1/s]
    K_d: tuple[Positive, ...] = (20.0,)  # [N m s/rad]
    rho: tuple[NotNegative, ...] = (1.0,)  # [N m] disturbance to withstand
    layer: tuple[Positive, ...] = (0.05,)  # [rad/s] |r| from which all of rho is used
    coulomb_speed: Positive = 0.05  # [rad/s] desired speed at which friction is compensated


class AdaptiveRobustController:
    """Uses its own theta_hat; estimates that others make are not looked at."""

    def __init__(
        self,
        model: RobotModel,
        settings: AdaptiveRobustSettings,
        clock: Clock,
        adaptation: Adaptation,
    ) -> None:
        self._model = model
        self._clock = clock
        self._settings = settings
        self._K_r, self._K_d, self._rho, self._layer = (
            per_joint(getattr(settings, name), model, name)
            for name in ('K_r', 'K_d', 'rho', 'layer')
        )
        self._adaptation = adaptation

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        del estimate
        tracking = compared(self._model, self._clock, measurement, plan)
        r, W_s = passivity_form(self._model, tracking, self._K_r, self._settings.coulomb_speed)
        self._adaptation.advance(measurement.stamp)
        self._adaptation.follow(W_s.T @ r)
        robust = self._rho * np.clip(r / self._layer, -1.0, 1.0)
        torque: Array = W_s @ self._adaptation.theta + self._K_d * r + robust
        return torque
