"""A capsule of little volume that provably contains points, and so all triangles between them.

Along a line with direction u, of radius r, the shortest segment that reaches all points is known
in closed form. With s_i the place of point i along the line and rho_i its distance from it,

    r >= max rho_i,   from min (s_i + sqrt(r^2 - rho_i^2))  to  max (s_i - sqrt(r^2 - rho_i^2)),

and a sphere at the middle of both where the first is above the second. So every line and every x,
r = max rho (1 + x^2), is feasible, and five numbers are searched without a penalty: the least
volume, for some of the points; those that stick out are added and it is searched again.

None of that is relied on: `containing` rounds the ends to the digits that are written to files,
and then takes the largest distance of all points from the rounded segment as the radius,
rounded up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.spatial import ConvexHull, QhullError

from safe_sysid.arrays import Array
from safe_sysid.sets.interval import EPS

DIGITS = 5  # after the point, of what is written [m]
MARGIN = 1e-7  # [m] for the rounding of transforms and cuts
SUPPORTS = 200  # directions whose outermost points are fitted first
ADDED = 20  # of the points that stick out
ROUNDS = 4
ENOUGH = 2e-3  # of the radius that a point may stick out before the search goes on
STEPS = 150  # of a search
ROUGH = 30  # directions and steps of a rough look


class Capsule(NamedTuple):
    """All points within a radius of the segment from a to b [m]."""

    a: Array  # (3,)
    b: Array  # (3,)
    radius: float

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        length = float(np.linalg.norm(self.b - self.a))
        return _volume(self.radius, length)

    def distances(self, points: Array) -> Array:
        """Distance of points (N, 3) from the segment (N,)."""
        along = self.b - self.a
        square = float(along @ along)
        beside = points - self.a
        share = (
            np.clip(beside @ along / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
        )
        return np.asarray(np.linalg.norm(beside - share[:, None] * along, axis=1))

    def contains(self, points: Array) -> npt.NDArray[np.bool_]:
        """Whether each of the points (N, 3) is inside, rounding included."""
        return np.asarray(self.distances(points) + _rounding(self, points) <= self.radius)


def fitted_capsule(points: Array) -> Capsule:
    """Capsule of little volume that contains points (N, 3), and is proven to."""
    return containing(_searched(hull_points(points)), points)


def rough_volume(points: Array) -> float:
    """About how much volume a capsule around points (N, 3) takes [m^3]."""
    chosen = points[np.unique(np.argmax(spread_directions(ROUGH) @ points.T, axis=1))]
    _, size, scaled = _scaled(chosen)
    axis = _first_axes(scaled, 1)[0]
    return size**3 * _descended(scaled, axis, ROUGH, (0.2,)).volume


def containing(shape: Capsule, points: Array) -> Capsule:
    """Round a capsule to the digits of files so that it contains points (N, 3)."""
    a, b = (np.round(end, DIGITS) + 0.0 for end in (shape.a, shape.b))
    rounded = Capsule(a, b, 0.0)
    least = float(rounded.distances(points).max()) + _rounding(rounded, points) + MARGIN
    radius = np.ceil(least * 10.0**DIGITS) / 10.0**DIGITS
    return Capsule(a, b, float(np.round(radius, DIGITS)))


def hull_points(points: Array) -> Array:
    """Corners of the convex hull, or all points where they lie in a plane."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        return np.asarray(np.unique(points, axis=0))


def spread_directions(count: int) -> Array:
    """Directions all over the sphere (count, 3), the same ones every time."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (1.0 + 5.0**0.5) * np.arange(count)
    rim = np.sqrt(1.0 - height**2)
    return np.stack([rim * np.cos(turn), rim * np.sin(turn), height], axis=1)


def _rounding(shape: Capsule, points: Array) -> float:
    """Bound on the rounding of distances from a capsule's segment."""
    size = np.abs(points).sum(axis=1).max() + np.abs(shape.a).sum() + np.abs(shape.b).sum()
    return float(64.0 * EPS * size)


def _volume(radius: float, length: float) -> float:
    return float(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))


def _searched(points: Array) -> Capsule:
    """Search among some of the points, and add those that stick out."""
    chosen = np.unique(np.argmax(spread_directions(SUPPORTS) @ points.T, axis=1))
    found = _least(points[chosen], None)
    for _ in range(ROUNDS):
        out = found.distances(points) - found.radius
        if out.max() <= ENOUGH * max(found.radius, MARGIN):
            break
        chosen = np.union1d(chosen, np.argsort(out)[-ADDED:])
        found = _least(points[chosen], found)
    return found


def _least(points: Array, known: Capsule | None) -> Capsule:
    """Least volume that Nelder and Mead find, from principal axes or a known capsule."""
    middle, size, scaled = _scaled(points)
    along = np.zeros(3) if known is None else known.b - known.a
    length = float(np.linalg.norm(along))
    axes = [along / length] if length > 0.0 else _first_axes(scaled, 2)
    tries = [_descended(scaled, u, STEPS, (0.3, 0.05)) for u in axes]
    best = min(tries, key=lambda shape: shape.volume)
    return Capsule(middle + size * best.a, middle + size * best.b, size * best.radius)


def _scaled(points: Array) -> tuple[Array, float, Array]:
    """Middle and size of points, and points of about that size about the origin."""
    middle = points.mean(axis=0)
    size = max(float(np.abs(points - middle).max()), MARGIN)
    return middle, size, (points - middle) / size


def _first_axes(points: Array, count: int) -> list[Array]:
    """Return the principal axes along which a capsule is smallest."""
    axes = list(np.linalg.eigh(points.T @ points)[1].T)
    return sorted(axes, key=lambda u: _along(points, _directions(u), np.zeros(5)).volume)[:count]


def _descended(points: Array, u: Array, steps: int, strides: tuple[float, ...]) -> Capsule:
    x, directions = np.zeros(5), _directions(u)
    for stride in strides:
        simplex = np.concatenate([x[None], x + stride * np.eye(5)])
        x = minimize(
            lambda y: _along(points, directions, y).volume,
            x,
            method='Nelder-Mead',
            options={'maxiter': steps, 'initial_simplex': simplex, 'xatol': 1e-5, 'fatol': 1e-9},
        ).x
    return _along(points, directions, x)


def _directions(axis: Array) -> tuple[Array, Array, Array]:
    """Return an axis and two directions at right angles to it."""
    side = np.eye(3)[int(np.argmin(np.abs(axis)))]
    v = np.cross(axis, side)
    v /= np.linalg.norm(v)
    return axis, v, np.cross(axis, v)


def _along(points: Array, directions: tuple[Array, Array, Array], x: Array) -> Capsule:
    """Shortest capsule along the line that five numbers stand for: two of tilt, two of place."""
    axis, v, w = directions
    u = axis + x[0] * v + x[1] * w
    u /= math.sqrt(u @ u)
    start = x[2] * v + x[3] * w
    beside = points - start
    s = beside @ u
    square = np.maximum((beside * beside).sum(axis=1) - s * s, 0.0)
    radius = float(np.sqrt(square.max()) * (1.0 + x[4] ** 2))
    half = np.sqrt(np.maximum(radius**2 - square, 0.0))
    low, high = float((s + half).min()), float((s - half).max())
    if low > high:
        low = high = 0.5 * (low + high)
    return Capsule(start + low * u, start + high * u, radius)
