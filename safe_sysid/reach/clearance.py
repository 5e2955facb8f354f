"""Clearance of the arm from obstacles and from itself, in compiled loops over time.

Points of a capsule's segment are mixtures (1 - s) a + s b of its end points, and a mixture of two
points that are known to within rho_a and rho_b is known to within (1 - s) rho_a + s rho_b. So

    obstacle    distance(mixture) - sphere radius - mixed rho
    capsules    distance(segments) - both radii - larger rho of each

are lower bounds of the clearance, because a signed distance changes by at most the way a point
moves. How they change with x is in `clearance_slopes`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import PackedObstacles, obstacle_distance
from safe_sysid.model.collision.segment_distance import segment_distance
from safe_sysid.model.collision.sphere_cover import Shapes, sphere_cover
from safe_sysid.reach.forward_occupancy import Occupancy
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.points import Point, between, minus, point_at, size
from safe_sysid.sets.steps import Steps, over_steps

# Rows; fewer take a millisecond at most, in which waiting for a second thread that other work
# keeps from running (the controller, the identifier) would cost more than it saves.
SHARED_FROM = 10_000


class Points(NamedTuple):
    """End points (T, 2 m) at one k: where they are, and to within what."""

    center: Array  # (T, 2 m, 3) [m]
    rho: Array  # (T, 2 m) [m]


class ClearanceRows(NamedTuple):
    """Which clearances to compute; rows are sorted by time interval."""

    obstacle: IntArray  # (R, 3): time interval, sphere, obstacle
    obstacle_start: IntArray  # (T + 1,)
    capsule: IntArray  # (R', 2): time interval, pair
    capsule_start: IntArray  # (T + 1,)
    used: AnyArray  # (T, 2 m) bool, end points that some row needs


def whole_range(occupancy: Occupancy) -> Points:
    """Every end point for all k at once."""
    return Points(*occupancy.whole_range)


def clearance_rows(points: Points, shapes: Shapes, obstacles: PackedObstacles) -> ClearanceRows:
    """All clearances that there are."""
    steps = len(points.center)
    t, sphere, o = np.meshgrid(
        np.arange(steps),
        np.arange(len(shapes.sphere_capsule)),
        np.arange(len(obstacles.place)),
        indexing='ij',
    )
    obstacle = np.stack([t.ravel(), sphere.ravel(), o.ravel()], axis=1)
    return chosen_rows(steps, shapes, obstacle, _every_pair(steps, len(shapes.pairs)))


@lru_cache(maxsize=8)  # of arms: every certificate asks
def self_clearance_rows(capsules: Capsules, intervals: int) -> ClearanceRows:
    """Return clearances of all pairs of capsules in every time interval."""
    shapes = sphere_cover(capsules)
    nothing, pairs = np.zeros((0, 3), dtype=np.int64), _every_pair(intervals, len(shapes.pairs))
    return chosen_rows(intervals, shapes, nothing, pairs)


def undecided_rows(
    points: Points, shapes: Shapes, obstacles: PackedObstacles, near: IntArray
) -> ClearanceRows:
    """Return rows of obstacles (R, 3), and pairs that are not apart for all k anyway."""
    pairs = _every_pair(len(points.center), len(shapes.pairs))
    every = chosen_rows(len(points.center), shapes, near[:0], pairs)
    values = clearances(points, shapes, obstacles, every)
    return chosen_rows(len(points.center), shapes, near, every.capsule[~(values > 0.0)])


def _every_pair(steps: int, pairs: int) -> IntArray:
    """Time intervals and pairs of capsules, (R', 2)."""
    t, pair = np.meshgrid(np.arange(steps), np.arange(pairs), indexing='ij')
    return np.stack([t.ravel(), pair.ravel()], axis=1)


def chosen_rows(
    intervals: int, shapes: Shapes, obstacle: IntArray, capsule: IntArray
) -> ClearanceRows:
    """Rows of these time intervals, spheres and obstacles (R, 3), and intervals and pairs."""
    count = 2 * len(shapes.capsule_radius)
    used = np.zeros((intervals, count), dtype=bool)
    pairs = shapes.pairs[capsule[:, 1]]
    times = np.concatenate([obstacle[:, 0], capsule[:, 0], capsule[:, 0]])
    member = np.concatenate([shapes.sphere_capsule[obstacle[:, 1]], pairs[:, 0], pairs[:, 1]])
    used[times, member] = used[times, member + count // 2] = True
    edges = np.arange(intervals + 1)
    return ClearanceRows(
        obstacle,
        np.searchsorted(obstacle[:, 0], edges),
        capsule,
        np.searchsorted(capsule[:, 0], edges),
        used,
    )


def clearances(
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    out: Array | None = None,
) -> Array:
    """Clearance from obstacles, then of capsules from each other, in `out` if given."""
    count = len(rows.obstacle) + len(rows.capsule)
    if out is None:
        out = np.empty(count)
    arguments, steps = (points, shapes, obstacles, rows, out), len(points.center)
    if count >= SHARED_FROM:
        over_steps(_clearances, steps, *arguments)
    else:
        _clearances((0, steps), *arguments)
    return out


def points_at(occupancy: Occupancy, rho: Array, rows: ClearanceRows, monomials: Array) -> Points:
    """End points that the rows need at one x; the others are left empty.

    `rho` (T, 2 m) are balls about the end points; `monomials` (M,) have their values at x.
    """
    center = np.empty((*rho.shape, 3))
    _evaluate(occupancy.rows, rows.used, monomials, center)
    return Points(center, rho)


@jit
def _evaluate(rows: Array, used: AnyArray, monomials: Array, center: Array) -> None:
    """Coefficients times monomials; three sums keep the adders busy."""
    for t in range(len(rows)):
        for j in range(rows.shape[1]):
            if used[t, j]:
                x = rows[t, j, 0, 0] * monomials[0]
                y = rows[t, j, 1, 0] * monomials[0]
                z = rows[t, j, 2, 0] * monomials[0]
                for m in range(1, len(monomials)):
                    x += rows[t, j, 0, m] * monomials[m]
                    y += rows[t, j, 1, m] * monomials[m]
                    z += rows[t, j, 2, m] * monomials[m]
                center[t, j, 0], center[t, j, 1], center[t, j, 2] = x, y, z


@inline_jit
def obstacle_clearance(
    points: Points, shapes: Shapes, obstacles: PackedObstacles, row: tuple[int, int, int]
) -> tuple[float, Point]:
    """Clearance of one sphere, and the gradient of the distance.

    From an obstacle that moves it is that of the sphere moved the other way, less its growth.
    """
    t, sphere, o = row
    a, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
    b = a + points.rho.shape[1] // 2
    p, q = point_at(points.center, t, a), point_at(points.center, t, b)
    middle, coordinates, grown = between(p, q, s), size(p) + size(q), 0.0
    moving = obstacles.place[o, 3]
    if moving >= 0:
        if t >= len(obstacles.growth):  # nobody knows where it is then
            return -np.inf, (0.0, 0.0, 0.0)
        shift = point_at(obstacles.shift, t, moving)
        middle, grown = minus(middle, shift), obstacles.growth[t, moving]
        coordinates += size(shift)
    distance, gradient = obstacle_distance(obstacles, o, middle)
    rho = (1.0 - s) * points.rho[t, a] + s * points.rho[t, b]
    less = shapes.sphere_radius[sphere] + rho + grown
    return distance - less - 8.0 * EPS * (coordinates + less), gradient


@inline_jit
def capsule_clearance(
    points: Points, shapes: Shapes, row: tuple[int, int]
) -> tuple[float, Point, float, float]:
    """Clearance of one pair of capsules, its direction, and where on the two segments it is."""
    t, pair = row
    first, second = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
    half = points.rho.shape[1] // 2
    one = point_at(points.center, t, first), point_at(points.center, t, first + half)
    other = point_at(points.center, t, second), point_at(points.center, t, second + half)
    distance, normal, s, u = segment_distance(one, other)
    rho = _larger(points.rho[t, first], points.rho[t, first + half])
    rho += _larger(points.rho[t, second], points.rho[t, second + half])
    less = shapes.capsule_radius[first] + shapes.capsule_radius[second] + rho
    return distance - less - 8.0 * EPS * less, normal, s, u


@inline_jit
def _larger(a: float, b: float) -> float:
    """Return the larger one, or the one that is no number."""
    return a if a > b or np.isnan(a) else b


@jit
def _clearances(
    steps: Steps,
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    values: Array,
) -> None:
    """All rows of some time steps."""
    for r in range(rows.obstacle_start[steps[0]], rows.obstacle_start[steps[1]]):
        row = rows.obstacle[r, 0], rows.obstacle[r, 1], rows.obstacle[r, 2]
        values[r], _ = obstacle_clearance(points, shapes, obstacles, row)
    for r in range(rows.capsule_start[steps[0]], rows.capsule_start[steps[1]]):
        pair = rows.capsule[r, 0], rows.capsule[r, 1]
        values[len(rows.obstacle) + r], _, _, _ = capsule_clearance(points, shapes, pair)
