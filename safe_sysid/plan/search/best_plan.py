"""Search for the best certified plan within a time budget: any one first, then better ones.

    gentle      the plan that slows down with the least acceleration; from rest it stands still
    candidates  plans all over the range, cheap checks in floats, the best by cost are certified
    nearby      the same about the best plan, and again about the result
    refine      Ipopt on sound sets about the best plan; again about the result (trust region)

Only what `certify_center` proves of a single plan is ever returned as certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
import time
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Natural, Positive, Range, Settings
from safe_sysid.errors import BoundError, SafeSysidError
from safe_sysid.plan.aims import Aim
from safe_sysid.plan.result import SearchFinding, SearchOutcome
from safe_sysid.plan.search.candidates import (
    PlanCandidate,
    around,
    asked_after,
    gentlest,
    most_promising,
    spread,
)
from safe_sysid.plan.search.ipopt import IpoptSettings, solve
from safe_sysid.plan.search.nominal_check import NEAR, NominalCheck
from safe_sysid.plan.search.trajectory_problem import TrajectoryProblem
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.needed_figures import needed_sentence
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet

RESERVE = 1.5  # times what a step took before has to be left to begin it again
BATCHES = 4  # of candidates, as long as none is certified and there is time
NEARER = 0.5  # times the range that had no better plan
SAME = 1e-3  # cost by which a plan has to be better to be worth another round


@dataclass(frozen=True)
class SearchSettings(Settings):
    """How hard to look."""

    candidates: Natural = 64  # plans looked at in floats
    wide: Positive = 1.5  # [rad] they lead at most this far from the gentle plan
    checks: Annotated[int, Range(at_least=2)] = 12  # times at which they are looked at
    trials: Natural = 6  # of them get a certificate at most
    nearby: Natural = 4  # rounds of plans about the best one
    near: Positive = 0.5  # [rad] they lead at most this far from it
    fewer: Natural = 32  # plans in each of these rounds
    rounds: Natural = 2  # of Ipopt at most
    narrow: Positive = 0.15  # [rad] half range of the first sets
    intervals: Count = 64  # time steps of the sets that Ipopt sees
    ipopt_seconds: Positive = 0.2  # per round
    slow: Positive = 0.1  # [s] that a certificate takes, before the first one is timed

    def rehearsing(self) -> SearchSettings:
        """Return those of a search that goes through all phases and stays short."""
        return replace(
            self,
            candidates=min(self.candidates, 4),
            nearby=min(self.nearby, 1),
            fewer=min(self.fewer, 4),
            rounds=min(self.rounds, 1),
            ipopt_seconds=min(self.ipopt_seconds, 0.02),
        )


@dataclass(frozen=True)
class Budget:
    """Until when a search may go on."""

    deadline: float  # of time.monotonic
    cancelled: Event | None = None

    @staticmethod
    def of(seconds: float, cancelled: Event | None = None) -> Budget:
        """From now on."""
        return Budget(time.monotonic() + seconds, cancelled)

    @property
    def now(self) -> float:
        """Time of the clock that `deadline` is of [s]."""
        return time.monotonic()

    @property
    def left(self) -> float:
        """Seconds."""
        return self.deadline - self.now

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody ended the search."""
        return self.cancelled is not None and self.cancelled.is_set()


def search(
    problem: Problem, aim: Aim, budget: Budget, settings: SearchSettings, seed: int
) -> SearchFinding:
    """Best certified plan of the curves of problem.horizon; its k_center and k_range don't matter.

    The same seed gives the same plan, unless the budget ends the search.
    """
    return _Search(problem, aim, budget, settings, seed).finding()


def stand_still(problem: Problem, budget: Budget, settings: SearchSettings) -> SearchFinding:
    """Find the gentlest certified plan, which from rest stands still.

    Where readings are too late or too coarse for it, the refusal says what would do, as far as
    the budget lets it find out.
    """
    found = _Search(problem, None, budget, settings, 0).finding()
    is_late = problem.sampling is not None and bool(found.trouble)
    if not is_late or not _holds(replace(problem, sampling=None, before=None)):
        return found
    slowest = (found.seconds or {}).get('total', settings.slow)

    def has_time() -> bool:
        return not budget.is_cancelled and budget.left > slowest

    needed = needed_sentence(problem, _holds, has_time)
    return replace(found, trouble=f'{found.trouble}; {needed}') if needed else found


def _holds(problem: Problem) -> bool:
    """Whether the gentlest plan is certified."""
    try:
        center = replace(problem.horizon, k_center=gentlest(problem.horizon.curve))
        still = replace(center, k_range=np.zeros(center.n))
        return ReachableSet.certify_center(replace(problem, horizon=still)).holds
    except SafeSysidError:
        return False


FAST = IpoptSettings(tolerance=1e-3, iterations=40)


