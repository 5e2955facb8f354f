"""Boxes with rounded edges that contain balls, cylinders, lines, clouds of points and meshes.

A `Box` is a cuboid plus a ball of its `radius`. With sizes of a shape along its own axes:

    ellipsoid   half axes a_i, c the smallest: the cuboid of half sizes a_i - c plus a ball of c.
                Along a unit vector n the ellipsoid reaches |(a_i n_i)|. That is at most
                |((a_i - c) n_i)| + c |n| <= sum (a_i - c) |n_i| + c, as far as the sum reaches.
    cylinder    an ellipse of half axes a, b times [-h, h]; c = min(a, b). Its cuboid, or that of
                half sizes a - c, b - c, h plus a ball of c: by the same argument in the plane.
                Whichever has the smaller volume.
    segment     a cuboid without width plus a ball.
    points      the cuboid between their extremes.

Cuboids need some thickness: flat ones get THIN, which is more than they have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.zonotope import Zonotope

THIN = 1e-9  # [m] least half size of a cuboid
ROUNDED_UP = 1.0 + 64 * EPS  # each size is a few operations deep


def cuboid(sizes: npt.ArrayLike) -> Box:
    """Return a cuboid of whole edges `sizes` (3,) [m] about the origin."""
    return _about_origin(0.5 * _positive(sizes), 0.0)


def ellipsoid(sizes: npt.ArrayLike) -> Box:
    """Contains the ellipsoid of diameters `sizes` (3,) [m] about the origin."""
    half = 0.5 * _positive(sizes)
    return _about_origin(half - half.min(), float(half.min()))


def elliptic_cylinder(sizes: npt.ArrayLike) -> Box:
    """Contains the cylinder about z of diameters sizes[:2] and height sizes[2] [m]."""
    half = 0.5 * _positive(sizes)
    radius = float(half[:2].min())
    rounded = _about_origin(half - np.array([radius, radius, 0.0]), radius)
    edged = _about_origin(half, 0.0)
    return rounded if volume(rounded) < volume(edged) else edged


def segment(a: Array, b: Array, width: float) -> Box:
    """Contains all points that are at most width / 2 from the segment between two points [m]."""
    if not 0.0 < width < np.inf:
        raise BoundError(f'the width of a line is {width} m; it has to be above 0')
    way = b - a
    half = 0.5 * float(np.linalg.norm(way))
    size = float(np.abs(a).sum() + np.abs(b).sum())
    along = way / (2.0 * half) if half > EPS * size else np.array([1.0, 0.0, 0.0])
    return Box(
        0.5 * (a + b),
        np.array([half * ROUNDED_UP + THIN, THIN, THIN]),
        _rotation_with_x(along),
        (0.5 * width + 64 * EPS * size) * ROUNDED_UP,
    )


def box_of_points(points: npt.ArrayLike) -> Box:
    """Contains all points (N, 3) [m], with edges along the axes."""
    checked = finite_array(points, (None, 3), 'points')
    if not len(checked):
        raise BoundError('there are no points to enclose')
    lower, upper = checked.min(axis=0), checked.max(axis=0)
    slack = 16 * EPS * (np.abs(lower) + np.abs(upper))
    half = 0.5 * (upper - lower) + slack + THIN
    return Box(0.5 * (lower + upper), half, np.eye(3))


def moved_to(box: Box, centers: Array) -> list[Box]:
    """Return the same box about each of these points (N, 3) [m]."""
    slack = 16 * EPS * (float(np.abs(box.center).sum()) + np.abs(centers).sum(axis=1))
    return [
        Box(box.center + center, box.half_sizes, box.rotation, box.radius).plus_ball(float(each))
        for center, each in zip(centers, slack, strict=True)
    ]


def at_most(boxes: Sequence[Box], most: int) -> list[Box]:
    """Boxes of which there are no more than `most`, and which contain all of these.

    Neighbours are put into one box, edges along the axes, by halving the longest extent.
    """
    if len(boxes) <= most:
        return list(boxes)
    return _halved(extents(boxes), most)


def of_corners(corners: Array, most: int) -> list[Box]:
    """Boxes along the axes about extents (N, 2, 3) [m], no more than `most`, as in `at_most`."""
    if len(corners) <= most:
        return [box_of_points(each) for each in corners]
    return _halved(corners, most)


def extents(shapes: Sequence[Box | Zonotope]) -> Array:
    """Lowest and highest coordinates of shapes, rounded outward, (N, 2, 3) [m]."""
    centers = np.array([shape.center for shape in shapes]).reshape(-1, 3)
    half = np.array([_reach(shape) for shape in shapes]).reshape(-1, 3)
    half = half * ROUNDED_UP + 64 * EPS * np.abs(centers)
    return np.stack([centers - half, centers + half], axis=1)


def _reach(shape: Box | Zonotope) -> Array:
    """How far a shape reaches from its centre along the axes."""
    if isinstance(shape, Box):
        return np.asarray(np.abs(shape.rotation) @ shape.half_sizes + shape.radius)
    return np.asarray(np.abs(shape.generators).sum(axis=0) + shape.radius)


def volume(box: Box) -> float:
    """Volume of a box, its rounded edges included [m^3]."""
    a, b, c = 2.0 * box.half_sizes
    r = box.radius
    faces, edges = 2.0 * (a * b + b * c + c * a) * r, np.pi * r**2 * (a + b + c)
    return float(a * b * c + faces + edges + 4.0 / 3.0 * np.pi * r**3)


def _halved(corners: Array, most: int) -> list[Box]:
    """One box about all extents (N, 2, 3), or boxes about both halves of them."""
    if most <= 1 or len(corners) == 1:
        return [box_of_points(corners.reshape(-1, 3))]
    centers = corners.mean(axis=1)
    axis = int(np.argmax(np.ptp(centers, axis=0)))
    order = np.argsort(centers[:, axis], kind='stable')
    middle = len(order) // 2
    first, second = corners[order[:middle]], corners[order[middle:]]
    return [*_halved(first, most // 2), *_halved(second, most - most // 2)]


def _positive(sizes: npt.ArrayLike) -> Array:
    checked = finite_array(sizes, (3,), 'sizes')
    if not np.all(checked > 0.0):
        raise BoundError(f'sizes are {checked.tolist()} m; each has to be above 0')
    return checked


def _about_origin(half_sizes: Array, radius: float) -> Box:
    return Box(np.zeros(3), half_sizes * ROUNDED_UP + THIN, np.eye(3), radius * ROUNDED_UP)


def _rotation_with_x(along: Array) -> Array:
    """Return a rotation whose first column is a unit vector."""
    other = np.eye(3)[int(np.argmin(np.abs(along)))]
    y = np.cross(other, along)
    y /= np.linalg.norm(y)
    return np.stack([along, y, np.cross(along, y)], axis=1)
