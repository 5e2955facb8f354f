"""Clearance of the arm from obstacles and from itself, with gradient, in compiled loops over time.

Points of a capsule's segment are mixtures (1 - s) a + s b of its end points, and a mixture of two
points that are known to within rho_a and rho_b is known to within (1 - s) rho_a + s rho_b. So

    obstacle    distance(mixture) - sphere radius - mixed rho
    capsules    distance(segments) - both radii - larger rho of each

are lower bounds of the clearance, because a signed distance changes by at most the way a point
moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.collision.obstacles import PackedObstacles, obstacle_distance
from safe_sysid.model.collision.segment_distance import segment_distance
from safe_sysid.model.collision.sphere_cover import Shapes
from safe_sysid.reach.forward_occupancy import Occupancy
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES, lane_columns, lane_pool
from safe_sysid.sets.steps import Steps, over_steps

# Rows; fewer take a millisecond at most, in which waiting for a second thread that other work
# keeps from running (the controller, the identifier) would cost more than it saves.
SHARED_FROM = 10_000


class Points(NamedTuple):
    """End points (T, 2 m) at one k: where they are, to within what, and how they move with x."""

    center: Array  # (T, 2 m, 3) [m]
    rho: Array  # (T, 2 m) [m]
    slope: Array  # (T, 2 m, 3, d)


class ClearanceRows(NamedTuple):
    """Which clearances to compute; rows are sorted by time interval."""

    obstacle: IntArray  # (R, 3): time interval, sphere, obstacle
    obstacle_start: IntArray  # (T + 1,)
    capsule: IntArray  # (R', 2): time interval, pair
    capsule_start: IntArray  # (T + 1,)
    used: AnyArray  # (T, 2 m) bool, end points that some row needs


def whole_range(occupancy: Occupancy) -> Points:
    """Every end point for all k at once."""
    center, rho = occupancy.whole_range()
    return Points(center, rho, np.zeros((*center.shape, 0)))


def clearance_rows(points: Points, shapes: Shapes, obstacles: PackedObstacles) -> ClearanceRows:
    """All clearances that there are."""
    t, sphere, o = np.meshgrid(
        np.arange(len(points.center)),
        np.arange(len(shapes.sphere_capsule)),
        np.arange(len(obstacles.place)),
        indexing='ij',
    )
    obstacle = np.stack([t.ravel(), sphere.ravel(), o.ravel()], axis=1)
    return _rows(points, shapes, obstacle, _every_pair(points, shapes))


def undecided_rows(
    points: Points, shapes: Shapes, obstacles: PackedObstacles, near: IntArray
) -> ClearanceRows:
    """Return rows of obstacles (R, 3), and pairs that are not apart for all k anyway."""
    every = _rows(points, shapes, near[:0], _every_pair(points, shapes))
    values, _ = clearances(points, shapes, obstacles, every)
    return _rows(points, shapes, near, every.capsule[~(values > 0.0)])


def _every_pair(points: Points, shapes: Shapes) -> IntArray:
    """Time intervals and pairs of capsules, (R', 2)."""
    steps, pairs = np.arange(len(points.center)), np.arange(len(shapes.pairs))
    t, pair = np.meshgrid(steps, pairs, indexing='ij')
    return np.stack([t.ravel(), pair.ravel()], axis=1)


def _rows(points: Points, shapes: Shapes, obstacle: IntArray, capsule: IntArray) -> ClearanceRows:
    intervals, count = points.rho.shape
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
    points: Points, shapes: Shapes, obstacles: PackedObstacles, rows: ClearanceRows
) -> tuple[Array, Array]:
    """Clearance from obstacles, then of capsules from each other, and derivatives in x."""
    count = len(rows.obstacle) + len(rows.capsule)
    values, jacobian = np.empty(count), np.empty((count, points.slope.shape[3]))
    arguments, steps = (points, shapes, obstacles, rows, values, jacobian), len(points.center)
    if count >= SHARED_FROM:
        over_steps(_clearances, steps, *arguments)
    else:
        _clearances((0, steps), *arguments)
    return values, jacobian


def points_at(
    occupancy: Occupancy, rho: Array, rows: ClearanceRows, polynomials: tuple[Array, Array]
) -> Points:
    """End points that the rows need at one x; the others are left empty.

    `rho` (T, 2 m) are balls about the end points; `polynomials` are the values (M,) and gradients
    (M, d) of the monomials at x.
    """
    values, gradients = polynomials
    columns = lane_columns(np.column_stack([values, gradients]))
    center = np.empty((*rho.shape, 3))
    slope = np.empty((*rho.shape, 3, gradients.shape[1]))
    _evaluate(occupancy.rows, rows.used, columns, center, slope)
    return Points(center, rho, slope)


