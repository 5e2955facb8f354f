"""Braking: brings an arm to rest along the plan in force, and holds it there.

The second half of every plan brakes, so stopping needs no new motion: the plan in force is tracked
to its end by a controller that nobody else uses, and no later plan is looked at. Without a plan
the arm is held where it is measured. Without a measurement the controller is told that the arm is
where the plan says: that carries its weight, and is no brake. An arm that nobody has seen for
`LOST`, because nothing was measured or because nobody here got a processor, may be anywhere:
whoever else can hold it should, and once it is seen again it is stopped from where it is, not
pulled back to a plan. So is one whose stamps went back to before the plan that is followed began.
Times are stamps [ns], so a clock that waits loses nobody.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.controller import BrakingLaw
from safe_sysid.track.guarded_torque import GuardInput, GuardOutcome
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

BLINK = 1e-3  # [s] duration of a plan that stays where it is
LOST = 0.2  # [s] without a measurement, after which the arm may be far from its plan
STOP = 0.5  # [s] in which an arm that was lost is stopped


class Braking:
    """Keeps the plan that was in force when it began, until `reset`."""

    def __init__(self, clock: Clock, law: BrakingLaw) -> None:
        self._clock = clock
        self._law = law
        self._plan: Plan | None = None
        self._seen_at: int | None = None  # [ns] of the last step that saw the arm
        self.has_left = False  # the plan in force, as the arm was lost since `reset`

    def reset(self) -> None:
        """Look at plans again."""
        self._plan = self._seen_at = None
        self.has_left = False

    def note(self, now: int, measurement: JointMeasurement | None, seen: GuardInput) -> None:
        """Take a sample that somebody else answers, so that the law knows how the arm moves."""
        self._note_seen(now, measurement is not None)
        if measurement is not None:
            with suppress(SafeSysidError):
                self._law.note(measurement, seen.plan, seen.estimate)

    def is_over(self, now: int) -> bool:
        """Whether the plan that is followed has ended at a stamp."""
        return self._plan is not None and self._clock.seconds(now) >= self._plan.end_time

    def is_lost(self, now: int) -> bool:
        """Whether the arm has not been seen for so long that it may be anywhere.

        Time without a step counts, too: drivers go on with the last torque.
        """
        return self.unseen(now) > LOST

    def unseen(self, now: int) -> float:
        """For how long [s] the arm was not seen."""
        return 0.0 if self._seen_at is None else (now - self._seen_at) / 1e9

    def step(
        self, now: int, measurement: JointMeasurement | None, seen: GuardInput
    ) -> tuple[Array | None, GuardOutcome]:
        """Torque at a stamp, for a measurement that can be trusted or none."""
        t = self._clock.seconds(now)
        self.has_left = self.has_left or self.is_lost(now)
        has_gone_back = self._begins_after(t)
        if measurement is not None and (has_gone_back or self.is_lost(now)):
            self._plan = _stop_from(t, measurement, seen)
        if self._plan is None:
            self._plan = self._plan_to_stop(t, measurement, seen)
        self._note_seen(now, measurement is not None)
        plan = self._plan
        if plan is None:
            return None, GuardOutcome.STUCK
        outcome = GuardOutcome.BRAKING if t < plan.end_time else GuardOutcome.HOLDING
        if measurement is None:
            q_d, qd_d, _ = plan.desired(max(t, plan.start_time))  # stamps may have gone back
            measurement = JointMeasurement(now, q_d, qd_d, np.zeros_like(q_d))
            outcome = GuardOutcome.BLIND
        elif self._clock.seconds(measurement.stamp) < plan.start_time:
            measurement = replace(measurement, stamp=now)
        try:
            return self._law.brake(measurement, plan, seen.estimate), outcome
        except SafeSysidError:
            return None, GuardOutcome.STUCK

    def _begins_after(self, t: float) -> bool:
        """Whether the plan that is followed begins later than the law can look ahead."""
        return self._plan is not None and self._plan.start_time > t + self._law.ahead

    def _note_seen(self, now: int, is_seen: bool) -> None:
        if is_seen or self._seen_at is None or now < self._seen_at:  # stamps may have gone back
            self._seen_at = now

    def _plan_to_stop(
        self, t: float, measurement: JointMeasurement | None, seen: GuardInput
    ) -> Plan | None:
        """Return the plan in force, or one that stays where the arm is."""
        if seen.plan is not None and seen.plan.start_time <= t + self._law.ahead:
            return seen.plan
        if measurement is None:
            return None
        q = np.asarray(measurement.position, dtype=np.float64)
        rest, estimate = np.zeros_like(q), seen.estimate
        curve = Bezier(q, rest, rest, BLINK)
        return Plan(t, t, curve, rest, estimate.bounds, None, estimate.theta)


def _stop_from(t: float, measurement: JointMeasurement, seen: GuardInput) -> Plan:
    """Return a plan that brings an arm to rest from where it is and how it moves."""
    q, qd = (
        np.asarray(values, dtype=np.float64)
        for values in (measurement.position, measurement.velocity)
    )
    curve, estimate = Bezier(q, qd, np.zeros_like(q), STOP), seen.estimate
    way = 0.5 * STOP * qd
    return Plan(t, t, curve, way, estimate.bounds, None, estimate.theta)
