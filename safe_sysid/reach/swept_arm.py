"""SweptArm: where the arm can be on a certified plan, to compare it with obstacles that are new.

Of a plan that was certified before, only its clearance from what changed has to be proven again:
its sets do not depend on obstacles. They are computed once. After that, in each time step that
lies ahead, the box about all spheres of a capsule is compared with the box about an obstacle, and
only pairs that may be nearer than the smallest clearance found so far are evaluated, exactly as a
certificate does. What is left out is at least as far away; boxes are rounded outward by more than
their few operations can be off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.enclosing_boxes import extents
from safe_sysid.model.collision.obstacles import Obstacles, PackedObstacles
from safe_sysid.model.collision.sphere_cover import Shapes, sphere_cover
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.clearance import Points, obstacle_clearance, whole_range
from safe_sysid.reach.margin import OBSTACLE, Margin
from safe_sysid.reach.reachable_set import occupancy_of
from safe_sysid.sets.compiled import jit

OUTWARD = 1e-12  # relative, of coordinates and radii


class _Piece(NamedTuple):
    """One piece of a plan."""

    start: float  # [s] since the start of the plan
    lower: Array  # (T,) [s] time steps, since the start of the piece
    upper: Array  # (T,)
    points: Points  # end points of all capsules
    boxes: Array  # (T, C, 2, 3) [m] about every capsule that moves


@dataclass(frozen=True, eq=False)
class SweptArm:
    """Sets of one certified plan; `names` are those of its capsules."""

    pieces: tuple[_Piece, ...]
    shapes: Shapes
    first_sphere: IntArray  # (C + 1,) of every capsule that moves
    names: tuple[str, ...]

    @staticmethod
    def of(certificate: PlanCertificate) -> SweptArm:
        """Return sets of the motion that a certificate is about, all pieces of it."""
        capsules = certificate.problem.model.capsules
        shapes = sphere_cover(capsules)
        edges = np.flatnonzero(np.diff(shapes.sphere_capsule)) + 1
        first_sphere = np.concatenate([[0], edges, [len(shapes.sphere_capsule)]])
        pieces, start = [], 0.0
        for each in (certificate, *certificate.then):
            time = each.problem.horizon.time
            points = whole_range(occupancy_of(each.problem, each.error))
            boxes = np.empty((len(points.center), len(first_sphere) - 1, 2, 3))
            _enclose(points, shapes, first_sphere, boxes)
            pieces.append(_Piece(start, time.lower, time.upper, points, boxes))
            start += each.problem.horizon.curve.duration
        return SweptArm(tuple(pieces), shapes, first_sphere, capsules.names)

    def nearest(self, obstacles: Obstacles, since: float) -> Margin | None:
        """Smallest clearance from obstacles from a time on [s since the start of the plan].

        None where there is no obstacle, or where the arm is at rest by then.
        """
        if not len(obstacles):
            return None
        packed, corners = obstacles.packed, extents(obstacles.shapes)
        smallest: Margin | None = None
        for piece in self.pieces:
            first = int(np.searchsorted(piece.upper, since - piece.start))
            if first == len(piece.upper):
                continue
            value, t, sphere, o = _nearest(
                piece.points, self.shapes, packed, (piece.boxes, corners), self.first_sphere, first
            )
            if smallest is None or not value >= smallest.margin:
                capsule = self.names[self.shapes.sphere_capsule[sphere]]
                where = f'{capsule} and {obstacles.names[o]}'
                time = piece.start + float(piece.lower[t]), piece.start + float(piece.upper[t])
                smallest = Margin(OBSTACLE, value, where, time, value, 0.0, 'm')
        return smallest


@jit
def _enclose(points: Points, shapes: Shapes, first_sphere: IntArray, boxes: Array) -> None:
    """Boxes about the spheres of every capsule, as large as `obstacle_clearance` takes them."""
    half = points.rho.shape[1] // 2
    for t in range(boxes.shape[0]):
        for c in range(boxes.shape[1]):
            for i in range(3):
                boxes[t, c, 0, i], boxes[t, c, 1, i] = np.inf, -np.inf
            for sphere in range(first_sphere[c], first_sphere[c + 1]):
                a, s = shapes.sphere_capsule[sphere], shapes.sphere_weight[sphere]
                rho = (1.0 - s) * points.rho[t, a] + s * points.rho[t, a + half]
                radius = shapes.sphere_radius[sphere] + rho
                for i in range(3):
                    x = (1.0 - s) * points.center[t, a, i] + s * points.center[t, a + half, i]
                    size = radius + OUTWARD * (abs(x) + radius)
                    boxes[t, c, 0, i] = min(boxes[t, c, 0, i], x - size)
                    boxes[t, c, 1, i] = max(boxes[t, c, 1, i], x + size)


@jit
def _nearest(
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    corners: tuple[Array, Array],
    first_sphere: IntArray,
    first: int,
) -> tuple[float, int, int, int]:
    """Smallest clearance from time step `first` on, its time step, sphere and obstacle."""
    boxes, around = corners
    best, when, which, what = np.inf, first, 0, 0
    work = np.empty((6, 3))
    for t in range(first, boxes.shape[0]):
        for c in range(boxes.shape[1]):
            for o in range(len(around)):
                if _apart(boxes[t, c], around[o]) * (1.0 - OUTWARD) >= best:
                    continue
                for sphere in range(first_sphere[c], first_sphere[c + 1]):
                    row = (t, sphere, o)
                    value = obstacle_clearance(points, shapes, obstacles, row, work)
                    if np.isnan(value):
                        return -np.inf, t, sphere, o
                    if value < best:
                        best, when, which, what = value, t, sphere, o
    return best, when, which, what


@jit
def _apart(first: Array, second: Array) -> float:
    """Distance of two boxes with edges along the axes; minus infinity where they overlap."""
    square = 0.0
    for i in range(3):
        gap = max(second[0, i] - first[1, i], first[0, i] - second[1, i])
        if gap > 0.0:
            square += gap * gap
    return np.sqrt(square) if square > 0.0 else -np.inf
