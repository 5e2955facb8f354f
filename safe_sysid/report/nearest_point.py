"""Where a drawn arm is nearest to an obstacle: a distance and the two points it is between."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import Obstacles, PackedObstacles, obstacle_distance
from safe_sysid.report.page_scene import Nearest
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.points import between, point_of

CUTS = 40  # of the interval in which the nearest point of a capsule's axis is
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
UNCHANGED = 1e-4  # [m] what turns about its own axis only is always as near


def nearest_points(
    capsules: Capsules, placed: Array, obstacles: Obstacles, changing: AnyArray | None = None
) -> Nearest | None:
    """Of capsules placed at (F, m, 2, 3); none without any.

    Pairs that come no nearer in all of these placements are left out, or those that are told.
    """
    flat, points = _distances(capsules, placed, obstacles)
    if changing is None:
        changing = _changing(flat)
    if not changing.any():
        return None
    least = np.argmin(np.where(changing, flat, np.inf), axis=1)
    rows, count = np.arange(len(placed)), len(obstacles)
    return Nearest(
        flat[rows, least],
        points[rows, least],
        tuple(f'{capsules.names[k // count]} and {obstacles.names[k % count]}' for k in least),
    )


def changing_pairs(capsules: Capsules, placed: Array, obstacles: Obstacles) -> AnyArray:
    """Whether a pair of a capsule and an obstacle comes nearer in some of these placements."""
    return _changing(_distances(capsules, placed, obstacles)[0])


def _distances(capsules: Capsules, placed: Array, obstacles: Obstacles) -> tuple[Array, Array]:
    """Of all pairs, (F, pairs), and the two points that are nearest, (F, pairs, 2, 3)."""
    frames, m, count = len(placed), len(capsules.names), len(obstacles)
    distance = np.full((frames, m, count), np.inf)
    points = np.empty((frames, m, count, 2, 3))
    moving = np.flatnonzero(capsules.joint >= 0)
    for frame, ends in enumerate(placed):
        for c in moving:
            nearest_into(
                obstacles.packed, ends[c], capsules.radius[c], distance[frame, c], points[frame, c]
            )
    return distance.reshape(frames, m * count), points.reshape(frames, m * count, 2, 3)


def _changing(distance: Array) -> AnyArray:
    """Whether what moves comes nearer or farther, by column of (F, pairs)."""
    moves = np.isfinite(distance).all(axis=0)
    changing: AnyArray = np.zeros(distance.shape[1], dtype=bool)
    changing[moves] = np.ptp(distance[:, moves], axis=0) > UNCHANGED
    return changing


@jit
def nearest_into(
    obstacles: PackedObstacles, ends: Array, radius: float, distance: Array, points: Array
) -> None:
    """Distances (O,) of a capsule from all obstacles, and nearest points (O, 2, 3).

    The distance from a convex shape is convex along an axis, so cutting finds where it is least.
    """
    a, b = point_of(ends, 0), point_of(ends, 1)
    for o in range(len(obstacles.place)):
        low, high = 0.0, 1.0
        for _ in range(CUTS):
            first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            at_first, _ = obstacle_distance(obstacles, o, between(a, b, first))
            at_second, _ = obstacle_distance(obstacles, o, between(a, b, second))
            if at_first <= at_second:
                high = second
            else:
                low = first
        point = between(a, b, 0.5 * (low + high))
        away, gradient = obstacle_distance(obstacles, o, point)
        distance[o] = away - radius
        for i in range(3):
            points[o, 0, i] = point[i] - radius * gradient[i]
            points[o, 1, i] = point[i] - away * gradient[i]
