"""RecedingHorizonPlanner.step: next plan, or keep braking on the last one.

When a horizon begins, its successor is computed at once: from the desired state at the switching
time, with the estimate of this moment. At the switching time it takes over, if it is certified
and the bounds known by then are inside those it was certified for. If there is none, the plan in
force runs on and ends at rest, and from there the search begins again.

The first plan stands still where the arm is, so that there is time for the first that moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Event

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.aims import Aim
from safe_sysid.plan.mission import Purpose
from safe_sysid.plan.plan_result import Finding, Outcome, PlanResult
from safe_sysid.plan.plan_search import Budget, SearchSettings, search, stand_still
from safe_sysid.reach.certificate import Certificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

COMPILING = 50  # searches at most until all is compiled
OVERRUN = 0.1  # [s] of a search in which nothing was compiled


@dataclass(frozen=True)
class PlannerSettings:
    """Length of plans, time to find them, and how finely to look."""

    duration: float = 3.0  # [s] of a plan; its second half brakes
    switch: float = 1.5  # [s] after its start the next plan takes over
    budget: float = 1.4  # [s] of wall-clock time for a search, less than `switch`
    late: float = 0.005  # [s] after its start up to which a plan may still take over
    intervals: int = 128  # time steps of a certificate
    degree: int = 2  # of the polynomials in k
    seed: int = 0
    search: SearchSettings = field(default_factory=SearchSettings)

    def __post_init__(self) -> None:
        if not 0.0 < self.switch <= self.duration < np.inf:
            raise ConfigError(
                f'switch is {self.switch} s and duration {self.duration} s; the first has to be '
                'above 0 and at most the second'
            )
        if not 0.0 <= self.late < np.inf:
            raise ConfigError(f'late is {self.late} s, it has to be 0 or more')
        if not 0.0 < self.budget <= self.switch:
            raise ConfigError(
                f'budget is {self.budget} s, it has to be above 0 and at most the {self.switch} s '
                'until the next plan is needed'
            )
        if self.intervals < 1 or self.degree < 1 or self.seed < 0:
            raise ConfigError(
                f'intervals is {self.intervals}, degree {self.degree}, seed {self.seed}; at least '
                '1, 1 and 0'
            )


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
    ) -> None:
        self._problem, self._mission, self._clock = problem, mission, clock
        self._settings = settings or PlannerSettings()
        self._cancelled = cancelled
        self._plan: Plan | None = None
        self._successor: Plan | None = None
        self._next_horizon = -np.inf  # [s]
        self._searches = 0
        self._result = PlanResult(None, None, Finding(Outcome.NOTHING_DUE), 0.0)

    @property
    def clock(self) -> Clock:
        """What plans count on."""
        return self._clock

    def warm_up(self, position: Array, estimate: ParameterEstimate) -> None:
        """Search from rest and forget what is found, until searches end within their budget.

        What is compiled at its first use takes seconds, which are in no budget: call this before
        the arm moves.
        """
        aim = self._mission.due(estimate, position, self._settings.switch)
        if aim is None:
            return
        rest = np.zeros_like(position)
        curve = Bezier(position, rest, rest, self._settings.duration)
        in_time = 0
        for _ in range(COMPILING):
            budget = Budget.of(self._settings.budget, self._cancelled)
            self._search(curve, aim, estimate, budget)
            in_time = in_time + 1 if budget.left > -OVERRUN else 0
            if in_time == 2:
                break
        self._searches = 0

    def step(self, measurement: JointMeasurement, estimate: ParameterEstimate) -> PlanResult:
        """The plan in force at the stamp of the measurement; the same object until it changes."""
        now = self._clock.seconds(measurement.stamp)
        if now >= self._next_horizon:
            if self._plan is None:
                finding = self._begin(measurement, estimate, now)
            else:
                finding = self._continue(self._plan, estimate, now)
            self._result = PlanResult(self._plan, self._successor, finding, now)
        return self._result

    def _begin(
        self, measurement: JointMeasurement, estimate: ParameterEstimate, now: float
    ) -> Finding:
        """Stand still where the arm is, and look for a first plan that moves."""
        settings = self._settings
        self._next_horizon = now + settings.switch
        budget = Budget.of(settings.budget, self._cancelled)
        try:
            rest = np.zeros(self._problem.model.n)
            curve = Bezier(measurement.position, rest, rest, settings.duration)
            problem = self._problem_of(curve, estimate)
        except SafeSysidError as error:
            return Finding(Outcome.UNUSABLE, trouble=str(error))
        finding = stand_still(problem, budget, settings.search)
        if finding.certificate is None:
            return finding
        self._plan = self._plan_of(finding.certificate, now)
        return self._find_successor(self._plan, estimate, self._next_horizon, budget)

    def _continue(self, plan: Plan, estimate: ParameterEstimate, now: float) -> Finding:
        """Switch to the successor, or begin again from rest."""
        successor, self._successor = self._successor, None
        if successor is not None:
            refusal = self._refusal(successor, estimate, now)
            if refusal is not None:
                self._next_horizon = max(plan.end_time, now)
                return Finding(refusal)
            self._plan = plan = successor
        elif now < plan.end_time:
            self._next_horizon = plan.end_time
            return self._result.finding
        budget = Budget.of(self._settings.budget, self._cancelled)
        start = (successor.start_time if successor else now) + self._settings.switch
        self._next_horizon = start
        return self._find_successor(plan, estimate, start, budget)

    def _refusal(self, successor: Plan, estimate: ParameterEstimate, now: float) -> Outcome | None:
        """Why a certified successor may not take over any more."""
        if now > successor.start_time + self._settings.late:
            return Outcome.MISSED  # the arm went on along the other plan
        certified = successor.theta_bounds
        if certified is None or not certified.contains(estimate.bounds):
            return Outcome.OUTDATED
        return None

    def _find_successor(
        self, plan: Plan, estimate: ParameterEstimate, start: float, budget: Budget
    ) -> Finding:
        """Look for a plan that takes over from this one."""
        aim = self._mission.due(estimate, plan.end_position, self._settings.switch)
        if aim is None:
            return Finding(Outcome.NOTHING_DUE)
        finding = self._search(
            plan.curve_from(start, self._settings.duration), aim, estimate, budget
        )
        if finding.certificate is not None:
            self._successor = self._plan_of(finding.certificate, start)
            self._mission.planned(aim, self._successor, estimate)
        return finding

    def _search(
        self, curve: Bezier, aim: Aim, estimate: ParameterEstimate, budget: Budget
    ) -> Finding:
        try:
            problem = self._problem_of(curve, estimate)
        except SafeSysidError as error:
            return Finding(Outcome.UNUSABLE, trouble=str(error))
        self._searches += 1
        seed = self._settings.seed + self._searches
        return search(problem, aim, budget, self._settings.search, seed)

    def _problem_of(self, curve: Bezier, estimate: ParameterEstimate) -> Problem:
        """All plans of a curve, for what is known of theta now."""
        zero, settings = np.zeros_like(curve.q0), self._settings
        horizon = Horizon(curve, zero, zero, settings.intervals, settings.degree)
        return replace(self._problem, bounds=estimate, horizon=horizon)

    def _plan_of(self, certificate: Certificate, start: float) -> Plan:
        """The plan that a certificate is about, from a time on."""
        estimate, settings = certificate.problem.bounds, self._settings
        return Plan(
            start,
            start + settings.switch,
            certificate.problem.horizon.curve,
            certificate.k,
            estimate.bounds,
            certificate,
            estimate.theta,
        )
