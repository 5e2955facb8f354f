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
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.points import Point, dot, minus, point_of, size

UNIT = np.eye(3)
TOLD = 12  # numbers of a sentence
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
        _distances(self.packed[None], checked, values, gradients)
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
        raise BoundError(f'{what}: {_told(array)} has to be finite numbers of shape {shape}')
    array.setflags(write=False)
    return array


def _told(array: Array) -> str:
    """Return numbers; of many their shape, and the first ones that are not finite."""
    if array.size <= TOLD:
        return str(array.tolist())
    odd = array[~np.isfinite(array)]
    return f'an array of shape {array.shape}, {len(odd)} of it not finite ({odd[:3].tolist()})'


@inline_jit
def box_distance(boxes: Array, b: int, point: Point) -> tuple[float, Point]:
    """Lower bound of the signed distance between one point and a packed box, and its gradient.

    Rounding: with R a rotation to within `skewness` s, local coordinates and box are those of an
    exact rotation to within s (|x - c| + |half sizes|), the distance is 1-Lipschitz in both, and
    the few other operations on the coordinates are off by less than 32 EPS of their sum.
    """
    center, half = (boxes[b, 0], boxes[b, 1], boxes[b, 2]), (boxes[b, 3], boxes[b, 4], boxes[b, 5])
    along_x = boxes[b, 6], boxes[b, 7], boxes[b, 8]  # what local coordinates have of x
    along_y = boxes[b, 9], boxes[b, 10], boxes[b, 11]
    along_z = boxes[b, 12], boxes[b, 13], boxes[b, 14]
    away = minus(point, center)
    x = along_x[0] * away[0] + along_y[0] * away[1] + along_z[0] * away[2]
    y = along_x[1] * away[0] + along_y[1] * away[1] + along_z[1] * away[2]
    z = along_x[2] * away[0] + along_y[2] * away[1] + along_z[2] * away[2]
    local = x, y, z
    distance, direction = _beyond(minus((abs(x), abs(y), abs(z)), half))
    signed = (
        math.copysign(direction[0], x),
        math.copysign(direction[1], y),
        math.copysign(direction[2], z),
    )
    gradient = dot(along_x, signed), dot(along_y, signed), dot(along_z, signed)
    radius, skewness, extent = boxes[b, 15], boxes[b, 16], size(half)
    sizes = size(point) + size(center) + extent
    rounding = 2.0 * skewness * (size(local) + extent) + 32.0 * EPS * (sizes + radius)
    return distance - radius - rounding, gradient


@inline_jit
def _beyond(excess: Point) -> tuple[float, Point]:
    """Distance by how far each coordinate is beyond a face; the deepest face counts inside."""
    u, v, w = max(excess[0], 0.0), max(excess[1], 0.0), max(excess[2], 0.0)
    square = u * u + v * v + w * w
    if square > 0.0:
        distance = math.sqrt(square)
        per = 1.0 / distance
        return distance, (per * u, per * v, per * w)
    if excess[0] >= excess[1] and excess[0] >= excess[2]:
        return excess[0], (1.0, 0.0, 0.0)
    if excess[1] >= excess[2]:
        return excess[1], (0.0, 1.0, 0.0)
    return excess[2], (0.0, 0.0, 1.0)


@jit
def _distances(boxes: Array, points: Array, values: Array, gradients: Array) -> None:
    for i in range(len(points)):
        values[i], gradient = box_distance(boxes, 0, point_of(points, i))
        gradients[i, 0], gradients[i, 1], gradients[i, 2] = gradient
