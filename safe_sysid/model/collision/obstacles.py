"""Obstacles: named boxes and zonotopes, and their signed distance in compiled code.

Some boxes may move. Over time steps that begin at `start`, each of these is a set of its own in
every step; without a start nobody knows where they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.input_file import shortened
from safe_sysid.model.collision.enclosing_boxes import extents
from safe_sysid.model.collision.moving_box import SECOND, MovingBox
from safe_sysid.sets.box import Box, box_distance
from safe_sysid.sets.compiled import inline_jit
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.points import Point
from safe_sysid.sets.zonotope import Zonotope, half_space_distance

BOX, ZONOTOPE = 0, 1
FIXED = -1  # does not move
NAMED = 3  # of those that a sentence lists


class PackedObstacles(NamedTuple):
    """Obstacle o is boxes[place[o, 1]] or half-spaces place[o, 1] to place[o, 2] - 1."""

    place: IntArray  # (O, 4): kind, first, last + 1, which of those that move or -1
    boxes: Array  # (B, 17), see `Box.packed`
    normals: Array  # (H, 3)
    offsets: Array  # (H,)
    shift: Array  # (T, M, 3) [m] of those that move; no time steps: it is not known where they are
    growth: Array  # (T, M) [m] of the same, a ball about all of the box


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What the arm must not touch, in the base frame; none is allowed too."""

    names: tuple[str, ...]
    shapes: tuple[Box | Zonotope, ...]
    start: int | None = None  # [ns] stamp of time 0; None: not known, as for obstacles that stand

    def __post_init__(self) -> None:
        if len(self.names) != len(self.shapes):
            raise BoundError(
                f'{len(self.names)} names and {len(self.shapes)} obstacles; each needs one name'
            )
        counts = Counter(self.names)
        for name in self.names:
            if not name or counts[name] > 1:
                raise BoundError(
                    f"{counts[name]} obstacles are called '{name}'; every obstacle "
                    'needs a name of its own'
                )
        for name, shape in zip(self.names, self.shapes, strict=True):
            if not isinstance(shape, Box | Zonotope):
                raise BoundError(
                    f"obstacle '{name}' is a {type(shape).__name__}; it has to be a Box or a "
                    'Zonotope'
                )

    @staticmethod
    def of(shapes: Mapping[str, Box | Zonotope], start: int | None = None) -> Obstacles:
        """Obstacles by name."""
        return Obstacles(tuple(shapes), tuple(shapes.values()), start)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def in_words(self) -> str:
        """Where something is that is among them."""
        if not self.names:
            return 'in an empty world'
        count = f'{len(self)} obstacles' if len(self) > 1 else 'one obstacle'
        named = ', '.join(shortened(name) for name in self.names[:NAMED])
        return f'among {count} ({named}{", ..." if len(self) > NAMED else ""})'

    @cached_property
    def corners(self) -> Array:
        """Lowest and highest coordinates of each where it is shown, (O, 2, 3) [m]."""
        found = extents(self.shapes)
        found.setflags(write=False)
        return found

    @cached_property
    def packed(self) -> PackedObstacles:
        """Arrays for `obstacle_distance`."""
        place, boxes, moving = [], [np.zeros((0, 17))], 0
        normals, offsets, height = [np.zeros((0, 3))], [np.zeros(0)], 0
        for shape in self.shapes:
            if isinstance(shape, Box):
                which = moving if isinstance(shape, MovingBox) else FIXED
                moving += which != FIXED
                place.append((BOX, len(boxes) - 1, len(boxes), which))
                boxes.append(shape.packed[None])
            else:
                A, b = shape.half_spaces
                place.append((ZONOTOPE, height, height + len(b), FIXED))
                height += len(b)
                normals.append(A)
                offsets.append(b)
        return PackedObstacles(
            np.array(place, dtype=np.int64).reshape(-1, 4),
            np.concatenate(boxes),
            np.concatenate(normals),
            np.concatenate(offsets),
            np.zeros((0, moving, 3)),
            np.zeros((0, moving)),
        )

    def over(self, time: Interval) -> PackedObstacles:
        """Arrays for time steps [s] since the start: where those that move may be in each."""
        moving = self.moving
        if not moving or self.start is None:
            return self.packed
        ways = [box.over(self.start, time) for box in moving]
        shift = np.stack([shift for shift, _ in ways], axis=1)
        growth = np.stack([growth for _, growth in ways], axis=1)
        return self.packed._replace(shift=shift, growth=growth)

    @property
    def moving(self) -> list[MovingBox]:
        """Those that move."""
        return [shape for shape in self.shapes if isinstance(shape, MovingBox)]

    def beside(self, others: Mapping[str, Box | Zonotope]) -> Obstacles:
        """Return them with others."""
        kept = dict(zip(self.names, self.shapes, strict=True))
        return Obstacles.of({**kept, **others}, self.start)

    def without(self, name: str) -> Obstacles:
        """Return all but one of them."""
        kept = {n: shape for n, shape in zip(self.names, self.shapes, strict=True) if n != name}
        return Obstacles.of(kept, self.start)

    def beginning(self, start: int) -> Obstacles:
        """Return the same for times that count from another stamp [ns]."""
        return replace(self, start=start) if self.moving else self

    def later(self, seconds: float) -> Obstacles:
        """Return the same for times that begin later."""
        return (
            self
            if self.start is None
            else replace(self, start=self.start + round(seconds * SECOND))
        )


NO_OBSTACLES = Obstacles((), ())


@inline_jit
def obstacle_distance(obstacles: PackedObstacles, o: int, point: Point) -> tuple[float, Point]:
    """Lower bound of the signed distance of a point to an obstacle where it is shown; gradient."""
    kind, first, last = obstacles.place[o, 0], obstacles.place[o, 1], obstacles.place[o, 2]
    if kind == BOX:
        return box_distance(obstacles.boxes, first, point)  # type: ignore[no-any-return]
    return half_space_distance(  # type: ignore[no-any-return]
        obstacles.normals, obstacles.offsets, (first, last), point
    )
