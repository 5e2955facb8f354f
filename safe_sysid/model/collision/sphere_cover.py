"""Spheres that cover the capsules of an arm, for distances to obstacles.

Let a capsule have length L and radius r, and let R >= r. Spheres of radius R about centres on its
segment cover it if
- neighbouring centres are at most 2 h apart, h^2 = R^2 - r^2: a point of the capsule nearest to a
  point y between two centres is at most r from y, across the segment, and y is at most h from one
  of the centres c, so that its distance to c is at most sqrt(r^2 + h^2) = R;
- the first and last centre are at most d = R - r from the ends: the distance of a point of an end
  cap to the centre is at most r + d = R, and so it is between the end and that centre.
m centres reach L = 2 d + 2 (m - 1) h, a quadratic equation for d. (Spheres of radius
sqrt(r^2 + (L / 2 m)^2) about the middles of m equal pieces do not cover the end caps.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.sets.interval import EPS

EXCESS = 0.012  # [m] by which spheres may stand out of their capsule; decides how many there are


class Shapes(NamedTuple):
    """Capsules, and spheres: sphere i is about (1 - weight) a + weight b of its capsule."""

    capsule_radius: Array  # (m,) [m]
    pairs: IntArray  # (p, 2) capsules that can touch each other
    sphere_capsule: IntArray  # (S,)
    sphere_weight: Array  # (S,)
    sphere_radius: Array  # (S,) [m]


@lru_cache(maxsize=8)  # of arms: every certificate asks
def sphere_cover(capsules: Capsules) -> Shapes:
    """Cover every capsule that a joint moves; those of the base cannot be kept from obstacles."""
    parts = [(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))]
    for c in np.flatnonzero(capsules.joint >= 0):
        length = float(np.linalg.norm(capsules.b[c] - capsules.a[c]))
        inset, count = inset_and_count(length, float(capsules.radius[c]))
        first = inset / length if count > 1 else 0.5
        # Weights and the inset are off by a few EPS of the length.
        radius = capsules.radius[c] + inset + 64 * EPS * (length + capsules.radius[c])
        weights = np.linspace(first, 1.0 - first, count)
        parts.append((np.full(count, c), weights, np.full(count, radius)))
    owner, weights, radii = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Shapes(capsules.radius, capsules.pairs, owner, weights, radii)


def inset_and_count(length: float, radius: float) -> tuple[float, int]:
    """Distance d of the outer centres from the ends, and how many centres keep it below EXCESS."""
    if length <= 2.0 * EXCESS:
        return 0.5 * length, 1
    count = 1
    inset = np.inf
    while inset > EXCESS:
        count += 1
        # (L / 2 - d)^2 = g (d^2 + 2 r d), g = (m - 1)^2, solved for d without cancellation
        g = float((count - 1) ** 2)
        half = 0.5 * (2.0 * radius * g + length)
        inset = 0.25 * length**2 / (half + np.sqrt(half**2 + (g - 1.0) * 0.25 * length**2))
    return float(inset), count
