"""The loop when what is held changes: announced at rest, told or noticed while the arm moves.

At rest is an arm whose plan has ended, though torque that nobody modelled may shake a light joint:
with V at most V_M that is what standing is certified for. An announced change happens at rest
only. Before it bounds are widened to all that is held or may
be held next, standing still is certified for them and V is at most V_M for every body in them;
then it `may change now`, and while it may the arm stands on that plan. After it bounds are those
of what may be held next.

After any other change the arm brakes along the plan in force, with a law that allows for the next
body too. That is certified where a certificate of that plan holds for both bodies and the measured
state is one that it allows for; else it is not, which the outcome says. At rest the identifier
gives rows on either side of the change to different bodies, and the arm goes on by itself where
all `Condition`s hold. Else it stays where it is, held by the plan that it braked along. A change
that nobody told may be a false alarm: bounds are then those for what was held, too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.closed_loop import (
    AT_REST,
    LoopFault,
    LoopSample,
    Robot,
    brake,
    followed_at,
    unwatched,
)
from safe_sysid.errors import BoundError, SafeSysidError
from safe_sysid.identify.change.held_next import HeldNext, either
from safe_sysid.identify.change.response import (
    Announcement,
    Change,
    ChangeOutcome,
    Condition,
    ResponseSettings,
    Source,
    unmet,
)
from safe_sysid.identify.online_identifier import IdentificationFault, OnlineIdentifier
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.carried_over import carried_over, widened
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.plan.result import STANDING, SearchOutcome
from safe_sysid.plan.watch import TrackingFault, refuse_broken_promise
from safe_sysid.sets.interval import Interval
from safe_sysid.track.braking import Braking
from safe_sysid.track.controller import BrakingLaw
from safe_sysid.track.seen_start import UNSEEN
from safe_sysid.track.sensed_passivity import BrokenPromiseError, SensedPassivityController
from safe_sysid.trajectory.plan import Plan

# What a body that nobody knows of makes of the loop, before anybody has noticed it.
SYMPTOMS = (IdentificationFault, TrackingFault, BrokenPromiseError)
HALVINGS = 6  # of the share of what may be held next, in the search for what could be


class ChangingLoop:
    """The stages of a loop, and what may be held after a change.

    `held` is what may be held next where nobody says more; the shapes of the arm that the planner
    has contain the largest of it. The mission counts the changes it went on from by itself.
    """

    def __init__(
        self,
        robot: Robot,
        identifier: OnlineIdentifier,
        planner: RecedingHorizonPlanner,
        controller: BrakingLaw,
        held: HeldNext,
        settings: ResponseSettings | None = None,
    ) -> None:
        self._robot, self._identifier = robot, identifier
        self._planner, self._controller = planner, controller
        self._held, self._settings = held, settings or ResponseSettings()
        self._last: LoopSample | None = None
        self._followed: Plan | None = None
        self._told: Change | None = None  # while the arm moves, not answered yet
        self._announced: HeldNext | None = None
        self._since = 0  # [ns] stamp of the announcement
        self._most_energy = 0.0  # [J] of any body that may be held, since then
        self._count = 0
        self.outcomes: list[ChangeOutcome] = []

    @property
    def last(self) -> LoopSample | None:
        """The last period; None: there was none."""
        return self._last

    @property
    def is_held(self) -> bool:
        """Whether the arm stays at rest until a person has looked, and calls `reset`."""
        return bool(self.outcomes) and not self.outcomes[-1].goes_on

    @property
    def may_change(self) -> bool:
        """Whether a change was announced and granted, and has not come yet."""
        return self._announced is not None

    def new_mission(self) -> None:
        """Begin to count changes anew."""
        self._count = 0

    def run(self, steps: int, watch: Callable[[LoopSample], None] = unwatched) -> None:
        """Go on for a number of control periods, across changes; a `LoopFault` for all else.

        While a change may come, and where the arm does not go on by itself, it stands meanwhile.
        """
        for _ in range(steps):
            measurement = self._robot.measure()
            try:
                if self.is_held:
                    self._hold(measurement, watch)
                elif self._announced is not None:
                    self._stand(measurement, watch)
                else:
                    self._go_on(measurement, watch)
                    if self._told is not None or self._identifier.has_noticed:
                        self._answer(None, watch)
            except SYMPTOMS as cause:
                self._answer(cause, watch)
            except SafeSysidError as cause:
                self._end(cause, watch)

    def tell(self, after: int, before: int) -> None:
        """Say that what is held has changed between two stamps [ns] that nobody announced.

        Each may be off by `stamp_error`. It is answered in the next period of `run`.
        """
        if after > before:
            raise BoundError(f'the change is said to be after {after} ns and before {before} ns')
        self._told = Change.told(after, before).apart(round(self._settings.stamp_error * 1e9))

    def announce(self, held: HeldNext | None = None) -> Announcement:
        """Ask whether what is held may change now, to something within these bounds.

        Granted for an arm at rest for which standing still is certified for what is held and what
        may be held next, with V at most V_M. Until `changed` or `unchanged` it stands then.
        """
        held, measurement = held or self._held, self._robot.measure()
        refusal = self._refusal_to_announce(measurement)
        if refusal:
            return Announcement(False, refusal, held)
        assert self._last is not None
        before = self._last.estimate
        estimate = self._identifier.announce(held)
        result = self._planner.rest(measurement, estimate)
        is_found = result.outcome is SearchOutcome.FOUND
        unseen = self._refusal_of_law(measurement, result.in_force, estimate) if is_found else ''
        if is_found and not unseen:
            self._announced, self._since, self._most_energy = held, measurement.stamp, 0.0
            self._last = replace(self._last, result=result, estimate=estimate)
            return Announcement(True, f'what is held may change now: {result.finding}', held)
        self._identifier.trust()
        heaviest = None if unseen else self._heaviest(measurement, before, estimate)
        self._last = replace(self._last, result=self._planner.rest(measurement, before))
        if unseen:
            return Announcement(False, f'for what may be held next {unseen}', held)
        figure = (
            'nor is it for what is held'
            if heaviest is None
            else f'with up to {heaviest:.3g} kg on the last joint, and its moments in proportion, '
            'it would be'
        )
        sentence = (
            f'standing is not certified for what may be held next: {result.finding}; {figure}'
        )
        return Announcement(False, sentence, held, heaviest)

    def unchanged(self) -> None:
        """Go on without the change that was announced."""
        assert self._last is not None
        self._identifier.trust()
        measurement, self._announced = self._robot.measure(), None
        estimate = self._identifier.step(measurement)
        result = self._planner.rest(measurement, estimate)
        self._last = replace(self._last, result=result, estimate=estimate)

    def changed(self, after: int, before: int) -> ChangeOutcome:
        """Take note that what was announced has happened between two stamps [ns].

        Whatever they say, rows from the announcement until now are of neither body: the arm
        stood, so they would teach little.
        """
        if self._announced is None:
            raise BoundError('no change was announced and granted; announce it, or tell it')
        measurement, held = self._robot.measure(), self._announced
        if self._told is not None:  # of before, perhaps; it is answered itself afterwards
            after = min(after, self._told.apart(self._identifier.longest_window).after)
        change = Change.told(min(after, self._since), max(before, measurement.stamp))
        most, V_M = self._most_energy, self._planner.gains.V_M
        self._announced = None
        is_certified = most <= V_M
        braking = (
            f'the arm stood on a plan for both bodies, with V at most {most:.2g} J'
            if is_certified
            else f'V may have been {most:.2g} J when it happened, {V_M} J are certified: that '
            'moment is certified for the body before only'
        )
        self._identifier.change(change.after, change.before, held)
        return self._judged(change, measurement, held, (is_certified, braking))

    def reset(self, held: HeldNext | None = None) -> ChangeOutcome:
        """Go on as a person says who has looked: something within these bounds is held now.

        Rows since the change for which the arm is held are of neither body.
        """
        measurement, held = self._robot.measure(), held or self._held
        now = measurement.stamp
        if not self.is_held or self._identifier.has_fault:
            self._identifier.new_payload(now)
            after = now
        else:
            last = self.outcomes[-1].change
            after = 0 if last.source is Source.PROVEN else min(last.after, now)
        self._identifier.change(after, now, held)
        self._count = 0
        change = Change.told(measurement.stamp, measurement.stamp)
        return self._judged(change, measurement, held, (False, 'the arm was held'))

    def _go_on(self, measurement: JointMeasurement, watch: Callable[[LoopSample], None]) -> None:
        """One period of the loop."""
        estimate = self._identifier.step(measurement)
        result = self._planner.step(measurement, estimate)
        torque = self._controller.step(measurement, result.in_force, estimate)
        now = self._planner.clock.seconds(measurement.stamp)
        self._followed = followed_at(now, result, self._followed)
        refuse_broken_promise(measurement, self._followed, self._planner.clock)
        self._apply(LoopSample(measurement, estimate, result, torque), watch)

    def _stand(self, measurement: JointMeasurement, watch: Callable[[LoopSample], None]) -> None:
        """One period in which what is held may change."""
        assert self._last is not None
        estimate = self._identifier.step(measurement)
        plan = self._last.result.in_force
        torque = self._controller.step(measurement, plan, estimate)
        self._most_energy = max(self._most_energy, self._controller.most_energy)
        refuse_broken_promise(measurement, plan, self._planner.clock)
        self._apply(replace(self._last, measurement=measurement, torque=torque), watch)

    def _hold(self, measurement: JointMeasurement, watch: Callable[[LoopSample], None]) -> None:
        """One period in which the arm is held until a person has looked."""
        assert self._last is not None
        with suppress(SafeSysidError):
            self._identifier.step(measurement)
        plan, estimate = self._last.result.in_force, self._last.estimate
        torque = self._controller.brake(measurement, plan, estimate)
        self._apply(replace(self._last, measurement=measurement, torque=torque), watch)

    def _apply(self, sample: LoopSample, watch: Callable[[LoopSample], None]) -> None:
        self._robot.apply(sample.torque)
        self._last = sample
        watch(sample)

    def _end(self, cause: SafeSysidError, watch: Callable[[LoopSample], None]) -> None:
        """Brake as every loop does, and say why."""
        if self._last is not None:
            braking = Braking(self._planner.clock, self._controller)
            self._last = brake(self._robot, braking, replace(self._last, fault=str(cause)), watch)
        raise LoopFault(cause, self._last) from cause

    def _answer(self, cause: SafeSysidError | None, watch: Callable[[LoopSample], None]) -> None:
        """Brake, and go on or stay."""
        if self._last is None:
            assert cause is not None
            raise LoopFault(cause, None) from cause
        measurement, held = self._robot.measure(), self._announced or self._held
        self._announced = None
        self._identifier.doubt()
        how = self._brake(measurement, held, cause, watch)
        measurement = self._robot.measure()
        change = self._known(measurement.stamp, cause)
        self._told = None
        if change.source is not Source.TOLD:  # what was held may be held still: a false alarm
            held = either(self._identifier.estimate, held)
        speed = float(np.abs(measurement.velocity).max())
        if speed > AT_REST and self._controller.most_energy > self._planner.gains.V_M:
            failed: tuple[Condition, str] | None = (Condition.AT_REST, f'{speed:.3g} rad/s')
        else:
            failed = unmet(change, self._count, self._settings)
        if failed is not None:
            self.outcomes.append(ChangeOutcome(change, *how, held, *failed))
            return
        self._count += 1
        self._identifier.change(change.after, change.before, held)
        self._judged(change, measurement, held, how)

    def _brake(
        self,
        measurement: JointMeasurement,
        held: HeldNext,
        cause: SafeSysidError | None,
        watch: Callable[[LoopSample], None],
    ) -> tuple[bool, str]:
        """Brake along the plan in force; whether that is certified for the next body, and how."""
        assert self._last is not None
        last, clock = self._last, self._planner.clock
        plan, bounds = last.result.in_force, _with_body(last.estimate, held)
        certified, why = carried_over(plan, bounds, measurement, clock)
        followed = certified or widened(plan, bounds)
        assert followed.theta_bounds is not None and followed.theta_0 is not None
        known = ParameterEstimate(last.estimate.layout, followed.theta_0, followed.theta_bounds)
        fault = 'what is held may have changed' if cause is None else str(cause)
        result = replace(last.result, plan=followed, successor=None)
        begin = replace(last, fault=fault, result=result, estimate=known)
        heard = _Heard(self._robot, self._identifier)
        self._last = brake(heard, Braking(clock, self._controller), begin, watch)
        if certified is not None:
            return True, 'the arm braked along its plan, which is certified for both bodies'
        return False, f'the arm braked along its plan, not certified for the next body: {why}'

    def _known(self, stamp: int, cause: SafeSysidError | None) -> Change:
        """Return what is known of the change, between stamps that no window of one body is in."""
        found = self._identifier.noticed()
        noticed = None if found is None else Change.noticed(found)
        if self._told is not None:
            told = self._told if noticed is None else self._told.joined(noticed)
            return told.apart(self._identifier.longest_window)
        if noticed is not None:
            return noticed.apart(self._identifier.longest_window)
        return Change.proven(stamp, str(cause))

    def _judged(
        self,
        change: Change,
        measurement: JointMeasurement,
        held: HeldNext,
        how: tuple[bool, str],
    ) -> ChangeOutcome:
        """Begin anew on what may be held now, if the arm may."""
        assert self._last is not None
        estimate = self._identifier.step(measurement)
        result = self._planner.rest(measurement, estimate)
        outcome = ChangeOutcome(change, *how, held)
        if result.outcome is SearchOutcome.UNSTEADY:
            outcome = replace(outcome, failed=Condition.ENERGY, reason=str(result.finding))
        elif result.outcome is not SearchOutcome.FOUND:
            outcome = replace(outcome, failed=Condition.STANDING, reason=str(result.finding))
        if outcome.goes_on:
            self._last = replace(self._last, result=result, estimate=estimate, fault='')
        self.outcomes.append(outcome)
        return outcome

    def _refusal_to_announce(self, measurement: JointMeasurement) -> str:
        """Why nothing may change now, whatever it is; empty if something may."""
        if self._last is None:
            return 'the arm has no plan yet that it could stand on'
        if self.is_held:
            return 'the arm is held after a change until somebody has looked'
        if self._told is not None or self._identifier.has_noticed:
            return 'what is held has changed, as was told or noticed, which is answered first'
        plan, speed = self._last.result.in_force, float(np.abs(measurement.velocity).max())
        now = self._planner.clock.seconds(measurement.stamp)
        stands = now >= plan.end_time or not np.any(
            np.abs(plan.motion.end_position - plan.desired(max(now, plan.start_time))[0])
            > STANDING
        )
        if not stands:
            return f'the arm moves ({speed:.3g} rad/s); what is held changes at rest only'
        return ''

    def _refusal_of_law(
        self, measurement: JointMeasurement, plan: Plan, estimate: ParameterEstimate
    ) -> str:
        """Why the arm may not stand on a plan as its law sees it; the planner has seen the rest.

        Of an arm that is seen late velocities say too little, so the planner looks at no V.
        """
        law = self._controller
        if not isinstance(law, SensedPassivityController):
            return ''
        if law.forgets(plan):
            return UNSEEN
        now = self._planner.clock.seconds(measurement.stamp) + law.ahead
        return law.refusal_to_begin(plan, now, measurement, estimate.bounds)

    def _heaviest(
        self, measurement: JointMeasurement, now: ParameterEstimate, both: ParameterEstimate
    ) -> float | None:
        """Most mass of what is held next that would be granted, if any share of it would [kg]."""
        certain, refused = -1.0, 1.0
        if self._planner.would_stand(measurement, now).outcome is SearchOutcome.FOUND:
            certain = 0.0
        while certain >= 0.0 and refused - certain > 2.0**-HALVINGS:
            share = 0.5 * (certain + refused)
            part = _part(now, both, share)
            if self._planner.would_stand(measurement, part).outcome is SearchOutcome.FOUND:
                certain = share
            else:
                refused = share
        if certain < 0.0:
            return None
        return float(_part(now, both, certain).end_effector_bounds.upper[0])


class _Heard:
    """A robot whose samples an identifier gets too, whatever it makes of them."""

    def __init__(self, robot: Robot, identifier: OnlineIdentifier) -> None:
        self._robot, self._identifier = robot, identifier

    def measure(self) -> JointMeasurement:
        """Return the newest sample."""
        measurement = self._robot.measure()
        with suppress(SafeSysidError):
            self._identifier.step(measurement)
        return measurement

    def apply(self, torque: Array) -> None:
        """Hold a torque for one control period."""
        self._robot.apply(torque)


def _with_body(estimate: ParameterEstimate, held: HeldNext) -> Interval:
    """Bounds on theta with what may be held next."""
    bounds, place = estimate.bounds, estimate.layout.end_effector
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    lower[place], upper[place] = held.bounds.lower, held.bounds.upper
    return Interval(lower, upper)


def _part(now: ParameterEstimate, both: ParameterEstimate, share: float) -> ParameterEstimate:
    """Return bounds on the way from one estimate to another, which contains it."""
    theta = now.theta + share * (both.theta - now.theta)
    lower = now.bounds.lower + share * (both.bounds.lower - now.bounds.lower)
    upper = now.bounds.upper + share * (both.bounds.upper - now.bounds.upper)
    return ParameterEstimate(now.layout, np.clip(theta, lower, upper), Interval(lower, upper))
