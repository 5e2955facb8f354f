"""A way for the whole arm to a far goal: RRT-Connect in joint space, then shortcuts.

Guidance only: edges are checked at samples at most `resolution` apart in every joint, without
tracking error. Every plan along the waypoints needs a certificate of its own. A way that is free
is of no use where the arm could not hold itself, so `PathQuery.margin` may say how well it can.

The same query with the same seed gives the same path, unless the time budget ends the search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
import itertools
from threading import Event
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Count, Natural, NotNegative, Positive, Settings
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.arm_clearance import arm_clearance, edge_is_free, scene_of
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.terms import shortest_way
from safe_sysid.plan.path.search_tree import SearchTree

HEAVY = 4.0  # times the resolution between samples at which torques are looked at


class PathOutcome(Enum):
    """Why there is a path or none, in words for the operator."""

    FOUND = 'path found'
    START_OUTSIDE = 'the start is outside the joint limits'
    START_IN_CONTACT = 'the arm is in contact at the start'
    GOAL_OUTSIDE = 'the goal is outside the joint limits'
    GOAL_IN_CONTACT = 'the arm would be in contact at the goal'
    START_TOO_HEAVY = 'the arm could not hold itself at the start'
    GOAL_TOO_HEAVY = 'the arm could not hold itself at the goal'
    OUT_OF_TIME = 'no path to the goal was found within the time budget'
    NONE_FOUND = 'no path to the goal was found'
    CANCELLED = 'cancelled before a path was found'


@dataclass(frozen=True)
class PathSettings(Settings):
    """How to search."""

    seed: Natural = 0
    most: Count = 5000  # configurations drawn, where time does not end the search before
    branch: Positive = 0.5  # [rad] longest move of a joint along one branch of a tree
    resolution: Positive = 0.05  # [rad] between samples of an edge, in the joint that moves most
    clearance: NotNegative = 0.02  # [m] to keep; less where the start or the goal are nearer
    torque_share: NotNegative = 0.1  # of the limits to keep; less where start or goal have less
    limit_margin: NotNegative = 0.05  # [rad] from joint limits, except for start and goal
    shortcuts: Natural = 200  # attempts
    spacing: Positive = 0.5  # [rad] most that a joint moves from one waypoint to the next


Margin = Callable[[Array], Array]  # (N, n) configurations to shares of torque limits left, (N, n)


def always_held(q: Array) -> Array:
    """No torque is needed anywhere."""
    return np.ones_like(q)


@dataclass(frozen=True, eq=False)
class PathQuery:
    """From where to where, among what."""

    model: RobotModel
    obstacles: Obstacles
    start: Array  # (n,) [rad]
    goal: Array  # (n,)
    margin: Margin = always_held

    def __post_init__(self) -> None:
        for name in ('start', 'goal'):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != (self.model.n,):
                raise BoundError(
                    f'{name} of a path has shape {value.shape}; {self.model.name} has '
                    f'{self.model.n} joints'
                )
            value.setflags(write=False)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class PathResult:
    """Waypoints from the start to the goal, or why there are none.

    Joints that turn without end are unwrapped along the path, so that the last waypoint is the
    goal up to whole turns.
    """

    outcome: PathOutcome
    waypoints: Array  # (W, n) [rad], empty unless found
    detail: str  # which joint, which shapes
    samples: int  # configurations drawn
    seconds: float

    def __str__(self) -> str:
        return f'{self.outcome.value}: {self.detail}' if self.detail else self.outcome.value


DEFAULTS = PathSettings()


def find_path(
    query: PathQuery,
    seconds: float,
    settings: PathSettings = DEFAULTS,
    cancelled: Event | None = None,
) -> PathResult:
    """Search for at most `seconds` of wall-clock time."""
    begin = time.monotonic()
    refusal = _refusal(query)
    if refusal is not None:
        outcome, detail = refusal
        return PathResult(outcome, _no_path(query), detail, 0, time.monotonic() - begin)
    search = _Search(query, settings, begin + seconds, cancelled)
    path = search.run()
    if path is None:
        outcome = search.ending
        detail = f'{search.samples} configurations tried'
        waypoints = _no_path(query)
    else:
        outcome, detail = PathOutcome.FOUND, ''
        waypoints = with_spacing(search.shortened(path), settings.spacing)
    return PathResult(outcome, waypoints, detail, search.samples, time.monotonic() - begin)


def with_spacing(path: Array, spacing: float) -> Array:
    """Add waypoints to a path, so that no joint moves farther than `spacing` between two."""
    points = [path[:1]]
    for start, end in itertools.pairwise(path):
        count = max(int(np.ceil(np.abs(end - start).max() / spacing)), 1)
        shares = np.arange(1, count + 1)[:, None] / count
        points.append(start + shares * (end - start))
    return np.concatenate(points)


def _no_path(query: PathQuery) -> Array:
    return np.zeros((0, query.model.n))


def _refusal(query: PathQuery) -> tuple[PathOutcome, str] | None:
    """Why there can be no path at all."""
    limits, names = query.model.limits, query.model.layout.joint_names
    for q, outcome in (
        (query.start, PathOutcome.START_OUTSIDE),
        (query.goal, PathOutcome.GOAL_OUTSIDE),
    ):
        inside = np.isfinite(q) & (limits.position_lower <= q) & (q <= limits.position_upper)
        for j in np.flatnonzero(~inside):
            allowed = f'{limits.position_lower[j]:.4g} to {limits.position_upper[j]:.4g}'
            return outcome, f'{names[j]} at {q[j]:.4g}, allowed {allowed}'
    for q, outcome in (
        (query.start, PathOutcome.START_IN_CONTACT),
        (query.goal, PathOutcome.GOAL_IN_CONTACT),
    ):
        nearest = arm_clearance(query.model, query.obstacles, q)
        if nearest is not None and not nearest.distance > 0.0:
            return outcome, str(nearest)
    for q, outcome in (
        (query.start, PathOutcome.START_TOO_HEAVY),
        (query.goal, PathOutcome.GOAL_TOO_HEAVY),
    ):
        (share,) = query.margin(q[None])
        least = int(np.argmin(share))
        if not share[least] > 0.0:
            needed = 1.0 - share[least]
            return outcome, f'{names[least]} needs {needed:.3g} times its torque limit'
    return None


class _Search:
    """One run of RRT-Connect."""

    def __init__(
        self, query: PathQuery, settings: PathSettings, deadline: float, cancelled: Event | None
    ) -> None:
        self.samples = 0
        self._query = query
        self._settings = settings
        self._deadline = deadline
        self._cancelled = cancelled
        self._rng = np.random.default_rng(settings.seed)
        self._scene = scene_of(query.model, query.obstacles)
        self._turning = query.model.limits.is_continuous
        self._enough = _clearance_to_keep(query, settings.clearance)
        ends = query.margin(np.stack([query.start, query.goal]))
        self._share = min(settings.torque_share, 0.9 * float(ends.min()))
        self._box = _box(query, settings.limit_margin)

    def run(self) -> Array | None:
        """Return configurations from start to goal, each edge free; None when stopped before."""
        if self._is_over():
            return None
        start, goal = self._query.start, self._query.goal
        straight = shortest_way(start, goal, self._turning)
        if self._is_free(start, straight):
            return np.stack([start, start + straight])
        trees = [SearchTree(start, self._turning), SearchTree(goal, self._turning)]
        while self.samples < self._settings.most and not self._is_over():
            self.samples += 1
            grown, _ = self._extend(trees[0], self._rng.uniform(*self._box))
            if grown is not None:
                met = self._connect(trees[1], trees[0].nodes[grown])
                if met is not None:
                    return self._joined(trees, grown, met)
            trees.reverse()
        return None

    def shortened(self, path: Array) -> Array:
        """Straight edges between random points of the path where they are free."""
        for _ in range(self._settings.shortcuts):
            if len(path) < 3 or self._is_over():
                break
            (i, j), shares = np.sort(self._rng.integers(0, len(path) - 1, 2)), self._rng.random(2)
            a = path[i] + shares[0] * (path[i + 1] - path[i])
            b = path[j] + shares[1] * (path[j + 1] - path[j])
            if i < j and self._is_free(a, b - a):
                path = np.concatenate([path[: i + 1], a[None], b[None], path[j + 1 :]])
        return self._without_needless(path)

    def _without_needless(self, path: Array) -> Array:
        """Leave out corners that an edge can skip."""
        i = 1
        while i < len(path) - 1 and not self._is_over():
            if self._is_free(path[i - 1], path[i + 1] - path[i - 1]):
                path = np.delete(path, i, axis=0)
            else:
                i += 1
        return path

    def _extend(self, tree: SearchTree, target: Array) -> tuple[int | None, bool]:
        """Grow one branch towards a target: the new node, and whether it is there."""
        near = tree.nearest(target)
        way = shortest_way(tree.nodes[near], target, self._turning)
        longest = float(np.abs(way).max())
        is_there = longest <= self._settings.branch
        if not is_there:
            way = way * (self._settings.branch / longest)
        if not self._is_free(tree.nodes[near], way):
            return None, False
        return tree.add(tree.nodes[near] + way, near), is_there

    def _connect(self, tree: SearchTree, target: Array) -> int | None:
        """Grow branches towards a target until there: the new node, or None when not free."""
        node, is_there = self._extend(tree, target)
        while node is not None and not is_there:
            node, is_there = self._extend(tree, target)
        return node

    def _joined(self, trees: list[SearchTree], first: int, second: int) -> Array:
        """Return the path through two trees that met, from start to goal, unwrapped."""
        path = np.concatenate([trees[0].path(first)[::-1], trees[1].path(second)])
        if not np.array_equal(path[0], self._query.start):
            path = path[::-1]
        steps = shortest_way(path[:-1], path[1:], self._turning)
        return np.asarray(np.cumsum(np.concatenate([path[:1], steps]), axis=0))

    def _is_free(self, start: Array, way: Array) -> bool:
        scene, resolution = self._scene, self._settings.resolution
        if not edge_is_free(scene, start, way, resolution, self._enough):
            return False
        count = int(np.ceil(np.abs(way).max() / (HEAVY * resolution))) + 1
        samples = start + np.linspace(0.0, 1.0, count)[:, None] * way
        return bool(self._query.margin(samples).min() >= self._share)

    @property
    def ending(self) -> PathOutcome:
        """Why there is no path, where none was found."""
        if self._cancelled is not None and self._cancelled.is_set():
            return PathOutcome.CANCELLED
        all_drawn = self.samples >= self._settings.most
        return PathOutcome.NONE_FOUND if all_drawn else PathOutcome.OUT_OF_TIME

    def _is_over(self) -> bool:
        if self._cancelled is not None and self._cancelled.is_set():
            return True
        return time.monotonic() >= self._deadline


def _clearance_to_keep(query: PathQuery, wanted: float) -> float:
    """No more than start and goal have, or nothing could leave the one or reach the other."""
    for q in (query.start, query.goal):
        nearest = arm_clearance(query.model, query.obstacles, q)
        if nearest is not None:
            wanted = min(wanted, 0.9 * nearest.distance)
    return wanted


def _box(query: PathQuery, margin: float) -> tuple[Array, Array]:
    """Where to draw configurations: limits, half a turn about the start, or about both ends."""
    limits = query.model.limits
    low, high = np.minimum(query.start, query.goal), np.maximum(query.start, query.goal)
    inset = np.minimum(margin, 0.25 * (limits.position_upper - limits.position_lower))
    lower, upper = limits.position_lower + inset, limits.position_upper - inset
    lower = np.minimum(np.where(np.isfinite(lower), lower, low - np.pi), low)
    upper = np.maximum(np.where(np.isfinite(upper), upper, high + np.pi), high)
    turning = limits.is_continuous
    lower[turning], upper[turning] = query.start[turning] - np.pi, query.start[turning] + np.pi
    return lower, upper
