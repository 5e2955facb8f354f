"""What a plan is good for, as functions of x with exact gradients; smaller is better.

Costs steer the search. None of them promises anything: what a plan taught is said by the bounds
identified from what was then measured, and what it may do by its certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.narrowing import (
    covariance_columns,
    information,
    last_variances,
    scaled_columns,
    slopes_in_rows,
)
from safe_sysid.plan.cost.predicted_observations import PredictedObservations
from safe_sysid.plan.cost.predicted_rows import PredictedRows
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import basis_derivative

TIP = 10  # entries of theta_e
FLAT = 1e-8  # share of the largest singular value below which a smallest one counts as this much


def _no_rows() -> Array:
    return np.zeros((0, 10))


def _si_units() -> Array:
    return np.ones(10)


@dataclass(frozen=True, eq=False)
class CostValue:
    """A cost at one x and how it changes."""

    value: float
    gradient: Array  # (n,)


class Cost(Protocol):
    """Something to minimise over x in [-1, 1]^n."""

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone, for plans that are only compared."""

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient."""


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Log condition number of the rows of theta_e, eq. (30), together with rows there are already.

    Columns are in SI units (kg, kg m, kg m^2) times `scale`; the published cost has no scale.
    A smallest singular value that vanishes counts as FLAT times the largest, smoothly: the cost
    is at most log(1 / FLAT). There, as for an arm that stands still, the gradient is no guide;
    start where the arm moves.
    """

    predicted: PredictedRows
    collected: Array = field(
        default_factory=_no_rows
    )  # (r, 10) in the same unit as those predicted
    scale: Array = field(default_factory=_si_units)  # (10,)

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone."""
        return self.evaluate(x).value

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient, by d sigma = u' dY v with u sigma = Y v."""
        rows = self.predicted.rows(x)
        Y = np.concatenate([rows.reshape(-1, 10), self.collected]) * self.scale
        _, sigma, right = np.linalg.svd(np.linalg.qr(Y, mode='r'))
        largest, smallest = sigma[0], sigma[-1]
        square = smallest**2 + (FLAT * largest) ** 2
        value = np.log(largest) - 0.5 * np.log(square)
        by_squares = np.array([1.0 / largest**2 - FLAT**2 / square, -1.0 / square])
        v = right[[0, -1]]
        weights = (Y @ v.T * by_squares) @ v
        weights = (weights[: rows.size // 10] * self.scale).reshape(rows.shape)
        return CostValue(float(value), self.predicted.pullback(x, weights))


@dataclass(frozen=True, eq=False)
class PredictedWidth:
    """How much narrower [theta_e] may get: log(half width after / half width before), weighted.

    A heuristic. Errors of rows are taken for independent normal ones, bounds for standard
    deviations; theta_r is estimated along with theta_e. In units of half widths before,

        C = (1 + H_0' H_0 + H' H)^-1,   cost = sum over theta_e of importance_i 1/2 log C_ii,

    with H the rows of the plan and H_0 those there are already. Bounds from set membership are
    made by few rows that err most, not by all on average; but over random motions the logarithms
    of C_ii and of the bounds go up and down together (rank correlation 0.8 to 0.9), of which
    the condition number knows nothing where the mass is concerned.
    """

    predicted: PredictedObservations
    importance: Array  # (10,)
    collected: Array  # (r, 14 n) rows there are already, each divided by its error

    def __post_init__(self) -> None:
        array = np.asarray(self.importance, dtype=float)
        if array.shape != (10,) or not np.all(np.isfinite(array) & (array >= 0.0)):
            raise BoundError(f'importance = {array} has to be 10 finite numbers, none negative')

    @cached_property
    def _half_width(self) -> Array:
        return self.predicted.estimate.bounds.radius[self._order]

    @cached_property
    def _order(self) -> IntArray:
        """Entries of theta, those of theta_e last."""
        layout = self.predicted.model.layout
        return np.concatenate([layout.rest, np.arange(layout.size)[layout.end_effector]])

    @cached_property
    def _before(self) -> Array:
        """1 + H_0' H_0."""
        unit: Array = np.eye(len(self._order))
        known: Array = information(unit, self._scaled(np.array(self.collected)))
        return known

    def _scaled(self, rows: Array) -> Array:
        """Rows for theta / half width, the columns of theta_e last."""
        scaled: Array = scaled_columns(rows, self._order, self._half_width)
        return scaled

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone."""
        H = self._scaled(self.predicted.evaluate(x).rows)
        return self._cost(last_variances(information(self._before, H), TIP))

    def shares_left(self, x: npt.ArrayLike, times: float) -> Array:
        """Share of each half width of theta_e that is left where rows say `times` as much, (10,).

        `times` as much information: of rows that are alike, the share that counts.
        """
        H = np.sqrt(times) * self._scaled(self.predicted.evaluate(x).rows)
        return np.asarray(np.sqrt(last_variances(information(self._before, H), TIP)))

    def _cost(self, variances: Array) -> float:
        """Of the variances of theta_e."""
        return 0.5 * float(self.importance @ np.log(variances))

    def _cost_slope(self, variances: Array) -> Array:
        """Of the cost in the variances, (10,)."""
        return np.asarray(0.5 * self.importance / variances)

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient."""
        at = self.predicted.evaluate(x)
        H = self._scaled(at.rows)
        C = covariance_columns(information(self._before, H), TIP)
        variances = np.diag(C[-TIP:])
        slopes = slopes_in_rows(H, C, self._cost_slope(variances))
        weights = np.empty_like(slopes)
        weights[:, self._order] = slopes * self._half_width
        return CostValue(self._cost(variances), self.predicted.pullback(x, at, weights))


@dataclass(frozen=True, eq=False)
class GoalDistance:
    """Half the squared distance of the joints to a goal at one time of the plan.

    A joint that turns without end goes the shorter way, seen from where the plan starts.
    """

    model: RobotModel
    horizon: Horizon
    goal: Array  # (n,) [rad]
    time: float  # [s] since the start of the curve

    def __post_init__(self) -> None:
        goal = np.asarray(self.goal, dtype=float)
        if goal.shape != (self.model.n,) or not np.all(np.isfinite(goal)):
            raise BoundError(f'goal {goal} has to be {self.model.n} finite numbers, one per joint')
        if not 0.0 < self.time <= self.horizon.curve.duration:
            raise BoundError(
                f'the goal is compared at {self.time} s; it has to be above 0 and at most the '
                f'duration of the curve, {self.horizon.curve.duration} s'
            )

    @cached_property
    def _target(self) -> Array:
        start = self.horizon.curve.q0
        return start + shortest_way(start, self.goal, self.model.limits.is_continuous)

    @cached_property
    def _slope(self) -> Array:
        s = self.time / self.horizon.curve.duration
        moved = np.polynomial.polynomial.polyval(s, basis_derivative(0)[2])
        return np.asarray(moved * self.horizon.k_range)

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient."""
        k = self.horizon.k_center + self.horizon.k_range * np.asarray(x)
        left = self.horizon.curve.position(self.time, k) - self._target
        return CostValue(0.5 * float(left @ left), left * self._slope)

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone."""
        return self.evaluate(x).value


def shortest_way(start: Array, goal: Array, is_continuous: npt.ArrayLike) -> Array:
    """Goal minus start, by less than half a turn for joints that turn without end; (..., n)."""
    way = np.asarray(goal) - np.asarray(start)
    turns = np.where(is_continuous, np.round(way / (2.0 * np.pi)), 0.0)
    return np.asarray(way - 2.0 * np.pi * turns)
