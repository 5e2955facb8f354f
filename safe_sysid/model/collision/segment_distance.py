"""Distance of two line segments from below, proven by a plane between them.

For any n with |n| <= 1, every point y of one segment and x of the other have |y - x| >= n.(y - x),
which is smallest at end points: min n.(c, d) - max n.(a, b) is a lower bound of the distance
whatever n is. With n along the line of the nearest points it is the distance itself, to rounding.
"""

from __future__ import annotations

from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.points import Point, between, dot, length, minus, size

TOUCHING = 1e-12  # [m] distance below which the nearest points give no direction

Segment = tuple[Point, Point]


@jit
def segment_distance(first: Segment, second: Segment) -> tuple[float, Point, float, float]:
    """Lower bound of the distance of two segments, and a direction that proves it.

    The direction is from the first to the second and not longer than 1. Weights s and t are those
    of the nearest points, (1 - s) a + s b of the first segment and so of the second.
    """
    (a, b), (c, d) = first, second
    s, t = _nearest(minus(b, a), minus(d, c), minus(a, c))
    way = minus(between(c, d, t), between(a, b, s))
    far = length(way)
    if far < TOUCHING:
        return 0.0, (0.0, 0.0, 0.0), s, t
    shortened = far * (1.0 + 8.0 * EPS)
    normal = way[0] / shortened, way[1] / shortened, way[2] / shortened
    highest, lowest = max(dot(normal, a), dot(normal, b)), min(dot(normal, c), dot(normal, d))
    sizes = size(a) + size(b) + size(c) + size(d)
    return lowest - highest - 8.0 * EPS * sizes, normal, s, t


@inline_jit
def _nearest(u: Point, v: Point, w: Point) -> tuple[float, float]:
    """Weights of the nearest points: the unconstrained solution, clamped one weight at a time."""
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)
    s = 0.0
    denominator = uu * vv - uv * uv
    if denominator > 0.0:
        s = min(max((uv * vw - uw * vv) / denominator, 0.0), 1.0)
    t = (uv * s + vw) / vv if vv > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or vv == 0.0:
        t = min(max(t, 0.0), 1.0)
        s = min(max((uv * t - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    return s, t
