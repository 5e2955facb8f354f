"""TrajectoryProblem: cost and constraints of one horizon as a nonlinear program in x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.plan.cost.terms import Cost
from safe_sysid.plan.search.ipopt import Evaluation


class Margins(Protocol):
    """Margins at one x, satisfied when at least 0, such as `reach.reachable_set` gives."""

    @property
    def values(self) -> Array:
        """Margins, (m,)."""

    @property
    def variables(self) -> int:
        """Number of variables n that they have derivatives in."""

    @property
    def slopes(self) -> Callable[[IntArray], Array]:
        """Derivatives (., n) of some of them, in ascending order."""


class Constraints(Protocol):
    """What a plan must not break, as functions of x."""

    def evaluate(self, x: npt.ArrayLike) -> Margins:
        """Margins and their derivatives."""


@dataclass(frozen=True, eq=False)
class TrajectoryProblem:
    """Minimise a cost over x in [-1, 1]^n with every margin at least 0."""

    cost: Cost
    constraints: Constraints
    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise BoundError(f'{self.n} joints: a plan without joints has nothing to optimise')

    @property
    def lower(self) -> Array:
        """Smallest x."""
        return np.full(self.n, -1.0)

    @property
    def upper(self) -> Array:
        """Largest x."""
        return np.full(self.n, 1.0)

    def evaluate(self, x: npt.ArrayLike) -> Evaluation:
        """Cost and margins with their derivatives."""
        cost, margins = self.cost.evaluate(x), self.constraints.evaluate(x)
        if margins.variables != self.n:
            raise BoundError(
                f'constraints have derivatives in {margins.variables} variables instead '
                f'of {self.n}; sets of one single plan (k_range = 0) leave nothing to optimise'
            )
        return Evaluation(cost.value, cost.gradient, margins.values, margins.slopes)
