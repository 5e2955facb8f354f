"""Mission: Algorithm 2, first plans that teach, then plans that lead to a goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Aim, Approach, Excite
from safe_sysid.plan.costs import shortest_way
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.plan import Plan

AT_LEAST = 2  # exciting plans before bounds that don't shrink mean that there is no more to learn


@dataclass(frozen=True)
class MissionSettings:
    """How long to learn, and how near a goal is near enough."""

    exciting: int = 4  # plans
    shrinking: float = 0.02  # mean share by which a plan has to narrow [theta_e] to go on
    near: float = 0.01  # [rad] in every joint
    least_move: float = 0.1  # [rad] of some joint; plans that move less don't count as exciting

    def __post_init__(self) -> None:
        if self.exciting < 0:
            raise ConfigError(f'exciting is {self.exciting} plans, it has to be 0 or more')
        if not 0.0 <= self.least_move < np.inf:
            raise ConfigError(f'least_move is {self.least_move} rad, it has to be 0 or more')
        if not (0.0 <= self.shrinking < 1.0 and 0.0 < self.near < np.inf):
            raise ConfigError(
                f'shrinking is {self.shrinking} and near {self.near} rad; they have to be in '
                '[0, 1) and above 0'
            )


class Purpose(Protocol):
    """Says what the next plan is for."""

    def due(self, estimate: ParameterEstimate, end: Array, until: float) -> Aim | None:
        """What to plan for, when the arm will come to rest at `end`; None when all is done."""

    def planned(self, aim: Aim, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take note of a plan that is going to be followed."""


class Mission:
    """First `exciting` plans, or fewer when bounds stop shrinking; then the goal, if any."""

    def __init__(
        self, model: RobotModel, goal: Array | None, settings: MissionSettings | None = None
    ) -> None:
        self._model = model
        self._goal = goal
        self._settings = settings or MissionSettings()
        self._rows = np.zeros((0, 10))
        self._log_widths: list[float] = []  # mean of log(radius of [theta_e]) at every plan

    def due(self, estimate: ParameterEstimate, end: Array, until: float) -> Aim | None:
        """What to plan for, when the arm will come to rest at `end`; None when all is done."""
        if self._learns(estimate):
            return Excite(self._model, until, collected=self._rows)
        if self._goal is None or self._is_near(end):
            return None
        return Approach(self._model, self._goal)

    def planned(self, aim: Aim, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take note of a plan that is going to be followed."""
        if not isinstance(aim, Excite):
            return
        rows = aim.predicted(Horizon(plan.curve, plan.k, np.zeros_like(plan.k), 1))
        self._rows = np.concatenate([self._rows, rows.rows(0.0 * plan.k).reshape(-1, 10)])
        if np.abs(plan.k).max() > self._settings.least_move or np.any(plan.curve.qd0):
            self._log_widths.append(_log_width(estimate))

    def _learns(self, estimate: ParameterEstimate) -> bool:
        """Whether exciting plans are left, and the last one that was driven narrowed [theta]."""
        count = len(self._log_widths)
        if count >= self._settings.exciting:
            return False
        if count <= AT_LEAST:
            return True
        narrowed = self._log_widths[-1] - _log_width(estimate)
        return bool(narrowed > -np.log1p(-self._settings.shrinking))

    def _is_near(self, end: Array) -> bool:
        goal = np.asarray(self._goal)
        if goal.shape != end.shape:
            return False
        way = shortest_way(end, goal, self._model.limits.is_continuous)
        return bool(np.all(np.abs(way) <= self._settings.near))


def _log_width(estimate: ParameterEstimate) -> float:
    radius = np.maximum(estimate.end_effector_bounds.radius, 1e-12)
    return float(np.mean(np.log(radius)))
