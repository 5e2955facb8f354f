"""Distance of the whole arm to obstacles and to itself at one configuration, for path search.

No tracking error, no rounding argument beyond that of the distances: guidance, not a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import Obstacles, PackedObstacles, obstacle_distance
from safe_sysid.model.collision.segment_distance import Segment, segment_distance
from safe_sysid.model.collision.sphere_cover import Shapes, sphere_cover
from safe_sysid.model.dynamics.forward_kinematics import joint_frames_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import inline_jit, jit, part_jit
from safe_sysid.sets.points import between, point_at

OBSTACLE, SELF = 0, 1


class CollisionScene(NamedTuple):
    """Everything that can touch, as arrays for compiled code."""

    tree: Tree
    joint: IntArray  # (m,) of each capsule, -1: the base
    ends: Array  # (m, 2, 3) in the frame of the joint [m]
    shapes: Shapes
    obstacles: PackedObstacles
    around: Array  # (O, 2, 3) lowest and highest coordinates of obstacles [m]


@dataclass(frozen=True)
class ArmClearance:
    """Smallest distance [m], negative in contact, and the two shapes it is between."""

    distance: float
    first: str
    second: str

    def __str__(self) -> str:
        return f'{self.first} and {self.second}: {self.distance:.3g} m'


def scene_of(model: RobotModel, obstacles: Obstacles) -> CollisionScene:
    """Return the arm among obstacles."""
    capsules = model.capsules
    if not np.any(capsules.joint >= 0):
        raise BoundError(
            f'the arm {model.name} has no collision shapes on its moving links, so nothing can '
            'be said about contact; add capsules under `collision` in its settings'
        )
    return CollisionScene(
        model.tree,
        capsules.joint,
        np.stack([capsules.a, capsules.b], axis=1),
        sphere_cover(capsules),
        obstacles.packed,
        obstacles.corners.copy(),
    )


def arm_clearance(model: RobotModel, obstacles: Obstacles, q: Array) -> ArmClearance | None:
    """Where the arm is nearest to something; None when there is nothing it could touch."""
    scene = scene_of(model, obstacles)
    distance, kind, first, second = clearance(scene, np.array(q, dtype=np.float64), -np.inf)
    if not np.isfinite(distance):
        return None
    names = model.capsules.names
    if kind == OBSTACLE:
        return ArmClearance(distance, names[first], obstacles.names[second])
    return ArmClearance(distance, names[first], names[second])


@jit
def clearance(scene: CollisionScene, q: Array, enough: float) -> tuple[float, int, int, int]:
    """Smallest distance, its kind and the two shapes; stops at the first one below `enough`."""
    ends = np.empty((len(scene.joint), 2, 3))
    _place(scene, q, ends)
    best, kind, first, second = np.inf, SELF, 0, 0
    for p in range(len(scene.shapes.pairs)):
        a, b = scene.shapes.pairs[p, 0], scene.shapes.pairs[p, 1]
        distance, _, _, _ = segment_distance(_segment(ends, a), _segment(ends, b))
        distance -= scene.shapes.capsule_radius[a] + scene.shapes.capsule_radius[b]
        if distance < best:
            best, kind, first, second = distance, SELF, a, b
            if best < enough:
                return best, kind, first, second
    distance, a, o = _from_obstacles(scene, ends, best, enough)
    if distance < best:
        return distance, OBSTACLE, a, o
    return best, kind, first, second


@part_jit
def _from_obstacles(
    scene: CollisionScene, ends: Array, best: float, enough: float
) -> tuple[float, int, int]:
    """Smallest distance below `best` with its capsule and obstacle; stops below `enough`."""
    first, second, i = 0, 0, 0
    spheres = scene.shapes.sphere_capsule
    while i < len(spheres):
        a, begin = spheres[i], i
        while i < len(spheres) and spheres[i] == a:
            i += 1
        radius = scene.shapes.sphere_radius[begin]  # of all spheres of a capsule
        for o in range(len(scene.obstacles.place)):
            if _at_least(ends[a], radius, scene.around[o]) >= best:
                continue
            for sphere in range(begin, i):
                weight = scene.shapes.sphere_weight[sphere]
                center = between(point_at(ends, a, 0), point_at(ends, a, 1), weight)
                distance, _ = obstacle_distance(scene.obstacles, o, center)
                distance -= radius
                if distance < best:
                    best, first, second = distance, a, o
            if best < enough:
                return best, first, second
    return best, first, second


@inline_jit
def _segment(ends: Array, c: int) -> Segment:
    """Axis of a capsule."""
    return point_at(ends, c, 0), point_at(ends, c, 1)


@jit
def _at_least(ends: Array, radius: float, around: Array) -> float:
    """Distance of the box about a capsule from that about an obstacle, less where they overlap."""
    square = 0.0
    for r in range(3):
        low, high = min(ends[0, r], ends[1, r]), max(ends[0, r], ends[1, r])
        gap = max(around[0, r] - high, low - around[1, r]) - radius
        if gap > 0.0:
            square += gap * gap
    return np.sqrt(square) if square > 0.0 else -np.inf


@jit
def clearance_along(scene: CollisionScene, q: Array, enough: float) -> float:
    """Smallest distance at configurations (N, n); stops at the first one below `enough`."""
    smallest = np.inf
    for t in range(len(q)):
        distance, _, _, _ = clearance(scene, q[t], enough)
        smallest = min(smallest, distance)
        if smallest < enough:
            break
    return smallest


@jit
def _place(scene: CollisionScene, q: Array, ends: Array) -> None:
    """End points of all capsules in the base frame."""
    R, p = np.empty((len(q), 3, 3)), np.empty((len(q), 3))
    joint_frames_into(scene.tree, q, R, p)
    for c in range(len(scene.joint)):
        j = scene.joint[c]
        for e in range(2):
            for r in range(3):
                if j < 0:
                    ends[c, e, r] = scene.ends[c, e, r]
                    continue
                ends[c, e, r] = p[j, r]
                for m in range(3):
                    ends[c, e, r] += R[j, r, m] * scene.ends[c, e, m]


@jit
def edge_is_free(
    scene: CollisionScene, start: Array, way: Array, step: float, enough: float
) -> bool:
    """Whether the clearance is `enough` at samples of a straight edge, its start left out.

    Samples are at most `step` apart in every joint, in an order that finds contacts early.
    """
    longest = 0.0
    for j in range(len(way)):
        longest = max(longest, abs(way[j]))
    count = max(int(np.ceil(longest / step)), 1)
    stride = 1
    while 2 * stride <= count:
        stride *= 2
    while stride >= 1:  # samples at odd multiples of the stride, coarse ones first; then the end
        for i in range(stride, count, 2 * stride):
            distance, _, _, _ = clearance(scene, start + way * (i / count), enough)
            if distance < enough:
                return False
        stride //= 2
    distance, _, _, _ = clearance(scene, start + way, enough)
    return distance >= enough  # type: ignore[no-any-return]
