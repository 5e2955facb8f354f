"""Distance of two line segments from below, proven by a plane between them.

For any n with |n| <= 1, every point y of one segment and x of the other have |y - x| >= n.(y - x),
which is smallest at end points: min n.(c, d) - max n.(a, b) is a lower bound of the distance
whatever n is. With n along the line of the nearest points it is the distance itself, to rounding.
"""

from __future__ import annotations

import math

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS

TOUCHING = 1e-12  # [m] distance below which the nearest points give no direction


@jit
def segment_distance(ends: Array, normal: Array) -> tuple[float, float, float]:
    """Lower bound of the distance of segments ab and cd, ends = (a, b, c, d) of shape (4, 3).

    Also returns the weights s and t of the nearest points, (1 - s) a + s b and (1 - t) c + t d,
    and in `normal` the direction from the first to the second, not longer than 1.
    """
    s, t = _nearest(ends)
    length = 0.0
    for i in range(3):
        p = ends[0, i] + s * (ends[1, i] - ends[0, i])
        q = ends[2, i] + t * (ends[3, i] - ends[2, i])
        normal[i] = q - p
        length += normal[i] * normal[i]
    length = math.sqrt(length)
    if length < TOUCHING:
        for i in range(3):
            normal[i] = 0.0
        return 0.0, s, t
    highest, lowest, size = -math.inf, math.inf, 0.0
    for i in range(3):
        normal[i] /= length * (1.0 + 8.0 * EPS)
    for j in range(2):
        first = second = 0.0
        for i in range(3):
            first += normal[i] * ends[j, i]
            second += normal[i] * ends[2 + j, i]
            size += abs(ends[j, i]) + abs(ends[2 + j, i])
        highest, lowest = max(highest, first), min(lowest, second)
    return lowest - highest - 8.0 * EPS * size, s, t


@jit
def _nearest(ends: Array) -> tuple[float, float]:
    """Weights of the nearest points: the unconstrained solution, clamped one weight at a time."""
    uu = vv = uv = uw = vw = 0.0
    for i in range(3):
        u, v = ends[1, i] - ends[0, i], ends[3, i] - ends[2, i]
        w = ends[0, i] - ends[2, i]
        uu += u * u
        vv += v * v
        uv += u * v
        uw += u * w
        vw += v * w
    s = 0.0
    denominator = uu * vv - uv * uv
    if denominator > 0.0:
        s = min(max((uv * vw - uw * vv) / denominator, 0.0), 1.0)
    t = (uv * s + vw) / vv if vv > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or vv == 0.0:
        t = min(max(t, 0.0), 1.0)
        s = min(max((uv * t - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    return s, t
