"""LearningOnTheWay: plans that teach what the rest of a task needs, and no more of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Approach, Excite, LearnOnTheWay
from safe_sysid.plan.cost.on_the_way import attention
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.rest_of_route import RestOfRoute, ways_along
from safe_sysid.plan.search.task import TaskSettings
from safe_sysid.plan.task_need import (
    TAUGHT,
    TaskNeed,
    need_of,
    reason_to_stop,
    refuse_too_heavy,
    seconds_to_finish,
)
from safe_sysid.sets.interval import Interval

KEPT = 0.6  # of the time for a question, that no certificate of the rest is begun in
ONWARD = 0.5  # [rad] along the route, to the point that plans are to come nearer to


class LearningOnTheWay:
    """Asks of the rest of a route, at each new estimate, whether more knowledge would help it.

    Once it would not, it is over until the route or the payload is another one.
    """

    def __init__(self, model: RobotModel, task: TaskSettings | None = None) -> None:
        self._model, self._task = model, task or TaskSettings()
        self._own = model.own_end_effector
        self.forget()

    def forget(self) -> None:
        """There is another payload."""
        self._radii: list[Array] = []  # of [theta_e] before plans that teach: first, and last ones
        self._done: Route | None = None  # for which no more is to be learnt
        self.reason = ''  # why not
        self.need: TaskNeed | None = None  # the last one

    def aim(self, ahead: Ahead, follow: Follow) -> LearnOnTheWay | Follow:
        """Return what to do next on a route; raises `TooHeavyError`."""
        if follow.route is self._done:
            return follow
        estimate = ahead.problem.bounds
        rests = ways_along(ahead.problem, follow, self._task)
        least = KEPT * ahead.budget.left  # for the search that follows
        self.need = need = need_of(rests, estimate, self._own, lambda: ahead.budget.left > least)
        refuse_too_heavy(need, estimate, self._own)
        radius = estimate.end_effector_bounds.radius
        widths = [need.relative_width(each, radius) for each in (*self._radii, radius)]
        predicted = 0.0
        if not need.is_met and ahead.budget.left > least:
            predicted = self._predicted_seconds(rests, estimate)
        self.reason = reason_to_stop(need, predicted, ahead.until, widths)
        if self.reason:
            self._done = follow.route
            return follow
        excite = Excite(self._model, estimate, ahead.until, importance=need.importance)
        start = ahead.problem.horizon.curve.q0
        approach = Approach(self._model, follow.route.toward(start, follow.begin + ONWARD))
        beta = attention(1.0, need.share, max(widths[0], 1.0))
        return LearnOnTheWay(excite, approach, beta, need.share)

    def planned(self, estimate: ParameterEstimate) -> None:
        """Take note of a plan that teaches."""
        first, later = self._radii[:1], self._radii[1:]
        self._radii = [*first, *later[-TAUGHT:], estimate.end_effector_bounds.radius]

    def _predicted_seconds(self, rests: list[RestOfRoute], estimate: ParameterEstimate) -> float:
        """Time to finish if the next plan teaches as much as the last one; the first one, all."""
        bounds = estimate.end_effector_bounds
        ratio = np.zeros(len(bounds))
        if self._radii:
            before = self._radii[-1]
            ratio = np.divide(bounds.radius, before, out=np.ones_like(before), where=before > 0.0)
        return seconds_to_finish(rests, _narrowed(estimate, np.minimum(ratio, 1.0)))[0]


def _narrowed(estimate: ParameterEstimate, ratio: Array) -> ParameterEstimate:
    """Return half widths of theta_e about its nominal value, each less by a ratio."""
    place, theta = estimate.layout.end_effector, estimate.theta
    lower, upper = estimate.bounds.lower.copy(), estimate.bounds.upper.copy()
    lower[place] = theta[place] + ratio * (lower[place] - theta[place])
    upper[place] = theta[place] + ratio * (upper[place] - theta[place])
    return replace(estimate, bounds=Interval(lower, upper))
