"""Mission: Algorithm 2, first plans that teach, then plans that lead to a goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Natural, NotNegative, Positive, Settings, Share
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Aim, Excite, LearnOnTheWay
from safe_sysid.plan.cost.terms import shortest_way
from safe_sysid.plan.learning_on_the_way import LearningOnTheWay
from safe_sysid.plan.path.joint_path import JointPath, Traverse
from safe_sysid.plan.path.leaving import is_clear, leaving_route
from safe_sysid.plan.path.route import Follow, Route
from safe_sysid.plan.path.rrt_connect import PathOutcome, PathQuery, PathSettings, find_path
from safe_sysid.plan.path_task import PathTask
from safe_sysid.plan.possible_payloads import exactly
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.result import SearchFinding
from safe_sysid.plan.search.nominal_check import NominalCheck
from safe_sysid.plan.task_need import TooHeavyError
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.plan import Plan

AT_LEAST = 2  # exciting plans before bounds that don't shrink mean that there is no more to learn
IDLE = 2  # times as many exciting plans at most, where some hardly move
CLEARANCES = (3.0, 1.0)  # times what a path has to keep, tried in turn
CHECKS = 2  # times of a plan, of which there is none yet
PROGRESS = 0.01  # [rad] along the route that count as getting on
ASTRAY = 0.5  # [rad] from the route at which it is given up
REHEARSED = 0.1  # [rad]
MOST_ROWS = 2000  # of plans that teach; more become a few that say the same
TRIES = (
    2  # of each configuration of a goal that came meanwhile: with more clearance, and with less
)


@dataclass(frozen=True)
class MissionSettings(Settings):
    """How long to learn, and how near a goal is near enough."""

    exciting: Natural = 4  # plans
    shrinking: Share = 0.02  # mean share by which plans have to narrow [theta_e]; 0: they go on
    near: Positive = 0.01  # [rad] in every joint
    least_move: NotNegative = 0.1  # [rad] of some joint; plans that move less don't excite
    patience: Count = 3  # plans without getting on along a route, then another is searched
    on_the_way: bool = False  # learn while the task goes on, and only what it needs
    routes: Count = 5  # in a row given up so, then as many times there is nothing to plan for
    route_seconds: Positive = 0.5  # [s] at most, of the planning budget
    path: PathSettings = field(default_factory=PathSettings)


class NoRouteError(SafeSysidError):
    """No way to the goal is known, so there is nothing to plan for."""


class Mission:
    """First `exciting` plans, or fewer when bounds stop shrinking; then the goal, if any.

    The goal is reached along a route among the obstacles, a new one whenever plans do not get on.
    Bounds that are wider than before belong to another payload: then all begins again.

    Where a `task` that learns on its way leads on, nothing is learned before it.

    What is wanted may change meanwhile: another goal, which may be one of several configurations,
    and bounds as narrow as somebody asks for. A goal that came so is given up where no way leads
    to any of its configurations: whoever asked for it is told, and nothing is left to do.
    """

    def __init__(
        self,
        model: RobotModel,
        goal: Array | None,
        settings: MissionSettings | None = None,
        task: Mission | None = None,
    ) -> None:
        self._model, self._task = model, task
        self._goals: tuple[Array, ...] = () if goal is None else (np.asarray(goal),)
        self._choice = self._tries = 0  # of the goals, and how often one was given up
        self._is_asked_for = False  # by somebody who is told when it is given up
        self._led = self._told = 0  # how often it was led elsewhere, and told what to learn to
        self._no_way = ''  # why the goal is given up
        self._path: PathTask | None = None  # that leads there, where somebody says so
        self._wanted: Array | None = None  # (10,) radius of [theta_e] to learn to; 0: any
        self._settings = settings or MissionSettings()
        self._rows = np.zeros((0, model.layout.size))  # for theta, of plans that teach
        self._moved = 0  # plans that teach, without those that hardly move
        self._log_width = 0.0  # mean of log(radius of [theta_e]) at the last of them
        self._excited = 0  # plans, those that hardly move as well
        self._has_learned = False
        self._known: Interval | None = None
        self._route: Route | None = None
        self._routes = 0  # searched for
        self._farthest = 0.0  # [rad] along the route
        self._without_progress = 0  # questions since
        self._idle_routes = 0  # in a row along which nothing got on, and refusals after them
        self._on_the_way = LearningOnTheWay(model) if self._settings.on_the_way else None

    def lead_to(self, goals: Sequence[Array]) -> None:
        """Lead to one of some configurations to which there is a way; to none of none.

        Those that it leads to already change nothing, unless they are given up.
        """
        self._is_asked_for = True
        if not self._leads_to(goals):
            self._lead_elsewhere(goals, None)

    def follow(self, path: JointPath) -> None:
        """Lead along a path, which begins where the arm comes to rest."""
        self._is_asked_for = True
        self._lead_elsewhere([path.end], PathTask(path))

    def _leads_to(self, goals: Sequence[Array]) -> bool:
        """Whether it goes on to these configurations, by any way, or is there."""
        if self._path is not None or self.given_up or len(goals) != len(self._goals):
            return False
        return all(np.array_equal(*both) for both in zip(goals, self._goals, strict=True))

    def _lead_elsewhere(self, goals: Sequence[Array], path: PathTask | None) -> None:
        self._goals, self._choice, self._tries = tuple(goals), 0, 0
        self._no_way, self._path = '', path
        self._led += 1
        self._begin_another_route()

    @property
    def learns_on_the_way(self) -> bool:
        """Whether it learns what it needs while it leads to a goal."""
        return self._on_the_way is not None

    def leads_on(self, end: Array) -> bool:
        """Whether anything is left of the way to a goal from where the arm rests."""
        return self._goal is not None and not self.given_up and not self._is_near(end)

    @property
    def has_goal(self) -> bool:
        """Whether there is anywhere to lead to."""
        return bool(self._goals)

    @property
    def given_up(self) -> str:
        """Why what was asked for is given up; empty: it is not."""
        return self._no_way if self._path is None else self._path.given_up

    @property
    def path_progress(self) -> tuple[int, int]:
        """Pieces of the path that are certified, and that it has; none where there is no path."""
        return (0, 0) if self._path is None else (self._path.certified, self._path.count)

    def learn_to(self, half_widths: Array | None) -> None:
        """Learn until [theta_e] is as narrow as wanted, from now on; None: as the settings say.

        Once it is as narrow, that counts as learned; before, as much as was learned counts.
        """
        self._wanted = half_widths
        self._told += 1

    def wish(self, end: Array) -> object:
        """Return what is asked for that counts for an arm that rests at `end`.

        A goal that the arm is at does not. What the task is asked for does where it decides
        whether there is anything to learn before it.
        """
        leads = self._path is not None or self.leads_on(end)
        learns = not (self._has_learned or self._is_left_to_task(end))
        return self._led if leads else None, self._told, learns

    def distance(self, q: Array) -> float | None:
        """How far some joint is from the goal [rad]; None where there is none."""
        if self._goal is None:
            return None
        way = shortest_way(q, self._goal, self._model.limits.is_continuous)
        return float(np.abs(way).max())

    def due(self, ahead: Ahead) -> Aim | Follow | Traverse | None:
        """Return what to plan for next; None when all is done."""
        estimate = ahead.problem.bounds
        self._notice_another_payload(estimate.bounds)
        if self._learns(estimate) and not self._is_left_to_task(ahead.end):
            leaving = self._leaving(ahead)
            return leaving or Excite(self._model, estimate, ahead.until, self._rows)
        if self._path is not None:
            return self._path.due(ahead)
        if not self.leads_on(ahead.end):
            return None
        while True:
            try:
                return self._leaving(ahead) or self._toward(ahead)
            except (NoRouteError, TooHeavyError) as error:
                if not self._is_asked_for:
                    raise
                self._try_another(str(error))
                if self.given_up:
                    return None
                if ahead.budget.left <= 0.0:
                    raise

    def planned(self, aim: Aim | Follow, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take note of a plan that is going to be followed."""
        if isinstance(aim, LearnOnTheWay) and self._on_the_way is not None:
            self._on_the_way.planned(estimate)
        if not isinstance(aim, Excite):
            return
        self._excited += 1
        self._rows = _as_few(np.concatenate([self._rows, aim.rows(plan.curve, plan.k)]))
        if np.abs(plan.k).max() > self._settings.least_move or np.any(plan.curve.qd0):
            self._moved += 1
            self._log_width = _log_width(estimate)

    def traversed(self, finding: SearchFinding) -> None:
        """Take note of what was found along the path."""
        if self._path is not None:
            self._path.note(finding)

    def rehearsal(self, ahead: Ahead) -> Iterator[Aim | Follow]:
        """One aim of every kind."""
        if self._settings.exciting > 0 or self._on_the_way is not None:
            yield Excite(self._model, ahead.problem.bounds, ahead.until)
        if self._goal is not None or self._settings.exciting == 0:
            query = self._query(ahead, ahead.end)
            find_path(query, self._settings.route_seconds, self._settings.path)
            beside = np.stack([ahead.end, ahead.end + REHEARSED])
            yield Follow(Route(beside, self._model.limits.is_continuous), 0.0)

    def _leaving(self, ahead: Ahead) -> Follow | None:
        """Off what was placed, before anything else; None where the hand is not about it."""
        problem, lift = ahead.problem, ahead.problem.lift
        if lift is None or problem.retreat is None or not problem.retreat.is_of(lift):
            return None
        if is_clear(self._model, lift, ahead.end):
            return None
        route = leaving_route(self._model, lift, ahead.end)
        if route is None:
            raise NoRouteError(
                f'the hand is about {lift.name}, and no joints lead it straight off along '
                f'{np.round(lift.direction, 2).tolist()}'
            )
        return Follow(route, 0.0)

    def _notice_another_payload(self, bounds: Interval) -> None:
        """Begin again when bounds are not within those known before."""
        if self._known is not None and not self._known.contains(bounds):
            self._rows, self._route = self._rows[:0], None
            self._excited, self._moved, self._has_learned = 0, 0, False
            if self._on_the_way is not None:
                self._on_the_way.forget()
        self._known = bounds

    @property
    def _goal(self) -> Array | None:
        return self._goals[self._choice] if self._goals else None

    def _try_another(self, reason: str) -> None:
        """Turn to the next configuration of the goal, unless all were tried."""
        self._tries += 1
        if self._tries >= TRIES * len(self._goals):
            self._no_way = reason
        self._choice = (self._choice + 1) % len(self._goals)
        self._begin_another_route()

    def _begin_another_route(self) -> None:
        self._route, self._idle_routes = None, 0

    def _learns(self, estimate: ParameterEstimate) -> bool:
        """Whether exciting plans are left, and the last one that was driven narrowed [theta].

        Once it is over it stays so: plans that lead to the goal teach something, too.
        """
        if self._wanted is not None:
            radius = estimate.end_effector_bounds.radius
            is_wide = bool(np.any((self._wanted > 0.0) & (radius > self._wanted)))
            self._has_learned |= not is_wide
            return is_wide
        if self._on_the_way is not None and self._goal is not None:
            return False
        count, most = self._moved, self._settings.exciting
        if count >= most or self._excited >= IDLE * most:
            self._has_learned = True
        elif count > AT_LEAST:
            narrowed = self._log_width - _log_width(estimate)
            self._has_learned |= bool(narrowed < -np.log1p(-self._settings.shrinking))
        return not self._has_learned

    def _is_left_to_task(self, end: Array) -> bool:
        """Whether a task that is asked for learns by itself what it needs."""
        task = self._task
        if self._wanted is not None or task is None or not task.learns_on_the_way:
            return False
        return task.leads_on(end)

    def _is_near(self, end: Array) -> bool:
        goal = np.asarray(self._goal)
        if goal.shape != end.shape:
            return False
        distance = self.distance(end)
        return distance is not None and distance <= self._settings.near

    def _toward(self, ahead: Ahead) -> Aim | Follow:
        """On along the route, by plans that teach what it needs as long as they do.

        Where no route is known because too little is known of what is held, the straight way says
        what there is to learn.
        """
        learning = self._on_the_way
        if learning is None:
            return self._follow(ahead)
        try:
            follow, none = self._follow(ahead), None
        except NoRouteError as error:
            turns = self._model.limits.is_continuous
            way = shortest_way(ahead.end, np.asarray(self._goal), turns)
            straight = np.stack([ahead.end, ahead.end + way])
            follow, none = Follow(Route(straight, turns), 0.0), error
        chosen = learning.aim if none is None else learning.aim_without_route
        aim = chosen(ahead, follow)
        if aim is not follow:
            self._without_progress = self._idle_routes = 0
        elif none is not None:
            raise none
        return aim

    def _follow(self, ahead: Ahead) -> Follow:
        """On along the route, or along a new one."""
        if self._route is not None:
            begin, away = self._route.nearest(ahead.end)
            gets_on = begin > self._farthest + PROGRESS
            self._farthest = max(begin, self._farthest)
            self._without_progress = 0 if gets_on else self._without_progress + 1
            self._idle_routes = 0 if gets_on else self._idle_routes
            if away <= ASTRAY and self._without_progress < self._settings.patience:
                return Follow(self._route, begin)
            self._give_up()
        self._route = None
        self._route = self._new_route(ahead)
        self._farthest, self._without_progress = 0.0, 0
        return Follow(self._route, 0.0)

    def _give_up(self) -> None:
        """Count a route; after too many without getting on there is nothing to plan for."""
        self._idle_routes += 1
        most = self._settings.routes
        if most < self._idle_routes <= 2 * most:
            raise NoRouteError(
                f'the task does not get on: {most} routes to the goal were followed by plans that '
                'stood still or led back'
            )
        self._idle_routes %= 2 * most

    def _query(self, ahead: Ahead, goal: Array) -> PathQuery:
        """Return a way from where the plan in force ends."""
        problem = ahead.problem
        margins, obstacles = NominalCheck(problem, CHECKS).standing_margins, problem.obstacles
        lift = problem.lift
        if lift is not None and is_clear(self._model, lift, ahead.end):
            obstacles = obstacles.beside({lift.name: lift.support})
        return PathQuery(self._model, obstacles, ahead.end, goal, margins)

    def _new_route(self, ahead: Ahead) -> Route:
        """Another one each time: with another seed, and with less clearance if need be."""
        path, attempt = self._settings.path, self._routes
        self._routes += 1
        settings = replace(
            path,
            seed=path.seed + attempt,
            clearance=path.clearance * CLEARANCES[attempt % len(CLEARANCES)],
        )
        query = self._query(ahead, np.asarray(self._goal))
        seconds = min(self._settings.route_seconds, ahead.budget.left)
        found = find_path(query, seconds, settings, ahead.budget.cancelled)
        if found.outcome is not PathOutcome.FOUND:
            load = _load_to_blame(ahead.problem, query, found.outcome)
            raise NoRouteError(f'{found}{load}')
        return Route(found.waypoints, self._model.limits.is_continuous)


def _load_to_blame(problem: Problem, query: PathQuery, outcome: PathOutcome) -> str:
    """How much may be held, where the arm alone could hold itself and with that it could not."""
    place = {
        PathOutcome.START_TOO_HEAVY: query.start,
        PathOutcome.GOAL_TOO_HEAVY: query.goal,
    }.get(outcome)
    if place is None:
        return ''
    bounds, own = problem.bounds, problem.model.own_end_effector
    alone = replace(problem, bounds=exactly(bounds, own)(0.0))
    if np.any(NominalCheck(alone, CHECKS).standing_margins(place[None]) <= 0.0):
        return ''
    return f' with up to {bounds.end_effector_bounds.upper[0] - own[0]:.2f} kg held'


def _log_width(estimate: ParameterEstimate) -> float:
    radius = np.maximum(estimate.end_effector_bounds.radius, 1e-12)
    return float(np.mean(np.log(radius)))


def _as_few(rows: Array) -> Array:
    """Return the rows, or where there are many, a triangle R of the same information R'R."""
    if len(rows) <= MOST_ROWS:
        return rows
    _, triangle = np.linalg.qr(rows)
    return np.asarray(triangle)
