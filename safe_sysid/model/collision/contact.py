"""How close an arm comes to itself and to obstacles: signed distances of its capsules.

The distance of a point to a box, to a zonotope and to a line segment is a convex function of the
point. Along the axis of a capsule its least value is where its slope changes sign, which bisection
finds to 1e-15 of the length. So the figures are accurate to 1e-12 m within a few metres, with one
exception: beside an edge of a zonotope they are smaller than the Euclidean distance
(sets/zonotope.py), which may report a contact that is none, but never hides one. When the axis
enters an obstacle they are minus the depth of its deepest point, less the radius.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box, box_distance
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.points import Point, dot, length, minus, point_of
from safe_sysid.sets.zonotope import Zonotope, half_space_distance

HALVINGS = 52  # the two ends, then 50 halvings


class ContactClearance(NamedTuple):
    """Signed distance of a capsule to another one or to an obstacle."""

    distance: float  # [m], not more than 0: they touch
    capsule: str
    other: str  # capsule or obstacle


class Surroundings(NamedTuple):
    """Obstacles for compiled code."""

    boxes: Array  # (B, 17), see `Box.packed`
    normals: Array  # (H, 3) half-spaces of all zonotopes
    offsets: Array  # (H,)
    ends: IntArray  # (Z + 1,) zonotope z has half-spaces ends[z] to ends[z + 1] - 1


class ContactGauge:
    """Measures the clearance of an arm, of its pairs of capsules and to obstacles."""

    def __init__(
        self, model: RobotModel, obstacles: Mapping[str, Box | Zonotope] | None = None
    ) -> None:
        obstacles = obstacles or {}
        for name, shape in obstacles.items():
            if not isinstance(shape, Box | Zonotope):
                raise ModelError(
                    f"obstacle '{name}' is a {type(shape).__name__}; it has to be a Box or a "
                    'Zonotope'
                )
        boxes = {name: x for name, x in obstacles.items() if isinstance(x, Box)}
        zonotopes = {name: x for name, x in obstacles.items() if isinstance(x, Zonotope)}
        names, pairs = model.capsules.names, model.capsules.pairs
        self._model = model
        self._surroundings = _surroundings(list(boxes.values()), list(zonotopes.values()))
        self._pairs = [(names[i], names[j]) for i, j in pairs]
        self._pairs += [(name, other) for name in names for other in (*boxes, *zonotopes)]
        if not self._pairs:
            raise ModelError(
                f'{model.name} has nothing to touch: it has {len(names)} capsules and no pairs '
                f'of them that can meet, and there are {len(obstacles)} obstacles'
            )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of what can touch: pairs of capsules, then every capsule with every obstacle."""
        return self._pairs

    def axes(self, q: Array) -> Array:
        """End points of the capsules in the base frame, (m, 2, 3)."""
        R, p = joint_frames(self._model, q)
        R, p = np.concatenate([R, np.eye(3)[None]]), np.concatenate([p, np.zeros((1, 3))])
        capsules = self._model.capsules
        ends = np.stack([capsules.a, capsules.b], axis=1)
        # joint -1, the base, is the last entry
        placed = np.einsum('mrc,mec->mer', R[capsules.joint], ends)
        return np.asarray(placed + p[capsules.joint][:, None])

    def distances(self, q: Array) -> Array:
        """Signed distance of each of `pairs` [m]."""
        capsules, gaps = self._model.capsules, np.empty(len(self._pairs))
        _gaps(self.axes(q), capsules.radius, capsules.pairs, self._surroundings, gaps)
        return gaps

    def clearance(self, q: Array) -> ContactClearance:
        """Return the least of all distances."""
        distances = self.distances(q)
        least = int(np.argmin(distances))
        return ContactClearance(float(distances[least]), *self._pairs[least])


