"""PlanSuccession: which plan is followed when, for whoever gets plans one after the other.

A plan is taken over at its start, if

    it goes on from the desired state of the plan in force, or, where no plan is in force or the
    last one is over, or the arm may hold something else by now, stands still so near to the arm
    that V <= V_M (`takeover`),
    it is not late: the first sample after its start has it, however long the period is; or until
    `late` after its start the one in force was followed on, and V <= V_M with the plan too, of
    which it differs by its jerk. One that ends no later than the one in force, as an early stop
    does, takes over then unless V > V_M for every theta: to refuse it would not stop the arm.
    One that stands still is never late, and where it does so at the end of the one in force
    nothing changes by it: V <= V_M is asked of it as of any plan that goes on,
    the bounds it was certified for contain those that are known now,
    the mode lets plans follow each other, and since it last changed one that stands still has
    begun: what was told for the mode before is not wanted any more.

A plan that is told later replaces those told before that begin no earlier than it.

Otherwise the plan in force stays, and ends at rest. So nobody has to be trusted: a planner that
was started again, or works with something else than this arm does, is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from safe_sysid.config import Range, Settings
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.track.seen_start import UNSEEN
from safe_sysid.track.supervisor import Mode
from safe_sysid.track.takeover import Takeover
from safe_sysid.trajectory.plan import Plan

SAME = 1e-6  # [rad, rad/s, rad/s^2] between two states that are the same up to rounding
ROUNDING = 1e-9  # [s] between two times that are the same: whole nanoseconds from another origin

# Modes in which what is held stays what it is, unless a fault says otherwise.
SURE = (Mode.EXCITING, Mode.IDENTIFIED, Mode.TASK, Mode.BRAKING)

# In 0.1 s a jerk of 10 rad/s^3 moves a desired velocity by 0.05 rad/s: later no arm is near it.
Late = Annotated[float, Range(above=0.0, at_most=0.1)]


@dataclass(frozen=True)
class SuccessionSettings(Settings):
    """How exact a plan has to be taken over, where it is not there at the first sample."""

    late: Late = 0.005  # [s] after its start up to which a plan may still take over


class PlanSuccession:
    """Keeps the plan in force and those that may follow it."""

    def __init__(
        self, arm: Takeover, settings: SuccessionSettings, longest_step: float = 0.0
    ) -> None:
        self._arm = arm
        self._settings = settings
        self._longest_step = longest_step  # [s] between two samples, where none is lost
        self._before = -np.inf  # [s] time of the newest sample for which a plan was named
        self._waiting: list[Plan] = []
        self._begins_anew = False  # whether the next plan has to stand still
        self._is_doubted = False  # whether the arm is where the plan in force has it
        self.in_force: Plan | None = None
        self.refusal = ''  # why the last plan that was due was not taken over

    def offer(self, plan: Plan) -> None:
        """Offer a plan that may take over at its start, in place of all that begin no earlier.

        Those go on from what it replaces, and need not be wanted any more: where an obstacle has
        appeared the arm stops before them, perhaps where they would begin.
        """
        if self.in_force is not None and plan.start_time <= self.in_force.start_time:
            return  # the one in force, told again
        before = [p for p in self._waiting if p.start_time < plan.start_time]
        self._waiting = [*before, plan]

    def reset(self) -> None:
        """Forget all plans; for when the arm does not follow any."""
        self.in_force = None
        self._waiting, self._before, self._is_doubted = [], -np.inf, False

    def begin_anew(self) -> None:
        """Let the plan in force end, and none follow it but one that stands still."""
        self._begins_anew = True

    def leave(self, mode: Mode | None) -> None:
        """Take note that a mode is over: in some the arm may have got something else to hold.

        Only a plan follows then that begins with V <= V_M for all that it may be.
        """
        self._is_doubted |= mode not in SURE

    def end_in_force(self) -> None:
        """Forget all plans but the one in force, which ends."""
        self._waiting = []
        self.begin_anew()

    def step(
        self, t: float, measurement: JointMeasurement, estimate: ParameterEstimate
    ) -> Plan | None:
        """Plan to follow at time t [s], if there is any."""
        while self._waiting and self._waiting[0].start_time <= t:
            plan = self._waiting.pop(0)
            self.refusal = self._refusal_of(plan, t, measurement, estimate)
            if self.refusal == UNSEEN:  # it stands still, and begins once the arm was seen
                self._waiting.insert(0, plan)
                break
            if not self.refusal:
                self.in_force, self._begins_anew, self._is_doubted = plan, False, False
        self._before = t
        return self.in_force

    def decline(self, t: float, reason: str) -> None:
        """Drop every plan that is due, as the mode does not let it take over."""
        due = [p for p in self._waiting if p.start_time <= t]
        if due:
            self._waiting = [p for p in self._waiting if p.start_time > t]
            self.refusal = reason

    def _refusal_of(
        self, plan: Plan, t: float, measurement: JointMeasurement, estimate: ParameterEstimate
    ) -> str:
        """Why a plan may not take over; empty if it may."""
        certified = plan.theta_bounds
        if certified is None or not certified.contains(estimate.bounds):
            return 'the next plan was made for tighter bounds than are known now'
        if self._begins_anew and not plan.stands_still:
            return 'the first plan in another mode has to stand still'
        reason, told = self._refusal_to_go_on(plan, t), (plan, t, measurement, estimate.bounds)
        if self._is_doubted and not self._stays(plan):
            return (
                reason
                or 'what is held may have changed: the first plan has to stand still at rest'
            )
        if not reason and not self._is_doubted:
            astray = self._arm.refusal_to_go_on(*told)
            if astray or not self._asks_for_energy(plan, t):
                return astray
            return self._arm.refusal_when_late(*told)
        if not self._stays(plan):
            return reason
        if self._is_doubted or self._gap_to(plan) > SAME:
            return self._arm.refusal_to_begin(plan, t, measurement, certified)
        return self._arm.refusal_to_stay(*told)

    def _refusal_to_go_on(self, plan: Plan, t: float) -> str:
        """Why a plan does not follow the desired state of the one in force, or too late."""
        if self.in_force is None:
            return 'the first plan has to stand still where the arm is'
        late = t - plan.start_time
        if late > self._settings.late and not self._is_first_sample(plan, late):
            return f'the next plan came {late:.3f} s late; {self._settings.late} s are allowed'
        gap = self._gap_to(plan)
        if gap > SAME:
            return f'the next plan does not go on from the one in force, it jumps by {gap:.3g}'
        return ''

    def _gap_to(self, plan: Plan) -> float:
        """How far the desired state jumps where a plan takes over from the one in force."""
        if self.in_force is None:
            return np.inf
        before, curve = np.array(self.in_force.desired(plan.start_time)), plan.curve
        return float(np.abs(before - np.array([curve.q0, curve.qd0, curve.qdd0])).max())

    def _asks_for_energy(self, plan: Plan, t: float) -> bool:
        """Whether r may have jumped too far as a plan takes over late, and refusing it helps."""
        if self._is_first_sample(plan, t - plan.start_time) or self._stays(plan):
            return False
        assert self.in_force is not None
        return plan.end_time > self.in_force.end_time + ROUNDING

    def _stays(self, plan: Plan) -> bool:
        """Whether a plan stands still after the end of the one in force."""
        ahead = 0.0 if self.in_force is None else self.in_force.end_time - plan.start_time
        return ahead <= ROUNDING and plan.stands_still

    def _is_first_sample(self, plan: Plan, late: float) -> bool:
        """Whether no plan was followed since the start of this one, and no sample was lost."""
        return self._before < plan.start_time and late <= self._longest_step
