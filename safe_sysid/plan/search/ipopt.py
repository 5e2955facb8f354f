"""Ipopt with a wall-clock budget: gives the best point it has seen, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Event
import time
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array, IntArray
from safe_sysid.config import Count, NotNegative, Positive, Settings
from safe_sysid.errors import BoundError, SafeSysidError
from safe_sysid.ipopt_library import cyipopt
from safe_sysid.plan.search.working_rows import nearest_rows, with_broken_rows


class SolverOutcome(Enum):
    """Why a search ended, in words for the operator."""

    SOLVED = 'solved'
    INFEASIBLE = 'no point nearby satisfies every constraint'
    OUT_OF_TIME = 'the time budget is used up'
    CANCELLED = 'cancelled'
    OUT_OF_ITERATIONS = 'stopped after the largest number of iterations'
    FAILED = 'stopped early because of numerical trouble'


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A problem at one x; constraints are satisfied when at least 0."""

    cost: float
    gradient: Array  # (n,)
    constraints: Array  # (m,)
    slopes: Callable[[IntArray], Array]  # derivatives (., n) of some, in ascending order

    @property
    def violation(self) -> float:
        """By how much the worst constraint is broken, 0 if none is."""
        return max(0.0, -float(self.constraints.min(initial=0.0)))


class NonlinearProgram(Protocol):
    """Minimise a cost over a box, with constraints."""

    @property
    def lower(self) -> Array:
        """Smallest x, (n,)."""

    @property
    def upper(self) -> Array:
        """Largest x, (n,)."""

    def evaluate(self, x: npt.ArrayLike) -> Evaluation:
        """Everything at x; m is the same at every x."""


@dataclass(frozen=True)
class IpoptSettings(Settings):
    """How hard to try."""

    tolerance: Positive = 1e-4  # of optimality
    iterations: Count = 200
    inside: NotNegative = 1e-4  # by which constraints are to hold, so that tolerances don't matter
    rows: Count = 100  # constraints to begin with, and to add when others turn out broken


@dataclass(frozen=True, eq=False)
class NlpResult:
    """The best point seen: one that breaks constraints least, among those the cheapest."""

    x: Array
    cost: float  # infinite when there was no time to evaluate anything
    violation: float  # of the constraints, 0 when x satisfies all, infinite like the cost
    outcome: SolverOutcome
    iterations: int
    evaluations: int
    seconds: float
    trouble: str = ''  # why the last point that could not be evaluated could not be

    @property
    def is_feasible(self) -> bool:
        """Whether x satisfies every constraint."""
        return self.violation == 0.0

    def __str__(self) -> str:
        return (
            f'{self.outcome.value}: cost {self.cost:.4g}, violation {self.violation:.3g} after '
            f'{self.iterations} iterations, {self.seconds:.3f} s'
        )


DEFAULTS = IpoptSettings()
_NOT_FINITE = 'cost, constraints or their derivatives are not finite at x = {}'
_LARGE = 1e100  # Ipopt's own arithmetic overflows with numbers beyond
_OUTCOMES = {  # of the return codes of Ipopt; any other means trouble
    0: SolverOutcome.SOLVED,
    1: SolverOutcome.SOLVED,
    2: SolverOutcome.INFEASIBLE,
    -1: SolverOutcome.OUT_OF_ITERATIONS,
    -4: SolverOutcome.OUT_OF_TIME,
    -5: SolverOutcome.OUT_OF_TIME,
}


def solve(
    problem: NonlinearProgram,
    x0: npt.ArrayLike,
    seconds: float,
    cancelled: Event | None = None,
    settings: IpoptSettings = DEFAULTS,
) -> NlpResult:
    """Search from x0 for at most `seconds` of wall-clock time, or until `cancelled` is set.

    Time is looked at before every evaluation and after every iteration, so that the end is late
    by one evaluation or one linear solve at most. A point that can't be evaluated (numbers that
    are not finite, a SafeSysidError) is one that Ipopt turns back from; other errors are raised.
    """
    start = time.monotonic()
    search = _Search(problem, start + seconds, cancelled, settings.inside)
    x0 = np.clip(np.asarray(x0, dtype=np.float64), problem.lower, problem.upper)
    search.best_x = x0
    if not np.all(np.isfinite(x0)):
        raise BoundError(f'the start x0 = {x0} of a search has to be finite numbers')
    outcome = _search_rows(search, x0, settings)
    return NlpResult(
        search.best_x,
        search.best_cost,
        search.best_violation,
        outcome,
        search.iterations,
        search.evaluations,
        time.monotonic() - start,
        search.trouble,
    )


def _search_rows(search: _Search, x0: Array, settings: IpoptSettings) -> SolverOutcome:
    """Run Ipopt with few rows, and with those it broke as well, until it breaks no more."""
    first = search.try_evaluating(x0)
    if first is None:
        return search.stopped or SolverOutcome.FAILED
    slopes = first.slopes(np.arange(len(first.constraints)))
    if not _is_finite(slopes):
        search.trouble = _NOT_FINITE.format(x0)
        return SolverOutcome.FAILED
    search.look_at(nearest_rows(first.constraints, slopes, settings.rows))
    x = x0
    outcome = SolverOutcome.OUT_OF_TIME
    while search.stopped is None:
        x, outcome = _run(search, x, settings)
        if outcome is not SolverOutcome.SOLVED:
            return search.stopped or outcome
        last = search.try_evaluating(x)
        if last is None:  # out of time between the last step and here
            return search.stopped or SolverOutcome.FAILED
        rows = with_broken_rows(search.rows, last.constraints, settings.rows)
        if len(rows) == len(search.rows):
            return outcome
        search.look_at(rows)
    return search.stopped or outcome


