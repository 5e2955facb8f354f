"""Smallest clearance of an arm from many obstacles, of which most are too far away to matter.

In each time step the box about all spheres of a capsule is compared with that about an obstacle,
and only pairs that may be nearer than what is looked for are evaluated, exactly as rows of
clearances are; before that the box about a few time steps is. What is left out is at least as far
away; boxes are rounded outward by more than their few operations can be off. What is not known
(NaN, infinite) is everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.collision.obstacles import BOX, Obstacles, PackedObstacles
from safe_sysid.model.collision.sphere_cover import Shapes
from safe_sysid.reach.clearance import (
    ClearanceRows,
    Points,
    obstacle_clearance,
    undecided_rows,
)
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import Interval

OUTWARD = 1e-12  # relative, of coordinates and radii
TOGETHER = 8  # time steps whose boxes have one box about them


class Nearest(NamedTuple):
    """Where an arm is nearest to obstacles."""

    clearance: float  # [m], minus infinity where it cannot be told
    step: int  # time step
    capsule: int
    obstacle: int


@dataclass(frozen=True, eq=False)
class EnclosedArm:
    """End points of capsules in every time step, and boxes about the spheres of each."""

    points: Points
    shapes: Shapes
    first_sphere: IntArray  # (C + 1,) of every capsule that moves
    boxes: Array  # (T, C, 2, 3) [m]
    longer: Array  # (B, C, 2, 3) about those of TOGETHER time steps

    @staticmethod
    def of(points: Points, shapes: Shapes) -> EnclosedArm:
        """Enclose every capsule that moves."""
        edges = np.flatnonzero(np.diff(shapes.sphere_capsule)) + 1
        first_sphere = np.concatenate([[0], edges, [len(shapes.sphere_capsule)]])
        boxes = np.empty((len(points.center), len(first_sphere) - 1, 2, 3))
        _enclose(points, shapes, first_sphere, boxes)
        starts = np.arange(0, len(boxes), TOGETHER)
        longer = np.empty((len(starts), *boxes.shape[1:]))
        longer[:, :, 0] = np.minimum.reduceat(boxes[:, :, 0], starts)
        longer[:, :, 1] = np.maximum.reduceat(boxes[:, :, 1], starts)
        return EnclosedArm(points, shapes, first_sphere, boxes, longer)

    def nearest(self, obstacles: Obstacles, time: Interval, first: int) -> Nearest:
        """From time step `first` on, which there has to be, to obstacles, of which also.

        `time` has all time steps, as obstacles that move count them.
        """
        packed = obstacles.over(time)
        value, t, sphere, o = _nearest(
            self.points,
            self.shapes,
            packed,
            (self.boxes, self.longer, _around(obstacles, packed)),
            self.first_sphere,
            first,
        )
        return Nearest(value, t, int(self.shapes.sphere_capsule[sphere]), o)

    def undecided(self, obstacles: Obstacles, time: Interval) -> ClearanceRows:
        """Return the clearances that are not positive for all k anyway."""
        packed = obstacles.over(time)
        around = self.boxes, self.longer, _around(obstacles, packed)
        rows = _undecided(self.points, self.shapes, packed, around, self.first_sphere)
        return undecided_rows(self.points, self.shapes, packed, rows)


def _around(obstacles: Obstacles, packed: PackedObstacles) -> Array:
    """Boxes about obstacles, wherever they are in all time steps, (O, 2, 3) [m]."""
    corners: Array = obstacles.corners.copy()
    which = np.flatnonzero(packed.place[:, 3] >= 0)
    if not len(which):
        return corners
    if not len(packed.growth):
        corners[which] = [[-np.inf] * 3, [np.inf] * 3]
        return corners
    moving = packed.place[which, 3]
    shift, growth = packed.shift[:, moving], packed.growth[:, moving, None]
    corners[which, 0] = (corners[which, 0] + shift - growth).min(axis=0)
    corners[which, 1] = (corners[which, 1] + shift + growth).max(axis=0)
    slack = OUTWARD * (1.0 + np.abs(corners[which]).sum(axis=1))
    corners[which, 0] -= slack
    corners[which, 1] += slack
    return corners


@jit
def _enclose(points: Points, shapes: Shapes, first_sphere: IntArray, boxes: Array) -> None:
    """Boxes about the spheres of every capsule, as large as `obstacle_clearance` takes them."""
    half = points.rho.shape[1] // 2
    for t in range(boxes.shape[0]):
        for c in range(boxes.shape[1]):
            is_known = True
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
                    is_known = is_known and abs(x) < np.inf and not np.isnan(radius)
            if not is_known:
                boxes[t, c, 0], boxes[t, c, 1] = -np.inf, np.inf


@jit
def _nearest(
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    corners: tuple[Array, Array, Array],
    first_sphere: IntArray,
    first: int,
) -> tuple[float, int, int, int]:
    """Smallest clearance from time step `first` on, its time step, sphere and obstacle."""
    boxes, longer, around = corners
    best, when, which, what = np.inf, first, 0, 0
    for block in range(first // TOGETHER, len(longer)):
        begin, end = max(first, block * TOGETHER), min((block + 1) * TOGETHER, len(boxes))
        for c in range(boxes.shape[1]):
            for o in range(len(around)):
                if _apart(longer[block, c], around[o]) * (1.0 - OUTWARD) >= best:
                    continue
                for t in range(begin, end):
                    if _apart(boxes[t, c], around[o]) * (1.0 - OUTWARD) >= best:
                        continue
                    for sphere in range(first_sphere[c], first_sphere[c + 1]):
                        row = (t, sphere, o)
                        value, _ = obstacle_clearance(points, shapes, obstacles, row)
                        if np.isnan(value):
                            return -np.inf, t, sphere, o
                        if value < best:
                            best, when, which, what = value, t, sphere, o
    return best, when, which, what


@jit
def _undecided(
    points: Points,
    shapes: Shapes,
    obstacles: PackedObstacles,
    corners: tuple[Array, Array, Array],
    first_sphere: IntArray,
) -> IntArray:
    """Rows (time step, sphere, obstacle) whose clearance is not positive, by time step.

    A zonotope may have such rows where its box is apart, as it is only shown to be farther than
    its faces; certificates count them, so that only one that is apart all the time is left out.
    """
    boxes, longer, around = corners
    is_met = _meet(longer, around)
    rows, count = np.empty((1024, 3), dtype=np.int64), 0
    near = np.empty((boxes.shape[1], len(around)), dtype=np.bool_)
    for t in range(boxes.shape[0]):
        if t % TOGETHER == 0:
            _set_near(longer[t // TOGETHER], around, obstacles.place, is_met, near)
        for c in range(boxes.shape[1]):
            for o in range(len(around)):
                is_box = obstacles.place[o, 0] == BOX
                if not near[c, o] or (is_box and _apart(boxes[t, c], around[o]) > 0.0):
                    continue
                for sphere in range(first_sphere[c], first_sphere[c + 1]):
                    value, _ = obstacle_clearance(points, shapes, obstacles, (t, sphere, o))
                    if value > 0.0:
                        continue
                    if count == len(rows):
                        rows = np.concatenate((rows, np.empty_like(rows)))
                    rows[count, 0], rows[count, 1], rows[count, 2] = t, sphere, o
                    count += 1
    found: IntArray = rows[:count].copy()
    return found


@jit
def _set_near(
    boxes: Array, around: Array, place: IntArray, is_met: AnyArray, near: AnyArray
) -> None:
    """Whether capsules may meet obstacles within boxes (C, 2, 3) of a few time steps."""
    for c in range(len(boxes)):
        for o in range(len(around)):
            if place[o, 0] == BOX:
                near[c, o] = not _apart(boxes[c], around[o]) > 0.0
            else:
                near[c, o] = is_met[o]


@jit
def _meet(boxes: Array, around: Array) -> AnyArray:
    """Whether each obstacle overlaps a box of some capsule at some time."""
    found = np.zeros(len(around), dtype=np.bool_)
    for b in range(boxes.shape[0]):
        for c in range(boxes.shape[1]):
            for o in range(len(around)):
                if not found[o] and not _apart(boxes[b, c], around[o]) > 0.0:
                    found[o] = True
    return found


@jit
def _apart(first: Array, second: Array) -> float:
    """Distance of two boxes with edges along the axes; minus infinity where they overlap."""
    square = 0.0
    for i in range(3):
        gap = max(second[0, i] - first[1, i], first[0, i] - second[1, i])
        if gap > 0.0:
            square += gap * gap
    return np.sqrt(square) if square > 0.0 else -np.inf