class _Search:
    """One search: what is best so far, and how long each step takes."""

    def __init__(
        self,
        problem: Problem,
        aim: Aim | None,
        budget: Budget,
        settings: SearchSettings,
        seed: int,
    ) -> None:
        self._problem, self._aim, self._budget = problem, aim, budget
        self._settings, self._seed = settings, seed
        self._begin, self._begin_cpu = time.monotonic(), time.process_time()
        self._best: PlanCertificate | None = None
        self._cost = self._first = np.inf
        self._refused: PlanCertificate | None = None
        self._seconds: dict[str, float] = {}
        self._slowest = {'certify': settings.slow, 'sets': settings.slow}
        self._starts = 0
        self._improved: list[tuple[float, float]] = []
        self._unbounded = ''  # why the tracking error of a plan has no bound
        self._check = NominalCheck(problem, settings.checks)

    def finding(self) -> SearchFinding:
        """Look, and say what was found, whatever happens."""
        trouble = ''
        try:
            outcome = self._outcome()
        except SafeSysidError as error:
            outcome, trouble = SearchOutcome.UNUSABLE, str(error)
        if self._best is not None:
            outcome, trouble = SearchOutcome.FOUND, ''
        elif self._refused is None:
            trouble = trouble or self._unbounded
        return SearchFinding(
            outcome,
            self._best,
            self._cost,
            self._refused,
            trouble,
            self._seconds | {'total': time.monotonic() - self._begin},
            self._starts,
            self._first,
            improved=tuple(self._improved),
        )

    def _outcome(self) -> SearchOutcome:
        """Go through the phases; why there is no certified plan, if there is none."""
        curve = self._problem.horizon.curve
        cost = self._cost_function()
        gentle = gentlest(curve)
        with self._timed('gentle'):
            if self._certify(gentle, cost) is None:
                return self._interruption
        if self._best is None and not (np.any(curve.qd0) or np.any(curve.qdd0)):
            # every plan from rest begins with what standing still is all the time
            return SearchOutcome.INFEASIBLE
        if self._aim is None:
            return SearchOutcome.NONE_CERTIFIED
        for batch in range(BATCHES):
            with self._timed('candidates'):
                ranking = self._ranked(self._candidates(gentle, batch), cost)
                self._certify_some(ranking, cost)
            with self._timed('nearby'):
                self._look_nearby(cost)
            with self._timed('refine'):
                self._refine(ranking[0].k if ranking else gentle, cost)
            if self._best is not None or not self._has_time_for('certify'):
                break
        stopped = self._budget.is_cancelled or self._budget.left < self._needed('certify')
        return self._interruption if stopped else SearchOutcome.NONE_CERTIFIED

    @property
    def _interruption(self) -> SearchOutcome:
        return SearchOutcome.CANCELLED if self._budget.is_cancelled else SearchOutcome.OUT_OF_TIME

    def _cost_function(self) -> Callable[[Array], float]:
        """Cost of one plan."""
        aim, horizon = self._aim, self._problem.horizon
        if aim is None:
            return _no_cost
        still = np.zeros(horizon.n)
        unit = replace(horizon, k_center=still, k_range=still + 1.0)
        return aim.cost(unit).value

    def _certify(self, k: Array, cost: Callable[[Array], float]) -> PlanCertificate | None:
        """Try to prove one plan, and keep it if it is better; None when there is no time."""
        if not self._has_time_for('certify'):
            return None
        value = cost(k)
        self._starts += 1
        with self._paced('certify'):
            certificate = ReachableSet.certify_center(self._with_center(k))
        if not certificate.holds:
            if self._refused is None or _share(certificate) > _share(self._refused):
                self._refused = certificate
        elif value < self._cost or self._best is None:
            self._best, self._cost = certificate, value
            self._first = min(self._first, time.monotonic() - self._begin)
            self._improved.append((time.process_time() - self._begin_cpu, value))
        return certificate

    def _ranked(
        self, plans: Iterable[Array], cost: Callable[[Array], float], below: float = np.inf
    ) -> list[PlanCandidate]:
        """Plans of a cost below a figure that pass the cheap checks, the best ones first.

        Few plans about a good one are better: where a figure is given the cost comes first.
        """
        check = self._check
        nearby = self._refused if self._best is None else self._best
        if nearby is not None:
            check = check.beside(nearby)
        found: list[PlanCandidate] = []
        spare = 1.0 if self._best is None else 2.0  # certificates; any plan is better than none
        for number, k in enumerate(plans):
            if self._budget.is_cancelled or self._budget.left < spare * self._needed('certify'):
                break
            if below < np.inf and not cost(k) < below:
                continue
            margin = check.margin(k)
            value = cost(k) if margin > 0.0 else np.inf
            if value < np.inf:  # a cost that is not a number costs a candidate, no more
                found.append(PlanCandidate(value, number, margin, k))
        return sorted(found, key=lambda each: (each.cost, each.number))

    def _candidates(self, gentle: Array, batch: int) -> Iterator[Array]:
        """Suggestions of the aim, then plans all around the gentle one within the limits."""
        assert self._aim is not None
        if batch == 0:
            yield from self._aim.suggestions(self._problem.horizon.curve)
        count = self._settings.candidates
        points = spread(self._seed, (batch + 1) * count, len(gentle))[batch * count :]
        yield from around(self._problem, gentle, self._settings.wide, points)

    def _look_nearby(self, cost: Callable[[Array], float]) -> None:
        """Plans about the best one that are cheaper, in a smaller range whenever there is none."""
        settings, near = self._settings, self._settings.near
        count, n = settings.fewer, self._problem.horizon.n
        if not count:
            return
        for points in spread(self._seed, settings.nearby * count, n).reshape(-1, count, n):
            if self._best is None or not self._has_time_for('certify'):
                return
            before = self._cost
            nearby = around(self._problem, self._best.k, near, points)
            self._certify_some(self._ranked(nearby, cost, before - SAME), cost)
            near *= 1.0 if self._cost < before else NEARER

    def _certify_some(self, ranking: list[PlanCandidate], cost: Callable[[Array], float]) -> None:
        """Certify in order, until one is proven: those after it cost more.

        After a failure only plans that are safer by the cheap checks are worth a certificate.
        """
        left, asked = list(ranking), 0.0
        for _ in range(min(self._settings.trials, len(ranking))):
            candidate = most_promising(left, asked)
            left = [each for each in left if each is not candidate]
            try:
                certificate = self._certify(candidate.k, cost)
            except BoundError as error:  # as far from being proven as can be
                self._unbounded = str(error)
                asked = asked_after(candidate, -np.inf)
                continue
            if certificate is None or certificate.holds:
                return
            asked = asked_after(candidate, _share(certificate))

    def _refine(self, start: Array, cost: Callable[[Array], float]) -> None:
        """Improve the best plan, or the most promising one when none is certified yet."""
        center = start if self._best is None else self._best.k
        half = self._settings.narrow
        for _ in range(self._settings.rounds):
            if not (self._has_time_for('sets') and self._has_time_for('certify')):
                return
            before = self._cost
            try:
                k = self._minimised(center, half)
                if k is None or self._certify(k, cost) is None:
                    return
            except BoundError as error:
                self._unbounded = str(error)
            if self._cost < before - SAME and self._best is not None:
                center, half = self._best.k, 1.5 * half
            else:
                half *= 0.4

    def _minimised(self, center: Array, half: float) -> Array | None:
        """Best plan within a range that Ipopt finds in time."""
        assert self._aim is not None
        problem = self._problem
        horizon = replace(
            problem.horizon,
            k_center=center,
            k_range=np.full(len(center), half),
            intervals=self._settings.intervals,
        )
        with self._paced('sets'):
            sets = ReachableSet.of(replace(problem, horizon=horizon))
        still = np.zeros(len(center))
        if self._best is not None and sets.evaluate(still).values.min(initial=0.0) < 0.0:
            return None  # bounds so wide that sets of a range prove less than those of its middle
        nlp = TrajectoryProblem(self._aim.cost(horizon), sets, len(center))
        seconds = min(self._settings.ipopt_seconds, self._budget.left - self._needed('certify'))
        if seconds <= 0.0:
            return None
        result = solve(nlp, still, seconds, self._budget.cancelled, FAST)
        return sets.k(result.x) if np.isfinite(result.violation) else None

    def _with_center(self, k: Array) -> Problem:
        return replace(self._problem, horizon=replace(self._problem.horizon, k_center=k))

    def _needed(self, step: str) -> float:
        """Seconds to leave for a step."""
        return RESERVE * self._slowest[step]

    def _has_time_for(self, step: str) -> bool:
        return not self._budget.is_cancelled and self._budget.left > self._needed(step)

    @contextmanager
    def _paced(self, step: str) -> Iterator[None]:
        """Remember how long a step takes; the expectation counts until it was timed once."""
        begin = self._budget.now
        yield
        taken = self._budget.now - begin
        known = self._slowest[step]
        self._slowest[step] = taken if known == self._settings.slow else max(known, taken)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        begin = time.monotonic()
        try:
            yield
        finally:
            taken = time.monotonic() - begin
            self._seconds[phase] = self._seconds.get(phase, 0.0) + taken


def _no_cost(_: Array) -> float:
    return 0.0


def _share(certificate: PlanCertificate) -> float:
    """Smallest margin as a share of its limit, clearances as those of `NominalCheck`."""
    smallest = certificate.smallest
    return smallest.margin / abs(smallest.limit) if smallest.limit else smallest.margin / NEAR
