"""Linear programs over the few rows of a polytope that matter; the others are compared afterwards.

Of several hundred rows some twenty are tight at the optimum of a direction, others at that of
another. So a program has the rows that were tight before; an optimum of those that satisfies all
the others is the optimum of all, with a dual of 0 for those that were left out, and what is empty
without some rows is empty. Rows that are not satisfied join, the worst ones first.

From one solve to the next rows have the same numbers. Those that carried a dual in one of the last
two solves are there from the beginning, and those that were never seen, which tend to say more.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.linear_programs import Basis, Budget, LinearPrograms, Optimum, Polytope

JOINING = 10  # rows at once
KEPT = 2  # solves for which a row stays that carries no dual any more
NEW = 150  # rows never seen that are there from the beginning at most
SATISFIED = 1e-9  # in errors of a row, by which an optimum may miss one that was left out


class WorkingRows:
    """Which rows mattered, from one solve to the next; makes the programs of each."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._age: dict[int, int] = {}  # solves since a row carried a dual, by number

    def __call__(self, polytope: Polytope, numbers: IntArray, budget: Budget) -> WorkingPrograms:
        """Programs over one polytope, whose rows have these numbers."""
        there = {int(number) for number in numbers}
        new = there - self._seen
        self._seen = there  # others do not come back
        self._age = {n: age + 1 for n, age in self._age.items() if n in there and age < KEPT}
        first = set(self._age) | (new if len(new) <= NEW else set())
        return WorkingPrograms(polytope, numbers, budget, first, self._age)


class WorkingPrograms:
    """One polytope and many directions; as `LinearPrograms` otherwise."""

    def __init__(
        self,
        polytope: Polytope,
        row_numbers: IntArray,
        budget: Budget,
        first: AbstractSet[int],
        age: dict[int, int],
    ) -> None:
        """Begin with the rows of some numbers; in `age` those with a dual become 0."""
        self._whole = polytope
        self._numbers = np.asarray(row_numbers)
        self._age = age
        self._left_out = np.ones(len(polytope.A), dtype=bool)
        self._places: list[int] = []  # in the polytope, of the rows that the programs have
        empty = replace(
            polytope, A=polytope.A[:0], lower=polytope.lower[:0], upper=polytope.upper[:0]
        )
        self._programs = LinearPrograms(empty, self._numbers[:0], budget)
        is_first = [number < 0 or int(number) in first for number in self._numbers]
        self._join(np.flatnonzero(is_first))  # all cuts, of which there are few

    def maximum(self, cost: Array, basis: Basis) -> Optimum | None:
        """Largest cost . x for the first entries of x; None if out of budget or given up."""
        while True:
            optimum = self._programs.maximum(cost, basis)
            if optimum is None:
                return None
            missed = self._missed(optimum.x)
            if len(missed) == 0 or not optimum.feasible:
                return replace(optimum, dual=self._whole_dual(optimum))
            self._join(missed)

    def _whole_dual(self, optimum: Optimum) -> Array:
        """Return the dual with zeros for the rows left out, and note which rows carry it."""
        dual = np.zeros(len(self._left_out))
        if optimum.feasible:
            dual[self._places] = optimum.dual
            self._age |= {int(number): 0 for number in self._numbers[dual != 0.0]}
        return dual

    def add_rows(
        self, A: Array, lower: Array, numbers: IntArray, upper: Array | float = np.inf
    ) -> None:
        """Rows lower <= A x <= upper more; the bases that are known stay usable."""
        first, whole = len(self._left_out), self._whole
        tops = np.broadcast_to(upper, np.shape(lower))
        self._whole = replace(
            whole,
            A=np.concatenate([whole.A, A]),
            lower=np.concatenate([whole.lower, lower]),
            upper=np.concatenate([whole.upper, tops]),
        )
        self._numbers = np.concatenate([self._numbers, numbers])
        self._left_out = np.concatenate([self._left_out, np.ones(len(A), dtype=bool)])
        self._join(first + np.arange(len(A)))

    def _missed(self, x: Array) -> IntArray:
        """Rows left out that x does not satisfy, the worst ones."""
        whole = self._whole
        value = whole.A @ x
        miss = np.maximum(whole.lower - value, value - whole.upper)
        miss[~self._left_out] = 0.0
        if not (miss > SATISFIED).any():
            return np.empty(0, dtype=int)
        worst = np.argsort(-miss)[:JOINING]
        return np.asarray(worst[miss[worst] > SATISFIED])

    def _join(self, rows: IntArray) -> None:
        """Take rows of the polytope into the programs."""
        if len(rows) == 0:
            return
        whole = self._whole
        self._programs.add_rows(
            whole.A[rows], whole.lower[rows], self._numbers[rows], whole.upper[rows]
        )
        self._left_out[rows] = False
        self._places += [int(row) for row in rows]
