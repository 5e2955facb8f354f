"""RecedingHorizonPlanner.step: next plan, or keep braking on the last one.

When a horizon begins, its successor is computed at once: from the desired state at the switching
time, with the estimate of this moment. At the switching time it takes over, if it is certified
and the bounds known by then are inside those it was certified for. If there is none, the plan in
force runs on and ends at rest; while it brakes, a plan is looked for that begins where and when it
ends, and if there is none again, the search begins anew from there.

The first plan stands still where the arm is, so that there is time for the first that moves. So
does the one that follows when an arm at rest may hold more than its plan was certified for. Both
begin only where the arm is slow enough for V <= V_M (`track/takeover.py`). An arm that rests at
the end of a plan of another planner stands still there, if that is certified: it is measured a
tracking error beside it, and would be off by another one from there. That certificate goes on from
the plan before, whose error is no smaller than that of an arm that begins anew there.

Of an arm that is seen late, a plan is in force from one age before its start on, for the torque of
a sample acts that much later; and whether V <= V_M only who observes r can see, the controller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from threading import Event
import time
from typing import Annotated, Any, NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Natural, NotNegative, Positive, Range, Settings
from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.motion_objective import MotionObjective, objective_of
from safe_sysid.model.own_cost import OwnCostSettings
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.aims import Aim, Approach, Steered
from safe_sysid.plan.path.joint_path import Traverse
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.plan_before import beginning_after, covers, going_on
from safe_sysid.plan.purpose import Ahead, Purpose
from safe_sysid.plan.result import FAILED, PlanResult, SearchFinding, SearchOutcome
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search, stand_still
from safe_sysid.plan.search.task import find_motion
from safe_sysid.plan.search.task_settings import TaskSettings
from safe_sysid.plan.search.traverse import find_traverse
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.compiled import compiled_here
from safe_sysid.track.gains import Gains
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

After = Callable[[Problem], Problem]  # the same problem, with what a plan before leaves
COMPILING = 50  # searches at most until all is compiled
HANDOVER = 0.1  # [s] that a search leaves at most until its plan is needed
ONWARD = 0.5  # [rad] along a route, to a point that plans are to come nearer to
OVERRUN = 0.1  # [s] of a search in which nothing was compiled

# Up to then desired states of a plan and of the one before, which differ by their jerk from its
# start on, are so near that V <= V_M for the one is taken for V <= V_M for the other.
Late = Annotated[float, Range(at_least=0.0, at_most=0.01)]


@dataclass(frozen=True)
class PlannerSettings(Settings):
    """Length of plans, time to find them, and how finely to look."""

    duration: Positive = 3.0  # [s] of a plan; its second half brakes
    switch: Positive = 1.5  # [s] after its start the next plan takes over
    budget: Positive = 1.4  # [s] for a search, less than `switch`
    pace: Positive = 1.0  # seconds that may pass in one of the arm; more where time waits
    standing: NotNegative = 0.0  # [s] of a plan that stands still; 0: as long as any, which a
    # search may need; where time waits for searches it may be less
    late: Late = 0.005  # [s] after its start up to which a plan may still take over; in a loop at
    # least a period
    intervals: Count = 128  # time steps of a certificate
    degree: Count = 2  # of the polynomials in k
    seed: Natural = 0
    search: SearchSettings = field(default_factory=SearchSettings)
    task: TaskSettings = field(default_factory=TaskSettings)
    own_cost: OwnCostSettings = field(default_factory=OwnCostSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.switch > self.duration:
            raise ConfigError(
                f'switch is {self.switch} s and duration {self.duration} s; the first has to be '
                'at most the second'
            )
        if self.budget > self.switch:
            raise ConfigError(
                f'budget is {self.budget} s, it has to be at most the {self.switch} s until the '
                'next plan is needed'
            )
        if self.standing and not self.reserve < self.standing <= self.duration:
            raise ConfigError(
                f'standing is {self.standing} s, it has to be more than the {self.reserve} s by '
                f'which a search ends before its plan, and at most duration = {self.duration} s'
            )
        if not self.reserve < self.task.durations[0]:
            raise ConfigError(
                f'the first piece of a task motion lasts {self.task.durations[0]} s, it has to '
                f'last longer than the {self.reserve} s by which a search ends before its plan'
            )

    def at_period(self, period: float) -> PlannerSettings:
        """Return the same for samples so far apart [s]: the first after its start has a plan.

        It is up to a period after that, and no sample before it went on along the other plan.
        """
        return self.noticing_until(period)

    def noticing_until(self, late: float) -> PlannerSettings:
        """Return the same where a plan that took over on time is noticed so much later [s]."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return NoticingSettings(**{**values, 'late': max(self.late, late)})

    @property
    def reserve(self) -> float:
        """Time between the end of a search and the plan it is for [s]."""
        return min(self.switch - self.budget, HANDOVER)

    @property
    def stands(self) -> float:
        """Length of a plan that stands still [s]."""
        return self.standing or self.duration

    @property
    def wait(self) -> float:
        """Time at rest until a plan that moves may begin [s]."""
        return min(self.switch, self.stands)