def _surroundings(boxes: list[Box], zonotopes: list[Zonotope]) -> Surroundings:
    half_spaces = [zonotope.half_spaces for zonotope in zonotopes]
    return Surroundings(
        np.array([box.packed for box in boxes]).reshape(-1, 17),
        np.concatenate([A for A, _ in half_spaces] or [np.zeros((0, 3))]),
        np.concatenate([b for _, b in half_spaces] or [np.zeros(0)]),
        np.cumsum([0, *(len(b) for _, b in half_spaces)]).astype(np.int64),
    )


@jit
def _gaps(
    axes: Array, radius: Array, pairs: IntArray, surroundings: Surroundings, gaps: Array
) -> None:
    """Signed distances, in the order of `ContactGauge.pairs`."""
    slot = 0
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        gaps[slot] = _segment_gap(axes[i], axes[j]) - radius[i] - radius[j]
        slot += 1
    ends = surroundings.ends
    for i in range(len(axes)):
        for o in range(len(surroundings.boxes)):
            gaps[slot] = _box_gap(axes[i], surroundings.boxes, o) - radius[i]
            slot += 1
        A, b = surroundings.normals, surroundings.offsets
        for o in range(len(ends) - 1):
            gaps[slot] = _zonotope_gap(axes[i], A, b, (ends[o], ends[o + 1])) - radius[i]
            slot += 1


@jit
def _box_gap(axis: Array, boxes: Array, o: int) -> float:
    """Least signed distance of the points of a segment to a box."""
    low, high, best = 0.0, 1.0, np.inf
    way = minus(point_of(axis, 1), point_of(axis, 0))
    for k in range(HALVINGS):
        s = _next(k, low, high)
        distance, gradient = box_distance(boxes, o, _on_axis(axis, s))
        best = min(best, distance)
        low, high = _halved(k, s, low, high, dot(gradient, way))
    return best


@jit
def _zonotope_gap(axis: Array, A: Array, b: Array, rows: tuple[int, int]) -> float:
    """Least signed distance of the points of a segment to a zonotope, from below at edges."""
    low, high, best = 0.0, 1.0, np.inf
    way = minus(point_of(axis, 1), point_of(axis, 0))
    for k in range(HALVINGS):
        s = _next(k, low, high)
        distance, gradient = half_space_distance(A, b, rows, _on_axis(axis, s))
        best = min(best, distance)
        low, high = _halved(k, s, low, high, dot(gradient, way))
    return best


@jit
def _segment_gap(first: Array, second: Array) -> float:
    """Distance of two segments."""
    low, high, best = 0.0, 1.0, np.inf
    way = minus(point_of(first, 1), point_of(first, 0))
    for k in range(HALVINGS):
        s = _next(k, low, high)
        distance, apart = _to_segment(_on_axis(first, s), second)
        best = min(best, distance)
        low, high = _halved(k, s, low, high, dot(apart, way))
    return best


@jit
def _to_segment(point: Point, segment: Array) -> tuple[float, Point]:
    """Distance of a point, and the way to it from the nearest point of the segment."""
    along = minus(point_of(segment, 1), point_of(segment, 0))
    away, square = minus(point, point_of(segment, 0)), dot(along, along)
    t = min(max(dot(along, away) / square, 0.0), 1.0) if square > 0.0 else 0.0
    apart = minus(away, (t * along[0], t * along[1], t * along[2]))
    return length(apart), apart


@inline_jit
def _on_axis(axis: Array, s: float) -> Point:
    """Point of a segment."""
    a, way = point_of(axis, 0), minus(point_of(axis, 1), point_of(axis, 0))
    return a[0] + s * way[0], a[1] + s * way[1], a[2] + s * way[2]


@jit
def _next(k: int, low: float, high: float) -> float:
    """Return the ends first, then the middle of what is left."""
    return 1.0 * k if k < 2 else 0.5 * (low + high)


@jit
def _halved(k: int, s: float, low: float, high: float, slope: float) -> tuple[float, float]:
    """Interval in which the least value of a convex function is, knowing its slope at s."""
    if k < 2:
        return low, high
    return (low, s) if slope > 0.0 else (s, high)
