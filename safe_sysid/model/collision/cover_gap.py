"""How much larger a cover of capsules is than the convex hull of what it contains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import coal
import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.capsule_fit import Capsule, spread_directions
from safe_sysid.model.collision.meshes import convex_hull

DIRECTIONS = 600  # on each end of a capsule
BELTS = (0.25, 0.5, 0.75)  # places between the ends
INSIDE = 1e-9  # [m] deeper than this in another capsule is not on the surface of the cover
DRAWN = 20_000  # points for the volume of a union


class CoverGap(NamedTuple):
    """Sizes of a cover, by samples: figures to look at, no bounds."""

    largest: float  # [m] distance of its surface from the hull
    place: Array  # (3,) where that is
    ratio: float  # its volume over that of the hull


def cover_gap(capsules: Sequence[Capsule], hull: Array, hull_volume: float) -> CoverGap:
    """Compare capsules with the convex hull of points (N, 3)."""
    surface = np.concatenate([_surface(capsule) for capsule in capsules])
    for capsule in capsules:
        surface = surface[capsule.distances(surface) >= capsule.radius - INSIDE]
    shape, point = convex_hull(hull, 'of a body'), coal.Sphere(1e-9)
    here, request, result = coal.Transform3s(), coal.DistanceRequest(), coal.DistanceResult()
    gaps = []
    for x in surface:
        result.clear()
        there = coal.Transform3s(np.eye(3), x)
        gaps.append(coal.distance(shape, here, point, there, request, result))
    worst = int(np.argmax(gaps))
    volume = _volume(capsules)
    ratio = volume / hull_volume if hull_volume > 0.0 else np.inf
    return CoverGap(max(float(gaps[worst]), 0.0), surface[worst], ratio)


def _surface(capsule: Capsule) -> Array:
    """Points on the surface of a capsule, on its ends and on belts between them."""
    along = capsule.b - capsule.a
    length = float(np.linalg.norm(along))
    ball = capsule.radius * spread_directions(DIRECTIONS)
    if length == 0.0:
        return np.asarray(capsule.a + ball)
    u = along / length
    height = ball @ u
    ends = [capsule.a + ball[height <= 0.0], capsule.b + ball[height >= 0.0]]
    flat = ball - height[:, None] * u
    size = np.linalg.norm(flat, axis=1)
    rim = capsule.radius * flat[size > 0.0] / size[size > 0.0, None]
    return np.concatenate([*ends, *(capsule.a + share * along + rim[::6] for share in BELTS)])


def _volume(capsules: Sequence[Capsule]) -> float:
    """Volume of the union; of several capsules by points drawn in their box."""
    if len(capsules) == 1:
        return capsules[0].volume
    ends = np.array([[c.a, c.b] for c in capsules])
    radii = np.array([c.radius for c in capsules])[:, None]
    low = (ends.min(axis=1) - radii).min(axis=0)
    high = (ends.max(axis=1) + radii).max(axis=0)
    points = low + (high - low) * np.random.default_rng(0).random((DRAWN, 3))
    inside = np.zeros(DRAWN, dtype=bool)
    for capsule in capsules:
        inside |= capsule.distances(points) <= capsule.radius
    return float(np.prod(high - low) * inside.mean())