@dataclass(frozen=True)
class NoticingSettings(PlannerSettings):
    """Those of a planner that learns later that a plan took over on time."""

    late: NotNegative = 0.005  # [s] after the start of a plan up to which that may be


class RestsOn(NamedTuple):
    """A plan of another planner, which the arm follows, at its end."""

    plan: Plan
    is_sure: bool  # whether the arm is where that plan has it, with what it was certified for
    prefers_measured: bool  # whether to stand at its end only where nothing else is certified


class RecedingHorizonPlanner:
    """Gives the certified plan in force, and replaces it in time.

    `problem` says for which arm, gains and obstacles; its bounds and horizon are replaced.
    """

    def __init__(
        self,
        problem: Problem,
        mission: Purpose,
        clock: Clock,
        settings: PlannerSettings | None = None,
        cancelled: Event | None = None,
        own_cost: MotionObjective | None = None,
    ) -> None:
        self._problem, self._mission, self._clock = problem, mission, clock
        self._arm = TrackedArm.of(problem.model, problem.gains, problem.sampling)
        self._settings = settings or PlannerSettings()
        self._own_cost = own_cost or objective_of(self._settings.own_cost, problem.model)
        self._cancelled = cancelled
        self.rests: tuple[Array, ...] = ()  # where the arm does, and did before it left something
        self.first_wait = self._settings.wait  # [s] at rest until the first plan that moves begins
        self.rests_on: RestsOn | None = None  # until a plan of its own is in force
        self.is_at_end_of_other = False  # whether that plan stands there
        self._plan: Plan | None = None
        self._successor: Plan | None = None
        self._next_horizon = -np.inf  # [s]
        self._is_withdrawn = False  # the successor
        self._is_stale = False  # the plan in force: the arm may have jumped since it began
        self._searches = 0
        self._judged: ParameterEstimate | None = None
        self._result = PlanResult(None, None, SearchFinding(SearchOutcome.NOTHING_DUE), 0.0)

    @property
    def _ahead(self) -> int:
        """Time from a sample until its torque does not act any more [ns]."""
        sampling = self._problem.sampling
        return 0 if sampling is None else round(sampling.age * 1e9)

    @property
    def clock(self) -> Clock:
        """What plans count on."""
        return self._clock

    @property
    def gains(self) -> Gains:
        """Gains that plans are certified for."""
        return self._problem.gains

    def warm_up(self, position: Array, estimate: ParameterEstimate) -> None:
        """Search from rest and forget what is found, until one compiles nothing and ends in time.

        A short search goes through all that a long one does. What is compiled at its first use
        takes seconds, which are in no budget: call this before the arm moves.
        """
        self.rests = (position,)
        problem = self._problem_of(self._at_rest(position), estimate)
        ahead = Ahead(problem, position, self._settings.switch, Budget.of(np.inf))
        short = self._settings.search.rehearsing()
        for aim in self._mission.rehearsal(ahead):
            for _ in range(COMPILING):
                budget, before = self._budget(self._settings.budget), compiled_here()
                self._search(problem, aim, budget, short)
                if budget.left > -OVERRUN and compiled_here() == before:
                    break
        self._searches = 0

    def avoid(self, obstacles: Obstacles) -> None:
        """Search among these obstacles from now on; plans there are stay as they are."""
        self._problem = replace(self._problem, obstacles=obstacles)

    def withdraw(self, reason: SearchOutcome) -> PlanResult:
        """Forget the successor, which nobody was told of; the next step looks for another one."""
        self._successor, self._is_withdrawn, self._next_horizon = None, True, -np.inf
        time_said = self._result.time
        self._result = PlanResult(self._plan, None, SearchFinding(reason), time_said)
        return self._result

    def would_stand(
        self, measurement: JointMeasurement, estimate: ParameterEstimate
    ) -> SearchFinding:
        """Return whether `rest` would find a plan for these bounds; what is in force stays."""
        now, kept = self._clock.seconds(measurement.stamp + self._ahead), self.rests
        finding, _ = self._standing(measurement, estimate, now)
        self.rests = kept
        return finding

    def rest(self, measurement: JointMeasurement, estimate: ParameterEstimate) -> PlanResult:
        """Stand still where the arm is, on a plan that is certified for what is known now.

        What holds for any plan that begins anew has to be so: standing certified, and V of every
        theta in its bounds at most V_M at the measured state. Where it is not the plan in force
        stays, the finding says why, and nothing follows but another beginning. The next plan that
        moves is looked for by the next `step`.
        """
        now = self._clock.seconds(measurement.stamp + self._ahead)
        self._successor, self._is_stale = None, True
        finding, plan = self._standing(measurement, estimate, now)
        if plan is not None:
            self._plan, self._is_stale, self._is_withdrawn = plan, False, True
        self._next_horizon = -np.inf
        self._result = PlanResult(self._plan, None, finding, now)
        return self._result

    def step(self, measurement: JointMeasurement, estimate: ParameterEstimate) -> PlanResult:
        """Return the plan for the torque of a measurement, one object until it changes."""
        now = self._clock.seconds(measurement.stamp + self._ahead)
        if now >= self._next_horizon or self._is_void(estimate, now):
            finding = self._next(measurement, estimate, now)
            self._result = PlanResult(self._plan, self._successor, finding, now)
        return self._result

    def _is_void(self, estimate: ParameterEstimate, now: float) -> bool:
        """Whether the arm rests on a plan that was certified for less than may be now."""
        if self._is_stale:
            return True
        if self._plan is None or now < self._plan.end_time or estimate is self._judged:
            return False
        self._judged = estimate
        return not covers(self._plan, estimate)

    def _next(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> SearchFinding:
        """Switch to the successor, begin again from rest, or go on braking."""
        plan, successor, self._successor = self._plan, self._successor, None
        ended = plan is None or now >= plan.end_time
        if plan is None or self._is_stale or (ended and not covers(plan, estimate)):
            return self._begin(measurement, estimate, now)
        if successor is not None:
            refusal = self._refusal(successor, measurement, estimate, now)
            if refusal is not None:
                self._next_horizon = max(plan.end_time, now)
                return refusal
            self._plan = plan = successor
            return self._find_successor(plan, estimate, now, plan.switch_time)
        withdrawn, self._is_withdrawn = self._is_withdrawn, False
        if withdrawn and now < plan.switch_time:
            return self._find_successor(plan, estimate, now, plan.switch_time)
        if now < plan.end_time:
            may_find = withdrawn or self._result.outcome in FAILED
            if may_find and plan.end_time - now > self._settings.reserve:
                return self._find_successor(plan, estimate, now, plan.end_time)
            self._next_horizon = plan.end_time
            return self._result.finding
        return self._find_successor(plan, estimate, now, now + self._settings.wait)

    def _begin(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> SearchFinding:
        """Stand still where the arm is, and look for a first plan that moves."""
        settings, begin = self._settings, time.monotonic()
        self._next_horizon = now + self.first_wait
        finding, plan = self._first_standing(measurement, estimate, now)
        if plan is None:
            return finding
        self._plan, self._is_stale, self.rests_on = plan, False, None
        spent = (time.monotonic() - begin) / settings.pace
        return self._find_successor(self._plan, estimate, now + spent, self._next_horizon)

    def _first_standing(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> tuple[SearchFinding, Plan | None]:
        """Return a plan that stands still at the end of the one that the arm rests on, or here."""
        before, self.is_at_end_of_other = self.rests_on, False
        if before is None or now < before.plan.end_time or not covers(before.plan, estimate):
            return self._standing(measurement, estimate, now)
        ways = [self._standing_on, self._standing]
        first, other = reversed(ways) if before.prefers_measured else ways
        used, (finding, plan) = first, first(measurement, estimate, now)
        if plan is None:
            used, (finding, plan) = other, other(measurement, estimate, now)
        self.is_at_end_of_other = plan is not None and used == self._standing_on
        return finding, plan

    def _standing_on(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> tuple[SearchFinding, Plan | None]:
        """Return a plan that stands still at the end of the one that the arm rests on."""
        assert self.rests_on is not None
        before = self.rests_on.plan
        self.rests = self._problem.rests_at(before.end_position, self.rests)
        after: After = lambda problem: going_on(problem, before, now)  # noqa: E731
        finding, plan = self._still(before.end_position, estimate, now, after)
        if plan is None:
            return finding, None
        is_sure, told = self.rests_on.is_sure, (plan, now, measurement, estimate.bounds)
        asked = self._arm.refusal_to_stay if is_sure else self._arm.refusal_to_begin
        refusal = asked(*told)
        if refusal:
            return SearchFinding(SearchOutcome.UNSTEADY, trouble=refusal), None
        return finding, plan

    def _standing(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> tuple[SearchFinding, Plan | None]:
        """Return a plan that stands still where the arm is, or why none is certified."""
        self.rests = self._problem.rests_at(measurement.position, self.rests)
        before = self._plan or (self.rests_on and self.rests_on.plan)
        after: After = lambda problem: beginning_after(problem, before, now)  # noqa: E731
        finding, plan = self._still(measurement.position, estimate, now, after)
        if plan is None:
            return finding, None
        refusal = self._arm.refusal_to_begin(plan, now, measurement, estimate.bounds)
        if refusal:
            return SearchFinding(SearchOutcome.UNSTEADY, trouble=refusal), None
        return finding, plan

    def _still(
        self,
        position: Array,
        estimate: ParameterEstimate,
        now: float,
        after: After,
    ) -> tuple[SearchFinding, Plan | None]:
        """Return a plan that stands still at a position, after what was there before."""
        try:
            curve = replace(self._at_rest(position), duration=self._settings.stands)
            problem = self._problem_of(curve, estimate)
            problem = self._from(after(problem), now)
        except SafeSysidError as error:
            return SearchFinding(SearchOutcome.UNUSABLE, trouble=str(error)), None
        finding = stand_still(problem, self._budget(self._settings.budget), self._settings.search)
        found = finding.certificate
        return finding, None if found is None else self._plan_of(found, now)

    def _refusal(
        self,
        successor: Plan,
        measurement: JointMeasurement,
        estimate: ParameterEstimate,
        now: float,
    ) -> SearchFinding | None:
        """Why a certified successor may not take over any more."""
        if now > successor.start_time + self._settings.late:
            return SearchFinding(SearchOutcome.MISSED)  # the arm went on along the other plan
        if not covers(successor, estimate):
            return SearchFinding(SearchOutcome.OUTDATED)
        astray = self._arm.refusal_to_go_on(successor, now, measurement, estimate.bounds)
        return SearchFinding(SearchOutcome.ASTRAY, trouble=astray) if astray else None

    def _find_successor(
        self, plan: Plan, estimate: ParameterEstimate, now: float, start: float
    ) -> SearchFinding:
        """Look for a plan that takes over from this one."""
        settings, clock = self._settings, self._clock
        # to the nanosecond, or a sum of durations is just after the stamp that it stands for
        self._next_horizon = start = clock.seconds(clock.stamp(start))
        budget = self._budget(min(start - now - settings.reserve, settings.budget))
        try:
            problem = self._problem_of(plan.curve_from(start, settings.duration), estimate)
            problem = self._from(going_on(problem, plan, start), start)
            aim = self._mission.due(Ahead(problem, plan.end_position, settings.switch, budget))
        except SafeSysidError as error:
            return SearchFinding(SearchOutcome.UNUSABLE, trouble=str(error))
        if aim is None:
            return SearchFinding(SearchOutcome.NOTHING_DUE)
        finding = self._search(problem, aim, budget, self._settings.search)
        if isinstance(aim, Traverse):
            self._mission.traversed(finding)
        if finding.stands_still and isinstance(aim, Approach | Follow):
            finding = replace(finding, outcome=SearchOutcome.STILL)
        if finding.certificate is not None:
            self._successor = self._plan_of(finding.certificate, start, finding.until)
            if not isinstance(aim, Traverse):
                self._mission.planned(aim, self._successor, estimate)
        return finding

    def _search(
        self,
        problem: Problem,
        aim: Aim | Follow | Traverse,
        budget: Budget,
        how: SearchSettings,
    ) -> SearchFinding:
        """Along a path, or a route by a task motion, else by the best plan towards a point on it.

        A user's own cost has no say in a task motion, so with one there is none.
        """
        settings, own = self._settings, self._own_cost
        self._searches += 1
        if isinstance(aim, Traverse):
            return find_traverse(problem, aim, budget, settings.task)
        if isinstance(aim, Follow):
            if own is None:
                finding = find_motion(problem, aim, budget, settings.task)
                if finding.outcome is not SearchOutcome.NONE_CERTIFIED:
                    return finding
            point = aim.route.toward(problem.horizon.curve.q0, aim.begin + ONWARD)
            aim = Approach(problem.model, point)
        if own is not None:
            aim = Steered(aim, own, problem.bounds.theta)
        return search(problem, aim, budget, how, settings.seed + self._searches)

    def _budget(self, seconds: float) -> Budget:
        """For so many seconds of the arm, from now on."""
        return Budget.of(self._settings.pace * seconds, self._cancelled)

    def _at_rest(self, position: Array) -> Bezier:
        """Curves that begin at rest."""
        rest = np.zeros(self._problem.model.n)
        return Bezier(position, rest, rest, self._settings.duration)

    def _problem_of(self, curve: Bezier, estimate: ParameterEstimate) -> Problem:
        """All plans of a curve, for what is known of theta now."""
        zero, settings = np.zeros_like(curve.q0), self._settings
        horizon = Horizon(curve, zero, zero, settings.intervals, settings.degree)
        problem = replace(self._problem, bounds=estimate, horizon=horizon)
        return problem.lifting(*self.rests) if self.rests else problem

    def _from(self, problem: Problem, start: float) -> Problem:
        """Return the same with the time at which plans of it begin, for obstacles that move."""
        return replace(problem, obstacles=problem.obstacles.beginning(self._clock.stamp(start)))

    def _plan_of(
        self, certificate: PlanCertificate, start: float, until: float | None = None
    ) -> Plan:
        """Return the plan that a certificate is about, from a time on."""
        curve, estimate = certificate.problem.horizon.curve, certificate.problem.bounds
        if until is None:
            switch = min(self._settings.switch, curve.duration)
            until = switch if curve.ends_at_rest else curve.duration
        return Plan(
            start,
            start + until,
            curve,
            certificate.k,
            estimate.bounds,
            certificate,
            estimate.theta,
            tuple(Piece(each.problem.horizon.curve, each.k) for each in certificate.then),
            certificate.laws,
        )
