"""Boxes in space: signed distance to points, with gradient and a bound on its rounding.

The distance is Euclidean outside and minus the penetration depth inside. What is returned is a
lower bound of it, lower by rounding only (about 1e-15 of the coordinates), so that
`distance > radius` proves that a sphere does not touch.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS

UNIT = np.eye(3)
NOT_ORTHONORMAL = 1e-9  # largest entry of R'R - 1 that is taken for rounding of a rotation


@dataclass(frozen=True, eq=False)
class Box:
    """The points center + rotation u + w, with |u_i| <= half_sizes_i and |w| <= radius."""

    center: Array  # (3,) [m]
    half_sizes: Array  # (3,) [m], positive
    rotation: Array  # (3, 3), box axes as columns
    radius: float = 0.0  # [m], rounds the edges: Minkowski sum with a ball

    def __post_init__(self) -> None:
        center = finite_array(self.center, (3,), 'center of a box')
        half_sizes = finite_array(self.half_sizes, (3,), 'half sizes of a box')
        rotation = finite_array(self.rotation, (3, 3), 'rotation of a box')
        if not min(half_sizes.tolist()) > 0.0:
            raise BoundError(f'half sizes of a box are {half_sizes}; each has to be positive')
        if not 0.0 <= self.radius < np.inf:
            raise BoundError(f'rounding radius of a box is {self.radius}; it has to be >= 0')
        error = np.abs(rotation.T @ rotation - UNIT).max()
        if error > NOT_ORTHONORMAL or _determinant(rotation) < 0.0:
            raise BoundError(f'rotation of a box is not a rotation matrix: {rotation.tolist()}')
        for name, value in (
            ('center', center),
            ('half_sizes', half_sizes),
            ('rotation', rotation),
        ):
            object.__setattr__(self, name, value)

    @cached_property
    def packed(self) -> Array:
        """Row for `box_distance`: center, half sizes, rotation by rows, radius, skewness."""
        skewness = np.abs(self.rotation.T @ self.rotation - UNIT).sum() + 32 * EPS
        return np.concatenate(
            [self.center, self.half_sizes, self.rotation.ravel(), [self.radius, skewness]]
        )

    def moved(self, shift: npt.ArrayLike) -> Box:
        """Box that contains this one at another place; what does not change is not checked again.

        Each coordinate is one addition, so it is off by less than EPS of its size.
        """
        center = finite_array(self.center + np.asarray(shift), (3,), 'center of a box')
        slack = EPS * sum(abs(x) for x in center.tolist())
        radius = math.nextafter(self.radius + slack, math.inf)
        if not radius < math.inf:
            raise BoundError(f'rounding radius of a box is {radius}; it has to be finite')
        there = copy(self)
        object.__setattr__(there, 'center', center)
        object.__setattr__(there, 'radius', radius)
        there.__dict__.pop('packed', None)
        return there

    def plus_ball(self, radius: float) -> Box:
        """Minkowski sum with a ball about the origin; encloses."""
        if not 0.0 <= radius < np.inf:
            raise BoundError(f'radius of a ball is {radius}; it has to be at least zero')
        total = float(np.nextafter(self.radius + radius, np.inf)) if radius > 0.0 else self.radius
        return Box(self.center, self.half_sizes, self.rotation, total)

    def distance(self, points: npt.ArrayLike) -> tuple[Array, Array]:
        """Lower bound of the signed distance to each point, and its gradient; (N, 3) points."""
        checked = finite_array(points, (None, 3), 'points')
        values, gradients = np.empty(len(checked)), np.empty_like(checked)
        _distances(self.packed, checked, values, gradients)
        return values, gradients


def _determinant(matrix: Array) -> float:
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    return float(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def finite_array(value: npt.ArrayLike, shape: tuple[int | None, ...], what: str) -> Array:
    """Read-only copy of an array that has this shape (None: any) and only finite numbers."""
    array = np.array(value, dtype=np.float64)
    fits = array.shape == shape or (
        array.ndim == len(shape)
        and all(wanted in (None, size) for size, wanted in zip(array.shape, shape, strict=True))
    )
    if not fits or not np.isfinite(array).all():
        raise BoundError(f'{what}: {array.tolist()} has to be finite numbers of shape {shape}')
    array.setflags(write=False)
    return array


@jit
def box_distance(box: Array, point: Array, gradient: Array) -> float:
    """Lower bound of the signed distance between one point and one packed box.

    Rounding: with R a rotation to within `skewness` s, local coordinates and box are those of an
    exact rotation to within s (|x - c| + |half sizes|), the distance is 1-Lipschitz in both, and
    the few other operations on the coordinates are off by less than 32 EPS of their sum.
    """
    size = reach = outside = 0.0
    deepest, deepest_axis, deepest_sign = -math.inf, 0, 1.0
    for j in range(3):
        gradient[j] = 0.0
    for j in range(3):
        local = 0.0
        for i in range(3):
            local += box[6 + 3 * i + j] * (point[i] - box[i])
        sign = 1.0 if local >= 0.0 else -1.0
        excess = abs(local) - box[3 + j]
        reach += abs(local) + box[3 + j]
        size += abs(point[j]) + abs(box[j]) + box[3 + j]
        if excess > deepest:
            deepest, deepest_axis, deepest_sign = excess, j, sign
        if excess > 0.0:
            outside += excess * excess
            for i in range(3):
                gradient[i] += excess * sign * box[6 + 3 * i + j]
    if outside > 0.0:
        distance = math.sqrt(outside)
        for i in range(3):
            gradient[i] /= distance
    else:
        distance = deepest
        for i in range(3):
            gradient[i] = deepest_sign * box[6 + 3 * i + deepest_axis]
    rounding = 2.0 * box[16] * reach + 32.0 * EPS * (size + box[15])
    return distance - box[15] - rounding  # type: ignore[no-any-return]


@jit
def _distances(box: Array, points: Array, values: Array, gradients: Array) -> None:
    for i in range(len(points)):
        values[i] = box_distance(box, points[i], gradients[i])
