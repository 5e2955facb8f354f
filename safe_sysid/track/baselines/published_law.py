"""Baseline: the robust law as it is published, with the same gain for every joint.

    tau = W_s theta_0 + v,   v = lambda r,
    lambda |r|^2 = max(0, |r|' w_M - alpha (V_M - V_sup))

keeps V <= V_M as the law of `robust_law` does, with 1 in place of its mass matrix, and so damps a
light wrist with the gain of a shoulder: no torque that is held or late does that for long. Where
V_sup > V_M the second term is feedback, which leads an arm back whose bounds were wrong; it is
more than the proof needs, and there for wide bounds, too, while V <= V_M. The proof is that of
`invariance` for M = 1 and sigma = 0.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.track.tracking import Tracking, compared, law_regressor
from safe_sysid.trajectory.plan import Plan


class PublishedController:
    """Takes [theta] and theta_0 of the plan; actuators that err are not allowed for."""

    def __init__(self, model: RobotModel, gains: Gains, clock: Clock) -> None:
        self._model = model
        self._gains = gains
        self._clock = clock

    def step(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> Array:
        """Torque to hold until the next measurement, (n,) [N m]."""
        del estimate
        if plan.theta_bounds is None or plan.theta_0 is None:
            raise BoundError('a plan has to say which parameters it was certified for')
        gains, bounds = self._gains, plan.theta_bounds
        at = compared(self._model, self._clock, measurement, plan)
        pull = gains.K_r * at.e
        r, qdd_a = at.ed + pull, at.qdd_d + gains.K_r * at.ed
        W_s = law_regressor(self._model, at.q, at.qd, at.qd_d + pull, qdd_a)
        compensated, middle, radius = self._friction(at, bounds, plan.theta_0)
        nominal = W_s @ plan.theta_0 + compensated
        off = bounds - plan.theta_0
        w_M = np.abs(W_s @ off.center + middle) + np.abs(W_s) @ off.radius + radius
        V_sup = float(kinetic_energy(self._model, bounds, at.q, r).upper)
        power = float(np.abs(r) @ w_M) - gains.alpha * (gains.V_M - V_sup)
        square = float(r @ r)
        gain = max(0.0, power) / square if square > 0.0 else 0.0
        torque: Array = nominal + gain * r
        return torque

    def _friction(
        self, at: Tracking, bounds: Interval, theta_0: Array
    ) -> tuple[Array, Array, Array]:
        """Coulomb term of the nominal torque; middle and radius of what the truth is beside it."""
        place = self._model.layout.joint_entries('Fc')
        Fc = bounds[place]
        compensated = theta_0[place] * np.tanh(at.qd_d / self._gains.coulomb_speed)
        either = np.abs(at.qd) <= self._gains.sign_speed
        most, sign = Fc.magnitude, np.sign(at.qd)
        middle = np.where(either, 0.0, sign * Fc.center)
        radius = np.where(either, most, Fc.radius)
        return compensated, middle - compensated, radius
