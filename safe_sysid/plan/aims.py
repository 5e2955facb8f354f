"""What a plan is for: to learn, or to come nearer to a goal; gives the cost and plans to try."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.costs import Conditioning, Cost, GoalDistance, shortest_way
from safe_sysid.plan.predicted_rows import PredictedRows
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import Bezier


class Aim(Protocol):
    """What plans of a horizon are compared by."""

    def cost(self, horizon: Horizon) -> Cost:
        """What to minimise over the plans of a horizon."""

    def suggestions(self, curve: Bezier) -> Array:
        """Plans k worth a try before any random ones, (m, n)."""


@dataclass(frozen=True, eq=False)
class Excite:
    """Well conditioned rows for theta_e until the switching time, with those there are already."""

    model: RobotModel
    until: float  # [s] since the start of the plan
    samples: int = 60  # of the motion until then
    samples_per_row: int = 4
    collected: Array = field(default_factory=lambda: np.zeros((0, 10)))

    def predicted(self, horizon: Horizon) -> PredictedRows:
        """Rows that the plans of a horizon give."""
        return PredictedRows(self.model, horizon, self.until, self.samples, self.samples_per_row)

    def cost(self, horizon: Horizon) -> Cost:
        """Log condition number."""
        return Conditioning(self.predicted(horizon), self.collected)

    def suggestions(self, curve: Bezier) -> Array:
        """None: what is informative is not known beforehand."""
        return np.zeros((0, len(curve.q0)))


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