def _run(search: _Search, x0: Array, settings: IpoptSettings) -> tuple[Array, SolverOutcome]:
    """Where Ipopt ends, and why, with the rows of the search."""
    count = len(search.rows)
    solver = cyipopt.Problem(
        n=len(x0),
        m=count,
        problem_obj=search,
        lb=search.problem.lower,
        ub=search.problem.upper,
        cl=np.zeros(count),
        cu=np.full(count, np.inf),
    )
    for option, value in {
        'print_level': 0,
        'sb': 'yes',
        'linear_solver': 'mumps',
        'hessian_approximation': 'limited-memory',
        'tol': settings.tolerance,
        'constr_viol_tol': max(settings.inside, 1e-8),
        'max_iter': settings.iterations,
        'max_wall_time': max(search.seconds_left, 1e-3),
        'bound_relax_factor': 0.0,
    }.items():
        solver.add_option(option, value)
    search.iterations_before = search.iterations
    x, information = solver.solve(x0)
    return np.asarray(x), _OUTCOMES.get(int(information['status']), SolverOutcome.FAILED)


class _Search:
    """One run of Ipopt: its callbacks, the clock, and the best point so far."""

    def __init__(
        self,
        problem: NonlinearProgram,
        deadline: float,
        cancelled: Event | None,
        inside: float,
    ) -> None:
        self.problem = problem
        self.rows = np.zeros(0, dtype=np.int64)  # constraints that Ipopt is told about
        self.best_x = np.zeros(0)
        self.best_cost = self.best_violation = np.inf
        self.iterations = self.iterations_before = self.evaluations = 0
        self.trouble = ''
        self._deadline = deadline
        self._cancelled = cancelled
        self._inside = inside
        self._at = np.zeros(0)
        self._value: Evaluation | None = None
        self._slopes = np.zeros((0, 0))

    def look_at(self, rows: IntArray) -> None:
        """Tell Ipopt about these constraints, in ascending order, from now on."""
        self.rows = rows
        if self._value is not None:
            self._slopes = self._value.slopes(rows)

    def try_evaluating(self, x: Array) -> Evaluation | None:
        """Return the problem at x, or None when there is no time left or it can't be evaluated."""
        try:
            return self._evaluate(x)
        except cyipopt.CyIpoptEvaluationError:
            return None

    @property
    def seconds_left(self) -> float:
        """Until the deadline."""
        return self._deadline - time.monotonic()

    @property
    def stopped(self) -> SolverOutcome | None:
        """Whether somebody or the clock ends the search."""
        if self._cancelled is not None and self._cancelled.is_set():
            return SolverOutcome.CANCELLED
        return SolverOutcome.OUT_OF_TIME if self.seconds_left <= 0.0 else None

    def objective(self, x: Array) -> float:
        """Cost."""
        return self._evaluate(x).cost

    def gradient(self, x: Array) -> Array:
        """Of the cost."""
        return self._evaluate(x).gradient

    def constraints(self, x: Array) -> Array:
        """At least 0 when they hold with something to spare."""
        return self._evaluate(x).constraints[self.rows] - self._inside

    def jacobian(self, x: Array) -> Array:
        """Of the constraints, row by row."""
        self._evaluate(x)
        return self._slopes.ravel()

    def intermediate(self, _mode: int, iterations: int, *_numbers: float) -> bool:
        """Whether to go on."""
        self.iterations = self.iterations_before + iterations
        return self.stopped is None

    def _evaluate(self, x: Array) -> Evaluation:
        """Return the problem at x, which Ipopt asks for four times in a row."""
        if self._value is not None and np.array_equal(x, self._at):
            return self._value
        if self.stopped is not None:
            raise cyipopt.CyIpoptEvaluationError
        x = np.array(x)
        self.evaluations += 1
        try:
            value = self.problem.evaluate(x)
            slopes = value.slopes(self.rows)
        except (SafeSysidError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.trouble = f'{type(error).__name__}: {error}'
            raise cyipopt.CyIpoptEvaluationError from error
        if not _is_finite(value.cost, value.gradient, value.constraints, slopes):
            self.trouble = _NOT_FINITE.format(x)
            raise cyipopt.CyIpoptEvaluationError
        self._at, self._value, self._slopes = x, value, slopes
        self._remember(x, value)
        return value

    def _remember(self, x: Array, value: Evaluation) -> None:
        if (value.violation, value.cost) < (self.best_violation, self.best_cost):
            self.best_x, self.best_cost, self.best_violation = x, value.cost, value.violation


def _is_finite(*parts: float | Array) -> bool:
    return all(bool(np.all(np.abs(part) < _LARGE)) for part in parts)
