"""Baseline: adaptive law of Slotine and Li (1987), which learns while it tracks.

    tau = W_s(q, qd, qd_a, qdd_a) theta_hat + K_d r,     d theta_hat / dt = Gamma W_s' r

so that V = 1/2 r' (H + diag(Ia)) r + 1/2 (theta - theta_hat)' Gamma^-1 (theta - theta_hat) has
dV/dt = -r' K_d r: the arm comes to follow its plan, and theta_hat comes to the truth only if the
motion excites it. Nothing bounds the error on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.arrays import Array
from safe_sysid.config import Positive, Settings
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
class AdaptiveSettings(Settings):
    """Gains, for all joints or one number per joint."""

    K_r: tuple[Positive, ...] = (5.0,)  # [1/s]
    K_d: tuple[Positive, ...] = (20.0,)  # [N m s/rad]
    coulomb_speed: Positive = 0.05  # [rad/s] desired speed at which friction is compensated


class AdaptiveController:
    """Uses its own theta_hat; estimates that others make are not looked at."""

    def __init__(
        self, model: RobotModel, settings: AdaptiveSettings, clock: Clock, adaptation: Adaptation
    ) -> None:
        self._model = model
        self._clock = clock
        self._settings = settings
        self._K_r = per_joint(settings.K_r, model, 'K_r')
        self._K_d = per_joint(settings.K_d, model, 'K_d')
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
        torque: Array = W_s @ self._adaptation.theta + self._K_d * r
        return torque
