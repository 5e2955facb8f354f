"""Scene of a page as plain values, and as data for the script that draws it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray

FINEST = 1e-4  # [m] radii of reachable sets are rounded up to it


@dataclass(frozen=True, eq=False)
class Motion:
    """Where the joint frames of an arm are over time; between two moments they are blended."""

    time: Array  # (F,) [s]
    turn: Array  # (F, n, 4) quaternions x y z w of the joint frames in the base frame
    origin: Array  # (F, n, 3) [m]


@dataclass(frozen=True, eq=False)
class ArmShape:
    """Capsules and meshes in the frames of the joints that carry them; -1 is the base."""

    joint: IntArray  # (m,) of every capsule
    ends: Array  # (m, 2, 3) [m]
    radius: Array  # (m,) [m]
    is_tip: tuple[bool, ...]  # whether a capsule is part of the end effector
    axis: Array  # (n, 3) of every joint, in its own frame
    meshes: tuple[LinkMesh, ...] = ()


@dataclass(frozen=True, eq=False)
class LinkMesh:
    """Triangles of one link in the frame of its joint."""

    joint: int
    vertices: Array  # (V, 3) [m]
    triangles: IntArray  # (T, 3)
    is_tip: bool


@dataclass(frozen=True, eq=False)
class PlanOccupancy:
    """What a piece of a plan may reach: in every time step capsules with radii at both ends."""

    start: float  # [s] of the piece
    ends: Array  # (T,) [s] since then, of every time step
    points: Array  # (T, m, 2, 3) [m]
    radii: Array  # (T, m, 2) [m]
    plan: int = 0  # pieces of one plan have the same number


@dataclass(frozen=True, eq=False)
class Nearest:
    """Two points, one of the arm and one of what is nearest to it, at every moment."""

    distance: Array  # (F,) [m]
    points: Array  # (F, 2, 3) [m]
    names: tuple[str, ...]  # (F,) what it is between


@dataclass(frozen=True, eq=False)
class HeldBody:
    """What is known of the body that the last joint moves, in the frame of that joint.

    Semi-axes of the ellipsoid are standard deviations of its mass about its centre.
    """

    joint: int
    time: Array  # (M,) [s] from which on
    com: Array  # (M, 3) nominal [m]
    com_lower: Array  # (M, 3) [m]
    com_upper: Array  # (M, 3)
    ellipsoid: Array  # (M, 3, 3) nominal semi-axes as columns [m]; nan where there is none
    half_box: Array  # (M, 3) [m] half edges of a box about the centre that contains the ellipsoid
    truth: Array | None = None  # (3,) centre of mass, where it is known


@dataclass(frozen=True, eq=False)
class Beside:
    """Another run of the same arm, drawn beside it."""

    name: str
    motion: Motion
    begin: float  # [s] of the first run at which it is drawn as beginning
    stopped: float  # [s] of its own; nan if nothing stopped it


@dataclass(frozen=True, eq=False)
class ShownPair:
    """Two capsules, by number, and what is known of them."""

    capsules: tuple[int, int]
    verdict: str  # looked at | apart | left out
    reason: str = ''


@dataclass(frozen=True, eq=False)
class ShownGap:
    """Where a cover reaches farthest beyond what it covers."""

    joint: int
    place: Array  # (3,) [m] in the frame of the joint
    words: str


@dataclass(frozen=True, eq=False)
class ShownJoints:
    """Joints that whoever looks at the page may turn, and what is near at the pose they give."""

    names: tuple[str, ...]
    lower: Array  # (n,) [rad or m]
    upper: Array  # (n,)
    parent: IntArray  # (n,) joint below, -1: the base
    turn: Array  # (n, 4) quaternion x y z w of the joint frame at 0 in the one below
    origin: Array  # (n, 3) [m] likewise
    is_prismatic: tuple[bool, ...]
    q: Array  # (F, n) positions of the motion
    capsules: tuple[str, ...]
    pairs: tuple[ShownPair, ...]
    gaps: tuple[ShownGap, ...]


@dataclass(frozen=True, eq=False)
class PageScene:
    """The arm over time."""

    motion: Motion
    shape: ArmShape
    boxes: Mapping[str, Array] = field(default_factory=dict)  # name: corners (8, 3) [m]
    occupancy: tuple[PlanOccupancy, ...] = ()
    nearest: Nearest | None = None
    use: Array | None = None  # (F, n) |torque| as share of the limit
    held: HeldBody | None = None
    beside: Beside | None = None
    marks: tuple[tuple[float, str], ...] = ()  # [s] and what begins then
    joints: ShownJoints | None = None


@dataclass(frozen=True, eq=False)
class ScenePart:
    """What a run that goes on adds to its scene."""

    motion: Motion | None = None
    use: Array | None = None
    nearest: Nearest | None = None
    held: HeldBody | None = None
    occupancy: tuple[PlanOccupancy, ...] = ()
    boxes: Mapping[str, Array] | None = None  # instead of those before


def part_data(part: ScenePart) -> dict[str, Any]:
    """Return the part as what JSON can hold, without what it does not have."""
    data = {
        'motion': None if part.motion is None else _motion(part.motion),
        'use': None if part.use is None else packed(part.use),
        'nearest': None if part.nearest is None else _nearest(part.nearest),
        'held': None if part.held is None else _held(part.held),
        'occupancy': [_occupancy(piece) for piece in part.occupancy],
        'boxes': None if part.boxes is None else _boxes(part.boxes),
    }
    return {key: value for key, value in data.items() if value is not None and value != []}


def scene_data(scene: PageScene) -> dict[str, Any]:
    """Return the scene as what JSON can hold; arrays as base64 of little-endian numbers."""
    return {
        'motion': _motion(scene.motion),
        'shape': _shape(scene.shape),
        'boxes': _boxes(scene.boxes),
        'occupancy': [_occupancy(piece) for piece in scene.occupancy],
        'nearest': None if scene.nearest is None else _nearest(scene.nearest),
        'use': None if scene.use is None else packed(scene.use),
        'held': None if scene.held is None else _held(scene.held),
        'beside': None if scene.beside is None else _beside(scene.beside),
        'marks': [[float(at), name] for at, name in scene.marks],
        'joints': None if scene.joints is None else _joints(scene.joints),
    }


def packed(values: AnyArray) -> dict[str, Any]:
    """Shape and single-precision numbers."""
    numbers = np.ascontiguousarray(values, dtype='<f4')
    return {'shape': list(numbers.shape), 'f4': base64.b64encode(numbers.tobytes()).decode()}


def _boxes(boxes: Mapping[str, Array]) -> list[dict[str, Any]]:
    return [{'name': n, 'corners': np.round(c, 4).tolist()} for n, c in boxes.items()]


def _motion(motion: Motion) -> dict[str, Any]:
    return {
        'time': np.round(motion.time, 4).tolist(),
        'turn': packed(motion.turn),
        'origin': packed(motion.origin),
    }


def _shape(shape: ArmShape) -> dict[str, Any]:
    return {
        'joint': shape.joint.tolist(),
        'ends': packed(shape.ends),
        'radius': np.round(shape.radius, 4).tolist(),
        'tip': list(shape.is_tip),
        'axis': np.round(shape.axis, 6).tolist(),
        'meshes': [
            {
                'joint': mesh.joint,
                'tip': mesh.is_tip,
                'vertices': packed(mesh.vertices),
                'triangles': mesh.triangles.ravel().tolist(),
            }
            for mesh in shape.meshes
        ],
    }


def _occupancy(piece: PlanOccupancy) -> dict[str, Any]:
    # Points in single precision move by far less than radii grow.
    radii = np.ceil(piece.radii / FINEST + 1.0) * FINEST
    return {
        'start': piece.start,
        'plan': piece.plan,
        'ends': np.round(piece.ends, 5).tolist(),
        'points': packed(piece.points),
        'radii': packed(radii),
    }


def _nearest(nearest: Nearest) -> dict[str, Any]:
    kinds = sorted(set(nearest.names))
    return {
        'distance': packed(nearest.distance),
        'points': packed(nearest.points),
        'names': kinds,
        'which': [kinds.index(name) for name in nearest.names],
    }


def _held(held: HeldBody) -> dict[str, Any]:
    return {
        'joint': held.joint,
        'time': np.round(held.time, 4).tolist(),
        'com': packed(held.com),
        'lower': packed(held.com_lower),
        'upper': packed(held.com_upper),
        'ellipsoid': packed(np.nan_to_num(held.ellipsoid)),
        'box': packed(held.half_box),
        'truth': None if held.truth is None else np.round(held.truth, 5).tolist(),
    }


def _beside(beside: Beside) -> dict[str, Any]:
    return {
        'name': beside.name,
        'motion': _motion(beside.motion),
        'begin': beside.begin,
        'stopped': float(beside.stopped) if np.isfinite(beside.stopped) else None,
    }


def _joints(joints: ShownJoints) -> dict[str, Any]:
    return {
        'names': list(joints.names),
        'lower': np.round(joints.lower, 6).tolist(),
        'upper': np.round(joints.upper, 6).tolist(),
        'parent': joints.parent.tolist(),
        'turn': packed(joints.turn),
        'origin': packed(joints.origin),
        'slides': [bool(each) for each in joints.is_prismatic],
        'q': packed(joints.q),
        'capsules': list(joints.capsules),
        'pairs': [[*pair.capsules, pair.verdict, pair.reason] for pair in joints.pairs],
        'gaps': [[gap.joint, np.round(gap.place, 4).tolist(), gap.words] for gap in joints.gaps],
    }
