"""What a plan is for: to learn, or to come nearer to a goal; gives the cost and plans to try."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.motion_objective import MotionObjective
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.on_the_way import ExpectedWidth, OnTheWayCost
from safe_sysid.plan.cost.own import WithOwnCost
from safe_sysid.plan.cost.predicted_observations import ObservationError, PredictedObservations
from safe_sysid.plan.cost.sampled_motion import SampledMotion
from safe_sysid.plan.cost.terms import Cost, GoalDistance, PredictedWidth, shortest_way
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import Bezier

LEAST_DISTANCE = 0.05  # [rad] that counts as all of the way
LEAST_WIDTH = 0.02  # share of the half widths of now that plans are asked for at least


class Aim(Protocol):
    """What plans of a horizon are compared by."""

    def cost(self, horizon: Horizon) -> Cost:
        """Return what to minimise over the plans of a horizon."""

    def suggestions(self, curve: Bezier) -> Array:
        """Plans k worth a try before any random ones, (m, n)."""


def _mostly_the_mass() -> Array:
    """Return a third for the mass: few motions tell it well, most tell the rest."""
    return np.array([0.3, *(0.7 / 9.0,) * 9])


@dataclass(frozen=True, eq=False)
class Excite:
    """Narrow bounds of theta_e from what is measured until the switching time and was before."""

    model: RobotModel
    estimate: ParameterEstimate
    until: float  # [s] since the start of the plan
    collected: Array | None = None  # (r, 14 n) `rows` of earlier plans
    samples: int = 60  # of the motion until then
    samples_per_row: int = 4
    promise: ObservationError = field(default_factory=ObservationError)
    importance: Array = field(default_factory=_mostly_the_mass)  # (10,) of the entries of theta_e

    def rows(self, curve: Bezier, k: Array) -> Array:
        """Rows that one plan gives, each divided by its error, (., 14 n)."""
        one = Horizon(curve, k, np.zeros_like(k), 1)
        return self._predicted(one).evaluate(np.zeros_like(k)).rows

    def cost(self, horizon: Horizon) -> Cost:
        """Predicted width."""
        none = np.zeros((0, self.model.layout.size))
        collected = none if self.collected is None else self.collected
        return PredictedWidth(self._predicted(horizon), self.importance, collected)

    def expected_width(self, horizon: Horizon) -> Cost:
        """Sum of the half widths after the plan, of now and by importance; no rows but its own."""
        none = np.zeros((0, self.model.layout.size))
        return ExpectedWidth(self._predicted(horizon), self.importance, none)

    def shares_left(self, curve: Bezier, k: Array, plans: int) -> Array:
        """Share of each half width of theta_e that is left after plans like this one, (10,).

        A promise is no deviation: errors of the rows of a joint are alike, and do not average out.
        """
        width = self.cost(Horizon(curve, k, np.zeros_like(k), 1))
        assert isinstance(width, PredictedWidth)
        return width.shares_left(np.zeros_like(k), plans * self.samples_per_row / self.samples)

    def suggestions(self, curve: Bezier) -> Array:
        """None: what is informative is not known beforehand."""
        return np.zeros((0, len(curve.q0)))

    def _predicted(self, horizon: Horizon) -> PredictedObservations:
        motion = SampledMotion(horizon, self.until, self.samples)
        return PredictedObservations(
            self.model, self.estimate, motion, self.samples_per_row, self.promise
        )


@dataclass(frozen=True, eq=False)
class Steered:
    """Another aim, and a user's own cost of the whole plan beside it."""

    aim: Aim
    own: MotionObjective
    theta: Array  # (14 n,) nominal

    def cost(self, horizon: Horizon) -> Cost:
        """Sum of both."""
        return WithOwnCost(self.aim.cost(horizon), self.own, horizon, self.theta)

    def suggestions(self, curve: Bezier) -> Array:
        """Those of the other aim."""
        return self.aim.suggestions(curve)


@dataclass(frozen=True, eq=False)
class Approach:
    """The end of the plan near a goal."""

    model: RobotModel
    goal: Array  # (n,) [rad]

    def cost(self, horizon: Horizon) -> Cost:
        """Half the squared distance where the plan ends."""
        self._refuse_goal_outside()
        return GoalDistance(self.model, horizon, self.goal, horizon.curve.duration)

    def suggestions(self, curve: Bezier) -> Array:
        """All of the way, or a share of it."""
        self._refuse_goal_outside()
        way = shortest_way(curve.q0, self.goal, self.model.limits.is_continuous)
        return np.outer([1.0, 0.75, 0.5, 0.25, 0.1], way)

    def _refuse_goal_outside(self) -> None:
        goal, limits = np.asarray(self.goal), self.model.limits
        if goal.shape != (self.model.n,):
            raise BoundError(f'goal {goal} has to be {self.model.n} numbers, one per joint')
        inside = (limits.position_lower <= goal) & (goal <= limits.position_upper)
        if not np.all(inside & np.isfinite(goal)):
            j = int(np.flatnonzero(~(inside & np.isfinite(goal)))[0])
            raise BoundError(
                f'the goal of {self.model.layout.joint_names[j]} is {goal[j]} rad, outside its '
                f'limits [{limits.position_lower[j]:.4g}, {limits.position_upper[j]:.4g}]'
            )


@dataclass(frozen=True, eq=False)
class LearnOnTheWay:
    """Near a point ahead on the route, and what the rest of the task has to know; see the cost."""

    excite: Excite  # whose importance is that of the half widths for the task
    approach: Approach
    beta: float
    needed_width: float  # share of the half widths of now

    def cost(self, horizon: Horizon) -> Cost:
        """Both, each as a share of what it was or has to be."""
        start = horizon.curve.q0
        way = self.approach.goal - start
        first = 0.5 * max(float(way @ way), LEAST_DISTANCE**2)
        return OnTheWayCost(
            self.approach.cost(horizon),
            self.excite.expected_width(horizon),
            self.beta,
            first,
            max(self.needed_width, LEAST_WIDTH),
        )

    def suggestions(self, curve: Bezier) -> Array:
        """Those of the goal."""
        return self.approach.suggestions(curve)
