"""Interval bounds on theta_e by linear programs over all parameters at once; guaranteed.

The parameters that no measurement contradicts are the polytope

    |Y_e theta_e + Y_r theta_r - b| <= delta,  theta_e in prior,  theta_r in rest,  J(theta_e) >= 0

with theta_r one unknown that all rows share, and the last condition by linear cuts. Its interval
hull is twenty linear programs. What a solver returns is not a proof; its dual y is turned into
one. For every x in the polytope and every y,

    c . x = y . (A x) + (c - A'y) . x <= sum of y_k times the bound of row k on that side
                                          + sup over the box of (c - A'y) . x

and the right side is evaluated in interval arithmetic (Neumaier and Shcherbina 2004). So neither
the solver's tolerances nor a run that stopped early can make a bound wrong, only wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.identify.broken_promise import explanations
from safe_sysid.identify.consistency_cuts import distinct, first_vectors, violated_vectors
from safe_sysid.identify.contradiction import (
    Contradiction,
    ContradictionError,
    contradiction_of,
)
from safe_sysid.identify.linear_programs import (
    Basis,
    Budget,
    Ending,
    Optimum,
    Polytope,
)
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.parameter_polytope import ParameterPolytope
from safe_sysid.identify.working_programs import WorkingRows
from safe_sysid.sets.interval import Interval

CUT_ROUNDS = 6  # of adding cuts where an optimum is no body, and solving again
CUTS_PER_ROUND = 40
MISSED = 1e-9  # of the size of a cut, by which an optimum may miss it and still be the optimum
_FIRST_CUT = -100  # numbers of cuts are negative, rows have the others
_COSTS = np.concatenate([np.eye(10), -np.eye(10)], axis=1)  # largest, then smallest values
_ORDER = (0, 10, *range(1, 10), *range(11, 20))  # both ends of the mass first, if work runs out


class Programs(Protocol):
    """Optima over one polytope, which rows may be added to."""

    def maximum(self, cost: Array, basis: Basis) -> Optimum | None:
        """Largest cost . x for the first entries of x; None if out of budget or given up."""

    def add_rows(
        self, A: Array, lower: Array, numbers: IntArray, upper: Array | float = np.inf
    ) -> None:
        """Rows lower <= A x <= upper more."""


Solver = Callable[[Polytope, IntArray, Budget], Programs]


@dataclass(frozen=True, eq=False)
class Membership:
    """Bounds on theta_e, or the contradiction for which there are none."""

    bounds: Interval | None
    center: Array | None  # (10,) mean of the optima: deep inside the set, but not proven to be
    contradiction: Contradiction | None
    weight: Array  # (m,) how much each row of the observation matters to the bounds, 0 if not
    ending: Ending  # whether every direction was solved, or what ran out


def set_membership(observation: Observation, rest: Interval, prior: Interval) -> Interval:
    """Bounds on theta_e from all rows at once, for theta_r in rest and theta_e in prior."""
    names = tuple(f'joint {j}' for j in range(int(observation.joint.max()) + 1))
    found = SetMembership(names, reach=None).solve(observation, rest, prior)
    if found.contradiction is not None:
        raise ContradictionError(found.contradiction)
    assert found.bounds is not None
    return found.bounds


class SetMembership:
    """Solves one observation after the other, each from where the last ended."""

    def __init__(
        self,
        joint_names: Sequence[str],
        reach: float | None,
        labels: Sequence[str] = (),
        solver: Solver | None = None,
    ) -> None:
        """`labels` are those of theta_r, for who wants to know which promise is broken."""
        self._solver = solver or WorkingRows()
        self._joint_names, self._labels = tuple(joint_names), tuple(labels)
        self._reach = reach
        self._bases = [Basis() for _ in _COSTS.T]
        self._vectors = first_vectors()
        self._numbers = _FIRST_CUT - np.arange(len(self._vectors))
        self._next_number = int(self._numbers[-1]) - 1

    def solve(
        self,
        observation: Observation,
        rest: Interval,
        prior: Interval,
        row_numbers: IntArray | None = None,
        budget: Budget | None = None,
    ) -> Membership:
        """Bounds within a budget; rows keep their numbers from one solve to the next."""
        budget = budget or Budget(np.inf)
        polytope = ParameterPolytope(observation, rest, prior, self._reach)
        polytope.add_cuts(self._vectors)
        numbers = np.arange(len(observation)) if row_numbers is None else row_numbers
        of_reach = _FIRST_CUT + 1 + np.arange(polytope.cut_count - len(self._vectors))
        programs = self._solver(
            polytope.scaled(), np.concatenate([numbers, of_reach, self._numbers]), budget
        )
        optima = self._optima(programs, polytope)
        if optima is None:
            return self._emptiness(polytope, budget)
        return self._proven(polytope, optima, budget)

    def _optima(
        self, programs: Programs, polytope: ParameterPolytope
    ) -> list[Optimum | None] | None:
        """Best point and dual of every direction, None where no budget was left; None if empty."""
        optima: list[Optimum | None] = [None] * _COSTS.shape[1]
        due: Sequence[int] = _ORDER
        for round_number in range(CUT_ROUNDS + 1):
            for direction in due:
                optimum = programs.maximum(_COSTS[:, direction], self._bases[direction])
                if optimum is None:
                    return optima
                if not optimum.feasible:
                    return None
                optima[direction] = optimum
            points = np.array([o.x for o in optima if o is not None])
            vectors = distinct(violated_vectors(polytope.bodies(points)), self._vectors)
            vectors = vectors[:CUTS_PER_ROUND]
            if len(vectors) == 0 or round_number == CUT_ROUNDS:
                break
            first = polytope.cut_count
            polytope.add_cuts(vectors)
            rows, lows = polytope.scaled_cuts(first)
            programs.add_rows(rows, lows, self._number(vectors))
            is_cut_off = (points @ rows.T < lows - MISSED).any(axis=1)
            due = [direction for direction in _ORDER if is_cut_off[direction]]
        return optima

    def _number(self, vectors: Array) -> IntArray:
        """Remember cuts, each with a number of its own."""
        numbers = self._next_number - np.arange(len(vectors))
        self._next_number -= len(vectors)
        self._vectors = np.concatenate([self._vectors, vectors])
        self._numbers = np.concatenate([self._numbers, numbers])
        return numbers

    def _keep_used(self, used: AnyArray) -> None:
        """Forget the cuts that no bound rests on, but not those from the start."""
        used[: len(first_vectors())] = True
        self._vectors, self._numbers = self._vectors[used], self._numbers[used]

    def _proven(
        self, polytope: ParameterPolytope, optima: list[Optimum | None], budget: Budget
    ) -> Membership:
        """Bounds that the duals prove."""
        m = len(polytope.observation)
        duals = np.zeros((m + polytope.cut_count, _COSTS.shape[1]))
        for direction, optimum in enumerate(optima):
            if optimum is not None:
                duals[: len(optimum.dual), direction] = optimum.dual
        largest = polytope.upper_bounds(_COSTS, duals)
        lower = np.maximum(-largest[10:], polytope.prior.lower)
        upper = np.minimum(largest[:10], polytope.prior.upper)
        if (lower > upper).any():  # two proofs that exclude each other prove emptiness
            return self._emptiness(polytope, budget)
        weight = np.abs(duals[:m]).sum(axis=1)
        self._keep_used(np.abs(duals[-len(self._vectors) :]).sum(axis=1) > 0.0)
        solved = [optimum.x for optimum in optima if optimum is not None]
        center = polytope.bodies(np.array(solved)).mean(axis=0) if solved else None
        ending = Ending.ALL_DONE if len(solved) == len(optima) else budget.ending
        return Membership(Interval(lower, upper), center, None, weight, ending)

    def _emptiness(self, polytope: ParameterPolytope, budget: Budget) -> Membership:
        """Return the contradiction, proven; without a proof the prior is all that is known."""
        m = len(polytope.observation)
        elastic = polytope.elastic()
        budget.pivots = max(budget.pivots, float(sum(elastic.A.shape)))  # to find the proof
        programs = self._solver(elastic, np.arange(len(elastic.A)), budget)
        least = np.zeros(elastic.A.shape[1])
        least[-1] = -1.0
        optimum = programs.maximum(least, Basis())
        proof = None
        if optimum is not None and optimum.feasible:
            proof = polytope.emptiness(optimum.dual)
        if proof is None:
            return Membership(polytope.prior, None, None, np.zeros(m), budget.ending)
        share, factor = proof
        found = contradiction_of(polytope.observation, share, factor, self._joint_names)
        if self._labels and optimum is not None:
            promises = explanations(polytope, optimum.dual, self._labels, budget.deadline)
            found = replace(found, promises=promises)
        return Membership(None, None, found, share, Ending.ALL_DONE)
