"""Optima of linear functions over a polytope by HiGHS, and the duals that prove them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
import time

import highspy
import numpy as np

from safe_sysid.arrays import Array, IntArray

ITERATIONS = 5  # of the simplex method per row and column; one is usual, more is going in circles
DUAL, PRIMAL = 1, 4  # simplex methods
_BASIC = highspy.HighsBasisStatus.kBasic
_Status = highspy.HighsModelStatus


class Ending(Enum):
    """Why no more directions are looked at."""

    ALL_DONE = 'all directions are done'
    PIVOTS = 'the budget of pivots is spent'
    CLOCK = 'time is up: what is found depends on how busy the machine is'


@dataclass
class Budget:
    """Work that is left; `deadline` is the last resort, as the clock is not the same for all."""

    pivots: float  # of the simplex method
    deadline: float = np.inf  # [s] of time.monotonic

    @property
    def ending(self) -> Ending:
        """What has run out."""
        if time.monotonic() >= self.deadline:
            return Ending.CLOCK
        return Ending.PIVOTS if self.pivots <= 0 else Ending.ALL_DONE


@dataclass(frozen=True, eq=False)
class Polytope:
    """All x in a box with lower <= A x <= upper, in coordinates in which the box is about 1."""

    A: Array  # (m, n)
    lower: Array  # (m,), may be -inf
    upper: Array  # (m,), may be inf
    box_lower: Array  # (n,)
    box_upper: Array  # (n,)


@dataclass(frozen=True, eq=False)
class Optimum:
    """What HiGHS says about one direction; `dual` is an argument, not yet a proof."""

    feasible: bool
    x: Array  # (n,)
    dual: Array  # (m,) y with c = A'y + reduced costs


@dataclass
class Basis:
    """Where the simplex method stood for one direction: which columns and rows were basic."""

    columns: list[highspy.HighsBasisStatus] = field(default_factory=list)
    rows: list[highspy.HighsBasisStatus] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the rows, and of some that came later

    def of_rows(self, numbers: list[int]) -> list[highspy.HighsBasisStatus]:
        """Return the statuses of rows with these numbers; those that are not known are basic."""
        if numbers is self.numbers:  # the same program, to which rows may have been added
            return self.rows + [_BASIC] * (len(numbers) - len(self.rows))
        known = dict(zip(self.numbers, self.rows, strict=False))
        return [known.get(number, _BASIC) for number in numbers]


class LinearPrograms:
    """One polytope and many directions; each starts where its last run ended."""

    def __init__(self, polytope: Polytope, row_numbers: IntArray, budget: Budget) -> None:
        self._highs = highspy.Highs()
        self._budget = budget
        self._numbers = [int(i) for i in row_numbers]
        self._columns = polytope.A.shape[1]
        self._solved = False  # whether the last direction was, with the rows there are now
        for option, value in (('output_flag', False), ('threads', 1), ('presolve', 'off')):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(_program(polytope))

    def maximum(self, cost: Array, basis: Basis) -> Optimum | None:
        """Largest cost . x for the first entries of x; None if out of budget or given up."""
        whole = np.zeros(self._columns)  # HiGHS reads as many numbers as it is told, unchecked
        whole[: len(cost)] = -cost
        self._highs.changeColsCost(self._columns, np.arange(self._columns, dtype=np.int32), whole)
        # from the optimum of another direction the primal method goes on, which is feasible there
        goes_on = self._solved and not basis.columns
        self._highs.setOptionValue('simplex_strategy', PRIMAL if goes_on else DUAL)
        self._start_from(basis)
        status = self._run()
        self._solved = status == _Status.kOptimal
        if status == _Status.kIterationLimit and self._budget.pivots > 0:
            # it circles; another start need not
            self._highs.clearSolver()
            status = self._run()
        if status == _Status.kInfeasible:
            return Optimum(False, np.zeros(self._columns), np.zeros(len(self._numbers)))
        if status != _Status.kOptimal:
            return None
        self._remember(basis)
        solution = self._highs.getSolution()
        return Optimum(True, np.array(solution.col_value), -np.array(solution.row_dual))

    def _run(self) -> highspy.HighsModelStatus:
        if self._budget.ending is not Ending.ALL_DONE:
            return _Status.kIterationLimit
        left = min(self._budget.deadline - time.monotonic(), highspy.kHighsInf)
        self._highs.setOptionValue('time_limit', self._highs.getRunTime() + left)
        limit = ITERATIONS * (self._columns + len(self._numbers))
        limit = int(max(1, min(limit, self._budget.pivots)))
        self._highs.setOptionValue('simplex_iteration_limit', limit)
        self._highs.run()
        self._budget.pivots -= max(0, self._highs.getInfo().simplex_iteration_count)
        status: highspy.HighsModelStatus = self._highs.getModelStatus()
        return status

    def add_rows(
        self, A: Array, lower: Array, numbers: IntArray, upper: Array | float = np.inf
    ) -> None:
        """Rows lower <= A x <= upper more; the bases that are known stay usable."""
        self._solved = False
        tops = np.broadcast_to(upper, np.shape(lower))
        for row, bottom, top in zip(A, lower, tops, strict=True):
            columns = np.flatnonzero(row).astype(np.int32)
            self._highs.addRow(float(bottom), float(top), len(columns), columns, row[columns])
        self._numbers += [int(i) for i in numbers]  # the same list, which bases know

    def _start_from(self, basis: Basis) -> None:
        if not basis.columns:
            return
        start = highspy.HighsBasis()
        start.col_status = basis.columns
        statuses = basis.of_rows(self._numbers)
        start.row_status = statuses
        is_whole = basis.numbers is self._numbers  # what was added since is basic
        # of another program a row that was tight and is gone leaves too few
        if is_whole or [*statuses, *basis.columns].count(_BASIC) == len(self._numbers):
            start.valid = True
            self._highs.setBasis(start)

    def _remember(self, basis: Basis) -> None:
        now = self._highs.getBasis()
        basis.columns, basis.rows = list(now.col_status), list(now.row_status)
        basis.numbers = self._numbers


def _program(polytope: Polytope) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = polytope.A.shape
    lp.col_cost_ = np.zeros(polytope.A.shape[1])
    lp.col_lower_, lp.col_upper_ = polytope.box_lower, polytope.box_upper
    lp.row_lower_, lp.row_upper_ = polytope.lower, polytope.upper
    columns, rows = np.nonzero(polytope.A.T)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    ends = np.searchsorted(columns, np.arange(polytope.A.shape[1] + 1))
    lp.a_matrix_.start_ = ends.astype(np.int32)
    lp.a_matrix_.index_ = rows.astype(np.int32)
    lp.a_matrix_.value_ = polytope.A[rows, columns]
    return lp
