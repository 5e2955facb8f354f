"""Cost of plans that lead to a goal and teach on the way, in shares of what the task needs.

    J = (1 - beta) d / d_0 + beta w / w_need

d is half the squared distance to a point ahead on the route where the plan ends, d_0 that of
standing still; w the half width to be expected after the plan of what decides whether the rest
of the route is certified, w_need the half width for which it is. Both terms are 1 where nothing is
gained (d) or where just enough is known (w), so beta is a share of attention and has no unit:

    beta = clip((w_now - w_need) / (w_first - w_need), 0, 1)

is 1 as long as nothing was learnt, 0 when the rest is certified. Plans get half of it, so that
those that teach lead on as well (`plan/learning_on_the_way.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.plan.cost.terms import Cost, CostValue, PredictedWidth


def attention(now: float, need: float, first: float) -> float:
    """Return beta: how much of a plan is for learning."""
    if now <= need:
        return 0.0
    return 1.0 if first <= need else float(min((now - need) / (first - need), 1.0))


@dataclass(frozen=True, eq=False)
class ExpectedWidth(PredictedWidth):
    """Sum of importance_i times the standard deviation of entry i, in half widths of now.

    Predicted as in `PredictedWidth`; with an importance of sum 1 it is the share that is left of
    a width that the importance is made of.
    """

    def _cost(self, variances: Array) -> float:
        return float(self.importance @ np.sqrt(variances))

    def _cost_slope(self, variances: Array) -> Array:
        return np.asarray(0.5 * self.importance / np.sqrt(variances))


@dataclass(frozen=True, eq=False)
class OnTheWayCost:
    """(1 - beta) of one cost and beta of the other, each divided by its own unit."""

    distance: Cost
    width: Cost
    beta: float
    first_distance: float  # d_0
    needed_width: float  # w_need, in the unit of `width`

    def __post_init__(self) -> None:
        units = self.first_distance, self.needed_width
        if not 0.0 <= self.beta <= 1.0 or not all(0.0 < unit < np.inf for unit in units):
            raise BoundError(
                f'beta = {self.beta} has to be from 0 to 1, the distance {units[0]} and the width '
                f'{units[1]} that costs are divided by above 0'
            )

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone; the width, which takes longest, only where it counts."""
        distance = (1.0 - self.beta) * self.distance.value(x) / self.first_distance
        if self.beta == 0.0:
            return distance
        return distance + self.beta * self.width.value(x) / self.needed_width

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient."""
        near = self.distance.evaluate(x)
        share = (1.0 - self.beta) / self.first_distance
        if self.beta == 0.0:
            return CostValue(share * near.value, share * near.gradient)
        wide, weight = self.width.evaluate(x), self.beta / self.needed_width
        gradient = share * near.gradient + weight * wide.gradient
        return CostValue(share * near.value + weight * wide.value, gradient)
