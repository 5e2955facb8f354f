"""LearningOnTheWay: plans that teach what the rest of a task needs, and no more of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Approach, Excite, LearnOnTheWay
from safe_sysid.plan.cost.on_the_way import attention
from safe_sysid.plan.cost.predicted_observations import ObservationError
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.rest_of_route import RestOfRoute, ways_along
from safe_sysid.plan.search.task_settings import TaskSettings
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
LAG = 2  # plans until the next one can be made with what this one teaches
MANY = 4  # plans at most that teach, before the rest has to be certified
MOST = 0.5  # of the attention that learning gets, so that such plans get on as well

HasTime = Callable[[], bool]
Foresight = Callable[[list[RestOfRoute], LearnOnTheWay, TaskNeed, HasTime], tuple[TaskNeed, float]]


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
        return self._chosen(ahead, follow, _foreseen)

    def aim_without_route(self, ahead: Ahead, follow: Follow) -> LearnOnTheWay | Follow:
        """Return the same on a way that is there to learn on, as none is known to the goal.

        What refuses it need not refuse another one, once more is known.
        """
        return self._chosen(ahead, follow, _hoped)

    def _chosen(self, ahead: Ahead, follow: Follow, foresee: Foresight) -> LearnOnTheWay | Follow:
        """Return a plan that teaches, as long as there is no reason to stop."""
        if follow.route is self._done:
            return follow
        estimate = ahead.problem.bounds
        rests = ways_along(ahead.problem, follow, self._task)
        least = KEPT * ahead.budget.left  # for the search that follows

        def has_time() -> bool:
            return ahead.budget.left > least

        self.need = need = need_of(rests, estimate, self._own, has_time)
        refuse_too_heavy(need, estimate, self._own)
        radius = estimate.end_effector_bounds.radius
        widths = [need.relative_width(each, radius) for each in (*self._radii, radius)]
        beta = MOST * attention(1.0, need.share, max(widths[0], 1.0))
        aim = self._learning(ahead, follow, need, beta)
        self.reason = reason_to_stop(
            *foresee(rests, aim, need, has_time), LAG * ahead.until, widths
        )
        if self.reason:
            self._done = follow.route
            return follow
        return aim

    def _learning(
        self, ahead: Ahead, follow: Follow, need: TaskNeed, beta: float
    ) -> LearnOnTheWay:
        """Return what plans that teach are for."""
        problem = ahead.problem
        promise = ObservationError.of(problem.gains)
        excite = Excite(
            self._model, problem.bounds, ahead.until, promise=promise, importance=need.importance
        )
        start = problem.horizon.curve.q0
        approach = Approach(self._model, follow.route.toward(start, follow.begin + ONWARD))
        needed = need.share or 1.0  # where no width is known to be enough, in those of now
        return LearnOnTheWay(excite, approach, beta, needed)

    def planned(self, estimate: ParameterEstimate) -> None:
        """Take note of a plan that teaches."""
        first, later = self._radii[:1], self._radii[1:]
        self._radii = [*first, *later[-TAUGHT:], estimate.end_effector_bounds.radius]


def _hoped(
    _rests: list[RestOfRoute], _aim: LearnOnTheWay, need: TaskNeed, _has_time: HasTime
) -> tuple[TaskNeed, float]:
    """Return the need as if knowledge would meet it at once."""
    return replace(need, is_of_payload=True), 0.0


def _foreseen(
    rests: list[RestOfRoute], aim: LearnOnTheWay, need: TaskNeed, has_time: HasTime
) -> tuple[TaskNeed, float]:
    """Return the need, and the time to finish after a plan that leads on [s].

    After more plans where nothing is certified yet; 0 where there was no time to find out.
    """
    if need.is_met:
        return need, need.seconds
    plans = MANY if need.seconds == np.inf else 1
    curve, estimate = rests[0].problem.horizon.curve, aim.excite.estimate
    left = aim.excite.shares_left(curve, aim.suggestions(curve)[0], plans)
    seconds, _ = seconds_to_finish(rests, _narrowed(estimate, left), has_time)
    return need, seconds if has_time() else 0.0


def _narrowed(estimate: ParameterEstimate, ratio: Array) -> ParameterEstimate:
    """Return half widths of theta_e about its nominal value, each less by a ratio."""
    place, theta = estimate.layout.end_effector, estimate.theta
    lower, upper = estimate.bounds.lower.copy(), estimate.bounds.upper.copy()
    lower[place] = theta[place] + ratio * (lower[place] - theta[place])
    upper[place] = theta[place] + ratio * (upper[place] - theta[place])
    return replace(estimate, bounds=Interval(lower, upper))
