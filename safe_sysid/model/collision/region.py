"""Region: where an arm may be, told to others who share the space; and how far it can reach.

A box that the arm keeps within is as good as six walls about it: plans that are certified among
them never leave it. An arm without such a box is taken to be anywhere it can reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Finite, NotNegative, Settings
from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.model.collision.arm_clearance import (
    CollisionScene,
    clearance,
    scene_of,
)
from safe_sysid.model.collision.capsules import NO_PAIRS, Capsules
from safe_sysid.model.collision.enclosing_boxes import segment
from safe_sysid.model.collision.named_boxes import together
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box

SLACK = 1e-9  # [m] by which a region is told larger than its walls leave room; many roundings
SIDES = (('-', -1.0), ('+', 1.0))
Vector3 = tuple[Finite, Finite, Finite]
Edges = tuple[NotNegative, NotNegative, NotNegative]


@dataclass(frozen=True, eq=False)
class Region:
    """Where the moving links of an arm may be, in the frame of its base."""

    model: RobotModel
    walls: Mapping[str, Box]  # what keeps the arm within it; none: nothing but its reach does
    inside: Box

    @staticmethod
    def anywhere(model: RobotModel) -> Region:
        """All that an arm can reach."""
        return Region(model, {}, _ball(reach_of(model)))

    @staticmethod
    def within(model: RobotModel, center: Array, size: Array) -> Region:
        """Return a box of whole edges `size` [m], along the axes of the base."""
        half = 0.5 * np.asarray(size, dtype=float)
        if not np.all(half > 0.0):
            raise ConfigError(f'edges of the region are {list(size)} m; each has to be above 0')
        thick = reach_of(model) + float(np.linalg.norm(center) + np.linalg.norm(half))
        walls = {}
        for axis, name in enumerate('xyz'):
            for side, sign in SIDES:
                out = np.eye(3)[axis] * sign * (half[axis] + thick)
                sizes = half + 2.0 * thick
                sizes[axis] = thick
                walls[f'edge of the region {side}{name}'] = Box(center + out, sizes, np.eye(3))
        return Region(model, walls, Box(center, half + SLACK, np.eye(3)))

    def contains(self, q: Array) -> bool:
        """Whether an arm is within it."""
        if not self.walls:
            return True
        return bool(clearance(self._among_walls, np.asarray(q, dtype=np.float64), 0.0)[0] > 0.0)

    @cached_property
    def _among_walls(self) -> CollisionScene:
        """The arm among its walls; what it does to itself is not asked here."""
        scene = scene_of(self.model, Obstacles.of(self.walls))
        return scene._replace(shapes=scene.shapes._replace(pairs=NO_PAIRS))

    @property
    def boxes(self) -> dict[str, Box]:
        """What others have to avoid: where its links may be, and its base."""
        return together({'reach': self.inside}, base_of(self.model.capsules))


@dataclass(frozen=True)
class RegionSettings(Settings):
    """Box that no moving link leaves, along the axes of the base."""

    center: Vector3 = (0.0, 0.0, 0.0)  # [m]
    size: Edges = (0.0, 0.0, 0.0)  # [m] whole edges; 0: there is no such box

    def of(self, model: RobotModel) -> Region:
        """Return the same for an arm."""
        if not any(self.size):
            return Region.anywhere(model)
        return Region.within(model, np.array(self.center), np.array(self.size))


def reach_of(model: RobotModel) -> float:
    """Radius of a ball about the origin of the base with all that moves [m]."""
    tree, limits, capsules = model.tree, model.limits, model.capsules
    ends = np.maximum(np.abs(limits.position_lower), np.abs(limits.position_upper))
    steps = np.linalg.norm(tree.p_parent_joint, axis=1)
    steps = steps + np.where(tree.is_prismatic, ends, 0.0)
    farthest = 0.0
    for c in np.flatnonzero(capsules.joint >= 0):
        ends_of_it = np.linalg.norm([capsules.a[c], capsules.b[c]], axis=1)
        length, j = float(ends_of_it.max() + capsules.radius[c]), int(capsules.joint[c])
        while j >= 0:
            length, j = length + float(steps[j]), int(tree.parent[j])
        farthest = max(farthest, length)
    if not np.isfinite(farthest):
        raise BoundError(f'{model.name} slides without end, so nobody can say where it never is')
    return farthest + SLACK


def base_of(capsules: Capsules) -> dict[str, Box]:
    """Shapes that no joint moves."""
    return {
        capsules.names[c]: segment(
            capsules.a[c], capsules.b[c], 2.0 * float(capsules.radius[c]) + SLACK
        )
        for c in np.flatnonzero(capsules.joint < 0)
    }


def _ball(radius: float) -> Box:
    return Box(np.zeros(3), np.full(3, SLACK), np.eye(3), radius)
