"""Whether the convex hulls of the pieces of two bodies can touch: branch and bound, by coal.

As for capsules (`pair_separation`), but the gap in the middle of a box is that of the hulls. No
point of a hull is farther from an axis than the middle of a ball around it, plus its radius. A
verdict rests on the meshes that the hulls are of, and on coal's distances, which are taken to be
right to ACCURATE.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import coal
import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.model.collision.meshes import convex_hull
from safe_sysid.model.collision.pair_separation import Chain, Separation, decided, levers, placed

ACCURATE = 1e-5  # [m]
MOST_BOXES = 20_000


class HullPair:
    """Hulls of points (N, 3), those of each body in the frame of the joint that carries it."""

    def __init__(self, chain: Chain, first: Sequence[Array], second: Sequence[Array]) -> None:
        balls = [_ball(np.concatenate(pieces)) for pieces in (first, second)]
        middles = [middle for middle, _ in balls for _ in range(2)]
        self._chain = chain._replace(ends=np.array(middles))
        self._room = max(radius for _, radius in balls)
        self._shapes = [
            [convex_hull(points, 'of a body') for points in pieces] for pieces in (first, second)
        ]

    def gaps(self, positions: Array) -> Array:
        """Distance of the hulls for every row of positions (N, m), at most 0 in contact."""
        (R, p), (S, r) = (placed(self._chain, positions, which) for which in (0, 1))
        rows = zip(R, p, S, r, strict=True)
        return np.array([_distance(self._shapes, row) for row in rows]) - ACCURATE

    def separation(self) -> Separation:
        """Whether the hulls can touch in any position of the joints between them."""
        lever = levers(self._chain) + np.where(self._chain.is_prismatic, 0.0, self._room)
        return decided(self._chain, lever, self.gaps, MOST_BOXES)


def _ball(points: Array) -> tuple[Array, float]:
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return middle, float(np.linalg.norm(points - middle, axis=1).max())


def _distance(shapes: list[list[Any]], row: tuple[Array, Array, Array, Array]) -> float:
    """Return the least distance of any two pieces."""
    R, p, S, r = row
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    here, there = coal.Transform3s(R, p), coal.Transform3s(S, r)
    least = np.inf
    for first in shapes[0]:
        for second in shapes[1]:
            result.clear()
            least = min(least, coal.distance(first, here, second, there, request, result))
    return float(least)


def surface_contacts(
    chain: Chain, first: Array, second: Array, positions: Array
) -> npt.NDArray[np.bool_]:
    """Whether triangles (T, 3, 3) of two bodies meet, for every row of positions (N, m)."""
    (R, p), (S, r) = (placed(chain, positions, which) for which in (0, 1))
    meshes = [_mesh(triangles) for triangles in (first, second)]
    request, found = coal.CollisionRequest(), []
    for row in zip(R, p, S, r, strict=True):
        here, there = coal.Transform3s(*row[:2]), coal.Transform3s(*row[2:])
        result = coal.CollisionResult()
        found.append(bool(coal.collide(meshes[0], here, meshes[1], there, request, result)))
    return np.array(found, dtype=bool)


def _mesh(triangles: Array) -> Any:
    """Triangles as they are, convex or not."""
    mesh, count = coal.BVHModelOBBRSS(), len(triangles)
    mesh.beginModel(count, 3 * count)
    mesh.addVertices(np.ascontiguousarray(triangles.reshape(-1, 3)))
    mesh.addTriangles(np.arange(3 * count).reshape(-1, 3))
    mesh.endModel()
    return mesh
