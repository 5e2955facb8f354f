"""Points and directions in space as three numbers, which compiled code keeps in registers.

A view of an array counts its owners, which takes longer than a distance.
"""

from __future__ import annotations

import math

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import inline_jit

Point = tuple[float, float, float]


@inline_jit
def dot(u: Point, v: Point) -> float:
    """Inner product."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inline_jit
def between(a: Point, b: Point, s: float) -> Point:
    """Point (1 - s) a + s b."""
    r = 1.0 - s
    return r * a[0] + s * b[0], r * a[1] + s * b[1], r * a[2] + s * b[2]


@inline_jit
def minus(a: Point, b: Point) -> Point:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline_jit
def plus(a: Point, b: Point) -> Point:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inline_jit
def length(a: Point) -> float:
    """Euclidean length."""
    return math.sqrt(dot(a, a))


@inline_jit
def size(a: Point) -> float:
    """Sum of absolute coordinates."""
    return abs(a[0]) + abs(a[1]) + abs(a[2])


@inline_jit
def point_of(rows: Array, i: int) -> Point:
    """Row of an array (N, 3)."""
    return rows[i, 0], rows[i, 1], rows[i, 2]


@inline_jit
def point_at(points: Array, t: int, i: int) -> Point:
    """Entry of an array (T, N, 3)."""
    return points[t, i, 0], points[t, i, 1], points[t, i, 2]
