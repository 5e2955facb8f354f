"""Ipopt with a wall-clock budget: gives the best point it has seen, whatever happens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from threading import Event
import time
from typing import Protocol

import cyipopt
import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, SafeSysidError


class Outcome(Enum):
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
    jacobian: Array  # (m, n)

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
class IpoptSettings:
    """How hard to try."""

    tolerance: float = 1e-4  # of optimality
    iterations: int = 200
    inside: float = (
        1e-4  # by how much constraints are asked to hold, so that tolerances don't matter
    )

    def __post_init__(self) -> None:
        if not (self.tolerance > 0.0 and self.iterations >= 0 and self.inside >= 0.0):
            raise BoundError(f'{self} needs a tolerance above 0 and nothing below 0')


@dataclass(frozen=True, eq=False)
class NlpResult:
    """The best point seen: one that breaks constraints least, among those the cheapest."""

    x: Array
    cost: float  # infinite when there was no time to evaluate anything
    violation: float  # of the constraints, 0 when x satisfies all, infinite like the cost
    outcome: Outcome
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
_LARGE = 1e100  # Ipopt's own arithmetic overflows with numbers beyond
_SOLVED = (0, 1)  # Solve_Succeeded, Solved_To_Acceptable_Level
_OUTCOMES = {
    2: Outcome.INFEASIBLE,
    -1: Outcome.OUT_OF_ITERATIONS,
    -4: Outcome.OUT_OF_TIME,
    -5: Outcome.OUT_OF_TIME,
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
    count = search.constraint_count(x0)
    status = None if count is None else _run(search, x0, count, seconds, settings)
    return NlpResult(
        search.best_x,
        search.best_cost,
        search.best_violation,
        search.outcome(status),
        search.iterations,
        search.evaluations,
        time.monotonic() - start,
        search.trouble,
    )


def _run(search: _Search, x0: Array, count: int, seconds: float, settings: IpoptSettings) -> int:
    """Status of Ipopt."""
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
        'max_wall_time': max(float(seconds), 1e-3),
        'bound_relax_factor': 0.0,
    }.items():
        solver.add_option(option, value)
    _, information = solver.solve(x0)
    return int(information['status'])


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
        self.best_x = np.zeros(0)
        self.best_cost = self.best_violation = np.inf
        self.iterations = self.evaluations = 0
        self.trouble = ''
        self._deadline = deadline
        self._cancelled = cancelled
        self._inside = inside
        self._at = np.zeros(0)
        self._value: Evaluation | None = None

    def constraint_count(self, x: Array) -> int | None:
        """Constraints at the start; None when there is no time, or x can't be evaluated."""
        try:
            return len(self._evaluate(x).constraints)
        except cyipopt.CyIpoptEvaluationError:
            return None

    def outcome(self, status: int | None) -> Outcome:
        """Why the search ended; whoever stopped it comes first."""
        if status in _SOLVED:
            return Outcome.SOLVED
        if self._cancelled is not None and self._cancelled.is_set():
            return Outcome.CANCELLED
        if time.monotonic() >= self._deadline:
            return Outcome.OUT_OF_TIME
        return _OUTCOMES.get(status, Outcome.FAILED) if status is not None else Outcome.FAILED

    def objective(self, x: Array) -> float:
        """Cost."""
        return self._evaluate(x).cost

    def gradient(self, x: Array) -> Array:
        """Of the cost."""
        return self._evaluate(x).gradient

    def constraints(self, x: Array) -> Array:
        """At least 0 when they hold with something to spare."""
        return self._evaluate(x).constraints - self._inside

    def jacobian(self, x: Array) -> Array:
        """Of the constraints, row by row."""
        return self._evaluate(x).jacobian.ravel()

    def intermediate(self, _mode: int, iterations: int, *_numbers: float) -> bool:
        """Whether to go on."""
        self.iterations = iterations
        return not self._is_over()

    def _is_over(self) -> bool:
        if self._cancelled is not None and self._cancelled.is_set():
            return True
        return time.monotonic() >= self._deadline

    def _evaluate(self, x: Array) -> Evaluation:
        """The problem at x, which Ipopt asks for four times in a row."""
        if self._value is not None and np.array_equal(x, self._at):
            return self._value
        if self._is_over():
            raise cyipopt.CyIpoptEvaluationError
        x = np.array(x)
        self.evaluations += 1
        try:
            value = self.problem.evaluate(x)
        except (SafeSysidError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.trouble = f'{type(error).__name__}: {error}'
            raise cyipopt.CyIpoptEvaluationError from error
        if not _is_finite(value):
            self.trouble = f'cost, constraints or their derivatives are not finite at x = {x}'
            raise cyipopt.CyIpoptEvaluationError
        self._at, self._value = x, value
        self._remember(x, value)
        return value

    def _remember(self, x: Array, value: Evaluation) -> None:
        if (value.violation, value.cost) < (self.best_violation, self.best_cost):
            self.best_x, self.best_cost, self.best_violation = x, value.cost, value.violation


def _is_finite(value: Evaluation) -> bool:
    parts = (value.cost, value.gradient, value.constraints, value.jacobian)
    return all(bool(np.all(np.abs(part) < _LARGE)) for part in parts)
