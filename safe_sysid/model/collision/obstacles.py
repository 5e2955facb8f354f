"""Obstacles: named boxes and zonotopes, and their signed distance in compiled code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box, box_distance
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.zonotope import Zonotope, half_space_distance

BOX, ZONOTOPE = 0, 1


class PackedObstacles(NamedTuple):
    """Obstacle o is boxes[place[o, 1]] or half-spaces place[o, 1] to place[o, 2] - 1."""

    place: IntArray  # (O, 3): kind, first, last + 1
    boxes: Array  # (B, 17), see `Box.packed`
    normals: Array  # (H, 3)
    offsets: Array  # (H,)


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What the arm must not touch, in the base frame; none is allowed too."""

    names: tuple[str, ...]
    shapes: tuple[Box | Zonotope, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.shapes):
            raise BoundError(
                f'{len(self.names)} names and {len(self.shapes)} obstacles; each needs one name'
            )
        for name in self.names:
            if not name or self.names.count(name) > 1:
                raise BoundError(
                    f"{self.names.count(name)} obstacles are called '{name}'; every obstacle "
                    'needs a name of its own'
                )
        for name, shape in zip(self.names, self.shapes, strict=True):
            if not isinstance(shape, Box | Zonotope):
                raise BoundError(
                    f"obstacle '{name}' is a {type(shape).__name__}; it has to be a Box or a "
                    'Zonotope'
                )

    @staticmethod
    def of(shapes: Mapping[str, Box | Zonotope]) -> Obstacles:
        """Obstacles by name."""
        return Obstacles(tuple(shapes), tuple(shapes.values()))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def packed(self) -> PackedObstacles:
        """Arrays for `obstacle_distance`."""
        place, boxes = [], [np.zeros((0, 17))]
        normals, offsets, height = [np.zeros((0, 3))], [np.zeros(0)], 0
        for shape in self.shapes:
            if isinstance(shape, Box):
                place.append((BOX, len(boxes) - 1, len(boxes)))
                boxes.append(shape.packed[None])
            else:
                A, b = shape.half_spaces
                place.append((ZONOTOPE, height, height + len(b)))
                height += len(b)
                normals.append(A)
                offsets.append(b)
        return PackedObstacles(
            np.array(place, dtype=np.int64).reshape(-1, 3),
            np.concatenate(boxes),
            np.concatenate(normals),
            np.concatenate(offsets),
        )


NO_OBSTACLES = Obstacles((), ())


@jit
def obstacle_distance(obstacles: PackedObstacles, o: int, point: Array, gradient: Array) -> float:
    """Lower bound of the signed distance of one point to one obstacle."""
    kind, first, last = obstacles.place[o, 0], obstacles.place[o, 1], obstacles.place[o, 2]
    if kind == BOX:
        return box_distance(obstacles.boxes[first], point, gradient)  # type: ignore[no-any-return]
    return half_space_distance(  # type: ignore[no-any-return]
        obstacles.normals[first:last], obstacles.offsets[first:last], point, gradient
    )