@jit
def _evaluate(rows: Array, used: AnyArray, columns: Array, center: Array, slope: Array) -> None:
    """Coefficients times columns, of which LANES are side by side; three sums keep adders busy."""
    blocks, M = columns.shape[:2]
    products = np.empty((3, blocks, LANES))
    column, product = lane_pool(columns), lane_pool(products)
    for t in range(len(rows)):
        for j in range(rows.shape[1]):
            if used[t, j]:
                for b in range(blocks):
                    x = rows[t, j, 0, 0] * column[b, 0]
                    y = rows[t, j, 1, 0] * column[b, 0]
                    z = rows[t, j, 2, 0] * column[b, 0]
                    for m in range(1, M):
                        x += rows[t, j, 0, m] * column[b, m]
                        y += rows[t, j, 1, m] * column[b, m]
                        z += rows[t, j, 2, m] * column[b, m]
                    product[0, b], product[1, b], product[2, b] = x, y, z
                for i in range(3):
                    center[t, j, i] = products[i, 0, 0]
                    for v in range(slope.shape[3]):
                        slope[t, j, i, v] = products[i, (v + 1) // LANES, (v + 1) % LANES]


@jit
def obstacle_clearance(
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    row: tuple[int, int, int],
    work: Array,
) -> float:
    """Clearance of one sphere; the gradient of the distance is left in work[5].

    From an obstacle that moves it is that of the sphere moved the other way, less its growth.
    """
    t, sphere, o = row
    moving, grown = obstacles.place[o, 3], 0.0
    if moving >= 0 and t >= len(obstacles.growth):  # nobody knows where it is then
        work[5] = 0.0
        return -np.inf
    a, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
    b = a + points.rho.shape[1] // 2
    size = 0.0
    for i in range(3):
        p, q = points.center[t, a, i], points.center[t, b, i]
        work[4, i] = (1.0 - s) * p + s * q
        size += abs(p) + abs(q)
        if moving >= 0:
            work[4, i] -= obstacles.shift[t, moving, i]
            size += abs(obstacles.shift[t, moving, i])
    if moving >= 0:
        grown = obstacles.growth[t, moving]
    distance = obstacle_distance(obstacles, o, work[4], work[5])
    rho = (1.0 - s) * points.rho[t, a] + s * points.rho[t, b]
    radius = shapes.sphere_radius[sphere]
    known = distance - radius - rho - grown
    return known - 8.0 * EPS * (size + radius + rho + grown)  # type: ignore[no-any-return]


@part_jit
def _capsule_clearance(
    points: Points, shapes: Shapes, row: tuple[int, int], work: Array, slope: Array
) -> float:
    """Clearance of one pair of capsules, its gradient in `slope`."""
    t, pair = row
    first, second = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
    half = points.rho.shape[1] // 2
    for i in range(3):
        work[0, i] = points.center[t, first, i]
        work[1, i] = points.center[t, first + half, i]
        work[2, i] = points.center[t, second, i]
        work[3, i] = points.center[t, second + half, i]
    normal = work[5]
    distance, s, u = segment_distance(work[:4], normal)
    rho = max(points.rho[t, first], points.rho[t, first + half])
    rho += max(points.rho[t, second], points.rho[t, second + half])
    radii = shapes.capsule_radius[first] + shapes.capsule_radius[second]
    _set_slope(points.slope, (t, second), u, normal, slope)
    for i in range(3):
        for v in range(len(slope)):
            near = points.slope[t, first, i, v]
            far = points.slope[t, first + half, i, v]
            slope[v] -= normal[i] * ((1.0 - s) * near + s * far)
    return distance - radii - rho - 8.0 * EPS * (radii + rho)  # type: ignore[no-any-return]


@jit
def _set_slope(
    slopes: Array, place: tuple[int, int], s: float, direction: Array, slope: Array
) -> None:
    """Set slope to how a mixture of a capsule's end points moves in a direction."""
    t, a = place
    b = a + slopes.shape[1] // 2
    slope[:] = 0.0
    for i in range(3):
        for v in range(len(slope)):
            mixed = (1.0 - s) * slopes[t, a, i, v] + s * slopes[t, b, i, v]
            slope[v] += direction[i] * mixed


@part_jit
def _clearances_at(
    t: int,
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    values: Array,
    jacobian: Array,
) -> None:
    """All rows of one time interval."""
    first = len(rows.obstacle)
    work = np.empty((6, 3))
    for r in range(rows.obstacle_start[t], rows.obstacle_start[t + 1]):
        sphere, o = rows.obstacle[r, 1], rows.obstacle[r, 2]
        values[r] = obstacle_clearance(points, shapes, obstacles, (t, sphere, o), work)
        c, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
        _set_slope(points.slope, (t, c), s, work[5], jacobian[r])
    for r in range(rows.capsule_start[t], rows.capsule_start[t + 1]):
        pair = rows.capsule[r, 1]
        slope = jacobian[first + r]
        values[first + r] = _capsule_clearance(points, shapes, (t, pair), work, slope)


@jit
def _clearances(
    steps: Steps,
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    values: Array,
    jacobian: Array,
) -> None:
    for t in range(steps[0], steps[1]):
        _clearances_at(t, points, shapes, obstacles, rows, values, jacobian)
