"""How clearances change with x: the way that end points move, along the shortest way between.

A search asks for the few rows that it looks at, of thousands whose clearance it wants to know.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.collision.obstacles import PackedObstacles
from safe_sysid.model.collision.sphere_cover import Shapes
from safe_sysid.reach.clearance import (
    ClearanceRows,
    Points,
    capsule_clearance,
    obstacle_clearance,
)
from safe_sysid.reach.forward_occupancy import Occupancy
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.lanes import LANES, lane_columns, lane_pool
from safe_sysid.sets.points import Point


def clearance_slopes(
    points: Points,
    moved: Array,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
) -> Array:
    """Return the derivatives in x of clearances from obstacles, then of those of capsules, (., d).

    `moved` (T, 2 m, 3, d) has how the end points that the rows need move with x.
    """
    out = np.empty((len(rows.obstacle) + len(rows.capsule), moved.shape[3]))
    _slopes(points, moved, shapes, obstacles, rows, out)
    return out


def moved_points(occupancy: Occupancy, rows: ClearanceRows, gradients: Array) -> Array:
    """Return how end points that the rows need move with x; the others are left empty.

    `gradients` (M, d) are those of the monomials at x.
    """
    out = np.empty((*rows.used.shape, 3, gradients.shape[1]))
    _move(occupancy.rows, rows.used, lane_columns(gradients), out)
    return out


@jit
def _move(rows: Array, used: AnyArray, columns: Array, out: Array) -> None:
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
                    for v in range(out.shape[3]):
                        out[t, j, i, v] = products[i, v // LANES, v % LANES]


@jit
def _slopes(
    points: Points,
    moved: Array,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    out: Array,
) -> None:
    """Of all rows."""
    for r in range(len(rows.obstacle)):
        t, sphere, o = rows.obstacle[r, 0], rows.obstacle[r, 1], rows.obstacle[r, 2]
        _, gradient = obstacle_clearance(points, shapes, obstacles, (t, sphere, o))
        c, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
        for v in range(out.shape[1]):
            out[r, v] = _along(moved, t, c, s, gradient, v)
    for r in range(len(rows.capsule)):
        t, pair = rows.capsule[r, 0], rows.capsule[r, 1]
        first, second = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
        _, normal, s, u = capsule_clearance(points, shapes, (t, pair))
        for v in range(out.shape[1]):
            near = _along(moved, t, first, s, normal, v)
            far = _along(moved, t, second, u, normal, v)
            out[len(rows.obstacle) + r, v] = far - near


@inline_jit
def _along(moved: Array, t: int, a: int, s: float, direction: Point, v: int) -> float:
    """How a mixture of a capsule's end points moves in a direction, with variable v."""
    r, b = 1.0 - s, a + moved.shape[1] // 2
    x = r * moved[t, a, 0, v] + s * moved[t, b, 0, v]
    y = r * moved[t, a, 1, v] + s * moved[t, b, 1, v]
    z = r * moved[t, a, 2, v] + s * moved[t, b, 2, v]
    return direction[0] * x + direction[1] * y + direction[2] * z  # type: ignore[no-any-return]
