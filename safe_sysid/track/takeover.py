"""Takeover: whether the arm is near enough to a plan for the promises of its certificate.

A certificate is for an arm with V <= V_M, and with a position error that V <= V_M could have left
behind. Where a plan goes on from the one in force both are so already, unless an assumption is
false. Where one begins anew, nothing says so but the measurement: then

    V(de/dt + K_r e) <= V_M   and   V(K_r e) <= V_M,   V(r) = 1/2 r' (H + diag(Ia)) r

have to hold for every theta in its bounds. The second bounds the position error: where the arm
swings back at the rate K_r, de/dt = -K_r e, the first is silent about it. It is asked where the
arm is and where it is to be, as an error is bounded by the inertia at the latter (`plan_error`).

A plan that goes on differs by its jerk from the one before. Up to the first sample that has it a
torque is held, as between any two samples. Where the arm went on along the other plan for longer,
until a time t, r jumps by

    delta_r = d + K_r int d,   d = int_0^t (t - s) (difference of the jerks) ds,

and V may then be up to 1/2 (sqrt(2 V_M) + |delta_r|_M)^2. So V is looked at: V(r) <= V_M for every
theta, r against the plan that takes over. e jumps by int d, which is no part of its bounds.

Measured positions and velocities count as exact. Of an arm that is seen late its velocities say
too little: there the controller decides, which observes r, and nobody else refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import LEFT_OUT, Sampling
from safe_sysid.track.tracking import checked_state, shortest_turn
from safe_sysid.trajectory.plan import Plan


class Takeover(Protocol):
    """Who may refuse that a plan takes over."""

    def refusal_to_begin(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not begin anew at time t [s]; empty if it may."""
        ...

    def refusal_to_go_on(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not go on from the one in force; empty if nothing speaks against it."""
        ...

    def refusal_when_late(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not go on that takes over late; empty if V is at most V_M with it."""
        ...

    def refusal_to_stay(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why an arm may not stay where the plan in force has brought it; empty if it may."""
        ...


class LeftToController:
    """Refuses nothing: the controller looks at V, in its first step and in every other."""

    def refusal_to_begin(self, *_: object) -> str:
        """Leave it to the controller."""
        return ''

    def refusal_to_go_on(self, *_: object) -> str:
        """Leave it to the controller."""
        return ''

    def refusal_when_late(self, *_: object) -> str:
        """Leave it to the controller."""
        return ''

    def refusal_to_stay(self, *_: object) -> str:
        """Leave it to the controller."""
        return ''


@dataclass(frozen=True, eq=False)
class TrackedArm:
    """An arm, and the gains that its plans are certified for."""

    model: RobotModel
    gains: Gains

    @staticmethod
    def of(model: RobotModel, gains: Gains, sampling: Sampling | None) -> Takeover:
        """Whoever may refuse plans for an arm that is seen like this."""
        return TrackedArm(model, gains) if sampling is None else LeftToController()

    def refusal_to_begin(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not begin anew at time t [s]; empty if it may."""
        e, ed = self._errors(plan, t, measurement)
        q, q_d = measurement.position, plan.desired(t)[0]
        pull = self.gains.K_r * e
        each = ((q, ed + pull), (q, pull), (q_d, pull))
        most = max(float(kinetic_energy(self.model, theta, *state).upper) for state in each)
        if most <= self.gains.V_M:
            return ''
        return (
            f'the tracking error would begin with up to {most:.3g} J, V_M = {self.gains.V_M} J '
            f'are certified; {self._farthest(e, ed)}'
        )

    def refusal_to_go_on(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not go on from the one in force; empty if nothing speaks against it."""
        V, off = self._energy(plan, t, measurement, theta)
        least, V_M = float(V.lower), self.gains.V_M
        if least <= V_M:
            return ''
        return (
            f'the tracking error has at least {least:.3g} J, V_M = {V_M} J are certified, so an '
            f'assumption is false; {off}; look for contact, another payload, wrong friction or, '
            f'{LEFT_OUT}'
        )

    def refusal_when_late(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> str:
        """Why a plan may not go on that takes over late; empty if V is at most V_M with it."""
        V, off = self._energy(plan, t, measurement, theta)
        most, V_M = float(V.upper), self.gains.V_M
        if most <= V_M:
            return ''
        return (
            f'the next plan came late, and the tracking error has up to {most:.3g} J with it, '
            f'V_M = {V_M} J are certified; {off}'
        )

    refusal_to_stay = refusal_to_go_on  # whenever that is: the desired state stays the same

    def _energy(
        self, plan: Plan, t: float, measurement: JointMeasurement, theta: Interval
    ) -> tuple[Interval, str]:
        """V(r) of an arm that is to follow a plan [J], and what is farthest off, in words."""
        e, ed = self._errors(plan, t, measurement)
        r = ed + self.gains.K_r * e
        V = kinetic_energy(self.model, theta, measurement.position, r)
        return V, self._farthest(e, ed)

    def _errors(self, plan: Plan, t: float, measurement: JointMeasurement) -> tuple[Array, Array]:
        """Errors of position, without full turns, and of velocity."""
        q, qd = checked_state(self.model, measurement)
        q_d, qd_d, _ = plan.desired(t)
        return shortest_turn(q_d - q, self.model.limits.is_continuous), qd_d - qd

    def _farthest(self, e: Array, ed: Array) -> str:
        """Return the joint with the largest share, in words."""
        j = int(np.argmax(np.abs(e) * self.gains.K_r + np.abs(ed)))
        name = self.model.layout.joint_names[j]
        return f'{name} is {abs(e[j]):.3g} rad and {abs(ed[j]):.3g} rad/s off'
