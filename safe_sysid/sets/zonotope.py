"""Zonotopes in space: Minkowski sums, half-space form, signed distance to points with gradient.

The value of a point is its largest excess over the half-spaces that bound the zonotope. Inside it
is exactly minus the penetration depth; outside it is a lower bound of the Euclidean distance
(equal to it in front of a face, smaller beside an edge), so `distance > radius` still proves that
a sphere does not touch. As for boxes, rounding lowers it and never raises it.
"""

from __future__ import annotations

from dataclasses import dataclass
import itertools

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.points import Point, point_of, size

PARALLEL = 1e-12  # sine of an angle below which two generators are taken for parallel
FLAT = 1e-9  # smallest thickness, relative to the longest generator, that is not flat


@dataclass(frozen=True, eq=False)
class Zonotope:
    """The points center + generators' u + w, with |u_i| <= 1 and |w| <= radius."""

    center: Array  # (3,) [m]
    generators: Array  # (m, 3) [m]
    radius: float = 0.0  # [m], rounds the edges: Minkowski sum with a ball

    def __post_init__(self) -> None:
        center = finite_array(self.center, (3,), 'center of a zonotope')
        generators = finite_array(self.generators, (None, 3), 'generators of a zonotope')
        if not 0.0 <= self.radius < np.inf:
            raise BoundError(f'rounding radius of a zonotope is {self.radius}; it has to be >= 0')
        sizes = np.linalg.svd(generators, compute_uv=False)
        if len(sizes) < 3 or sizes[2] <= FLAT * sizes[0]:
            raise BoundError(
                f'generators {generators.tolist()} span no volume; give the zonotope some '
                'thickness, at least 1e-9 of its length in every direction'
            )
        object.__setattr__(self, 'center', center)
        object.__setattr__(self, 'generators', generators)

    @staticmethod
    def of_box(box: Box) -> Zonotope:
        """Encloses a box; the rounding radius covers the rounding of the generators."""
        generators = (box.rotation * box.half_sizes).T
        slack = 16 * EPS * float(box.half_sizes.sum())
        return Zonotope(box.center, generators, box.radius + slack)

    def plus(self, other: Zonotope) -> Zonotope:
        """Minkowski sum; encloses."""
        center = self.center + other.center
        slack = 4 * EPS * float(np.abs(self.center).sum() + np.abs(other.center).sum())
        radius = (self.radius + other.radius) * (1.0 + 4 * EPS) + slack
        return Zonotope(center, np.concatenate([self.generators, other.generators]), radius)

    def plus_ball(self, radius: float) -> Zonotope:
        """Minkowski sum with a ball about the origin; encloses."""
        if not 0.0 <= radius < np.inf:
            raise BoundError(f'radius of a ball is {radius}; it has to be at least zero')
        return Zonotope(self.center, self.generators, (self.radius + radius) * (1.0 + 4 * EPS))

    @property
    def half_spaces(self) -> tuple[Array, Array]:
        """Normals A (h, 3), not longer than 1, and offsets b (h,): every point has A x <= b.

        Faces of a zonotope are spanned by pairs of generators. The support along n is exactly
        n.c + sum |n.g| + radius |n|, so a half-space is valid for any n, also a rounded one; only
        the rounding of b itself has to be added.
        """
        pairs = itertools.combinations(range(len(self.generators)), 2)
        normals = [self._normal(i, j) for i, j in pairs]
        A = np.array([sign * n for n in normals if n is not None for sign in (1.0, -1.0)])
        support = np.abs(A @ self.generators.T).sum(axis=1) + self.radius
        size = np.abs(A) @ (np.abs(self.center) + np.abs(self.generators).sum(axis=0))
        slack = (len(self.generators) + 16) * EPS * (size + self.radius)
        return A, A @ self.center + support + slack

    def _normal(self, i: int, j: int) -> Array | None:
        """Return normal of the faces that generators i and j span; None when they are parallel."""
        a, b = self.generators[i], self.generators[j]
        normal = np.cross(a, b)
        length = float(np.linalg.norm(normal))
        if length <= PARALLEL * float(np.linalg.norm(a) * np.linalg.norm(b)):
            return None
        return np.asarray(normal / (length * (1.0 + 8 * EPS)))

    def distance(self, points: npt.ArrayLike) -> tuple[Array, Array]:
        """Lower bound of the signed distance to each point, and its gradient; (N, 3) points."""
        checked = finite_array(points, (None, 3), 'points')
        A, b = self.half_spaces
        values, gradients = np.empty(len(checked)), np.empty_like(checked)
        _distances(A, b, checked, values, gradients)
        return values, gradients


@inline_jit
def half_space_distance(
    A: Array, b: Array, rows: tuple[int, int], point: Point
) -> tuple[float, Point]:
    """Largest A x - b of rows from one to before another, lowered by its rounding.

    The second value is the normal where it is taken.
    """
    best, best_row = -np.inf, rows[0]
    for h in range(rows[0], rows[1]):
        x, y, z = A[h, 0] * point[0], A[h, 1] * point[1], A[h, 2] * point[2]
        value = x + y + z - b[h] - 32.0 * EPS * (size((x, y, z)) + abs(b[h]))
        if value > best:
            best, best_row = value, h
    return best, point_of(A, best_row)


@jit
def _distances(A: Array, b: Array, points: Array, values: Array, gradients: Array) -> None:
    for i in range(len(points)):
        values[i], gradient = half_space_distance(A, b, (0, len(b)), point_of(points, i))
        gradients[i, 0], gradients[i, 1], gradients[i, 2] = gradient
