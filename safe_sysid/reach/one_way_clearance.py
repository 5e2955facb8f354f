"""Clearances that stay positive for every k, by how far the arm moves towards what it may touch.

A ball about all places of an end point counts its way in every direction. Only one matters:

    obstacle    the distance f from a convex set is convex, f(p) >= f(c) + g.(p - c) with its
                gradient g at c,
    capsules    two segments are at least min over their ends a, b of n.(b - a) apart, for any n
                of a length up to 1, here that of the middle of the range,

and p - c and b - a are polynomials in k, whose values along g or n are bounded by the sum of what
each monomial can take from them. Of a pair that turns together little is left. What else end
points are known to is in the balls that clearances subtract anyway.

Gradients are off by about 1e-15 m over the distance, what boxes lose to a rotation that was given
in rounded numbers grows by less than 1e-8 of the way, and only distances above `SLACK` count.
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
    chosen_rows,
    obstacle_clearance,
)
from safe_sysid.reach.forward_occupancy import Occupancy
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.points import Point, between, dot, minus

SLACK = 1e-7  # [m], and relative to what is compared, that a clearance has to be positive by


def undecided_one_way(
    occupancy: Occupancy, shapes: Shapes, obstacles: PackedObstacles, rows: ClearanceRows
) -> ClearanceRows:
    """Return those of the rows that some k may make negative, as far as this can tell."""
    rho = occupancy.rho
    points = Points(np.ascontiguousarray(occupancy.rows[..., 0]), rho)
    even = np.all(occupancy.monomials.exponents % 2 == 0, axis=1)
    near = np.empty(len(rows.obstacle), dtype=bool)
    crossing = np.empty(len(rows.capsule), dtype=bool)
    models = occupancy.rows, even
    _from_obstacles(models, points, shapes, obstacles, rows, near)
    _from_capsules(models, points, shapes, rows, crossing)
    return chosen_rows(len(rho), shapes, rows.obstacle[near], rows.capsule[crossing])


@jit
def _from_obstacles(
    models: tuple[Array, AnyArray],
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    rows: ClearanceRows,
    undecided: AnyArray,
) -> None:
    """Whether the clearance of each sphere from each obstacle may be negative."""
    coefficients, even = models
    half = coefficients.shape[1] // 2
    for r in range(len(undecided)):
        t, sphere, o = rows.obstacle[r, 0], rows.obstacle[r, 1], rows.obstacle[r, 2]
        a, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
        value, gradient = obstacle_clearance(points, shapes, obstacles, (t, sphere, o))
        lost = 0.0
        for m in range(1, len(even)):
            p, q = _coefficient(coefficients, t, a, m), _coefficient(coefficients, t, a + half, m)
            lost += _most_taken(dot(gradient, between(p, q, s)), even[m])
        undecided[r] = not value - lost > SLACK * (1.0 + lost)


@jit
def _from_capsules(
    models: tuple[Array, AnyArray],
    points: Points,
    shapes: Shapes,
    rows: ClearanceRows,
    undecided: AnyArray,
) -> None:
    """Whether the clearance of each pair of capsules may be negative."""
    coefficients, even = models
    half = coefficients.shape[1] // 2
    for r in range(len(undecided)):
        t, pair = rows.capsule[r, 0], rows.capsule[r, 1]
        first, second = shapes.pairs[pair, 0], shapes.pairs[pair, 1]
        clearance, normal, s, u = capsule_clearance(points, shapes, (t, pair))
        at = _coefficient(coefficients, t, first, 0), _coefficient(coefficients, t, second, 0)
        ends = (
            _coefficient(coefficients, t, first + half, 0),
            _coefficient(coefficients, t, second + half, 0),
        )
        nearest = dot(normal, minus(between(at[1], ends[1], u), between(at[0], ends[0], s)))
        smallest = np.inf
        for one in (first, first + half):
            for other in (second, second + half):
                x, y = (
                    _coefficient(coefficients, t, one, 0),
                    _coefficient(coefficients, t, other, 0),
                )
                value = clearance + dot(normal, minus(y, x)) - nearest
                for m in range(1, len(even)):
                    x = _coefficient(coefficients, t, one, m)
                    y = _coefficient(coefficients, t, other, m)
                    value -= (1.0 + SLACK) * _most_taken(dot(normal, minus(y, x)), even[m])
                smallest = min(smallest, value)
        undecided[r] = not smallest > SLACK


@inline_jit
def _coefficient(coefficients: Array, t: int, end: int, m: int) -> Point:
    """Coefficient m of the coordinates of an end point."""
    return coefficients[t, end, 0, m], coefficients[t, end, 1, m], coefficients[t, end, 2, m]


@inline_jit
def _most_taken(coefficient: float, is_even: bool) -> float:
    """Most that a monomial with values in [-1, 1], or in [0, 1], takes from a sum."""
    return max(-coefficient, 0.0) if is_even else abs(coefficient)
