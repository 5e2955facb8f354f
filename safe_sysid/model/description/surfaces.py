"""Surfaces of the bodies of an arm: everything in its description that moves with one joint.

Links behind fixed and held joints belong to the body that carries them. Links behind held joints
beyond the tip, the fingers of a gripper, are taken at all positions of these joints: a vertex is
at most half a step of a joint times its lever from where it is at one of the positions looked at,
so the hull of cubes of that half width around the vertices at those contains the link at all
times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model.collision.capsule_fit import hull_points
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.collision.mesh_triangles import (
    hull_triangles,
    mesh_triangles,
    shape_triangles,
)
from safe_sysid.model.description.chain import ChosenChain, DescribedJoint
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.model.urdf_tree import (
    MOVING,
    Mimic,
    build,
    frames_of,
    mimics,
    three_numbers,
    whole_model,
)

LARGE, SMALL = 3.0, 1e-3  # [m] sizes of links beyond which a unit is doubted
LOOKS = {0: 1, 1: 9, 2: 5, 3: 5}  # positions of each joint looked at, by how many there are


class BodySurface(NamedTuple):
    """What moves with one joint (-1: the base), in the frame of one of its links."""

    joint: int
    link: str
    triangles: Array  # (T, 3, 3) [m]
    links: tuple[str, ...]  # whose surfaces these are


@dataclass(frozen=True)
class SurfaceChoice:
    """Which shapes count, where their files are, and whether fingers stay where they are held."""

    tags: tuple[str, ...] = ('visual', 'collision')
    package_paths: tuple[Path, ...] = ()
    is_swept: bool = True
    source: Path | None = None  # where meshes are looked for from; none: the URDF


def body_surfaces(
    root: ElementTree.Element,
    urdf: Path,
    chain: ChosenChain,
    joints: Mapping[str, DescribedJoint],
    choice: SurfaceChoice,
) -> tuple[list[BodySurface], list[str]]:
    """Surfaces of all bodies that have any, base first, and what was noticed on the way.

    `urdf` is a file with the content of `root`.
    """
    remarks: list[str] = []
    frames = frames_of(build(urdf, chain.joints, chain.held))
    local = {
        name: found
        for link in root.findall('link')
        if (name := str(link.get('name'))) in frames
        and len(found := _link_triangles(link, choice.source or urdf, choice, remarks))
    }
    sweeps = _Sweeps(urdf, chain, joints, mimics(root, urdf)) if choice.is_swept else None
    by_joint: dict[int, list[tuple[str, Array]]] = {}
    for link, triangles in local.items():
        joint = frames[link].joint
        swept = None if sweeps is None else sweeps.swept(link, triangles, remarks)
        placed = triangles @ frames[link].R.T + frames[link].p if swept is None else swept
        by_joint.setdefault(joint, []).append((link, placed))
    return [_body(joint, by_joint[joint], chain, joints) for joint in sorted(by_joint)], remarks


def _body(
    joint: int,
    parts: Sequence[tuple[str, Array]],
    chain: ChosenChain,
    joints: Mapping[str, DescribedJoint],
) -> BodySurface:
    """Put the links of one body together, in the frame of the link that its joint moves."""
    children = {each.child for each in joints.values()}
    root = next((x.parent for x in joints.values() if x.parent not in children), parts[0][0])
    link = root if joint < 0 else joints[chain.joints[joint]].child
    triangles = np.concatenate([placed for _, placed in parts])
    return BodySurface(joint, link, triangles, tuple(name for name, _ in parts))


def _link_triangles(
    link: ElementTree.Element, urdf: Path, choice: SurfaceChoice, remarks: list[str]
) -> Array:
    """Triangles of the shapes of a link in its frame; files that are missing are remarks.

    A visual file that is missing does not matter where the link has collision shapes, and the
    other way round; with neither there is nothing to go by.
    """
    parts, missing = [], []
    for tag in choice.tags:
        for shape in link.findall(tag):
            try:
                parts.append(_shape_triangles(shape, urdf, choice.package_paths))
            except ModelError as error:
                missing.append((tag, error))
    name = link.get('name')
    if missing and not parts:
        raise missing[0][1]
    remarks.extend(f'{name}: a {tag} shape is not covered: {error}' for tag, error in missing)
    triangles = np.concatenate(parts) if parts else np.zeros((0, 3, 3))
    if len(triangles):
        size = float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
        if not SMALL < size < LARGE:
            remarks.append(
                f'{name} is {size:.3g} m long: is the unit of its mesh, or its scale, right?'
            )
    return triangles


def _shape_triangles(
    shape: ElementTree.Element, urdf: Path, package_paths: Sequence[Path]
) -> Array:
    geometry = shape.find('geometry')
    if geometry is None:
        raise ModelError(f'{urdf}: a <{shape.tag}> has no <geometry>')
    mesh = geometry.find('mesh')
    if mesh is None:
        triangles = shape_triangles(geometry, str(urdf))
    else:
        path = mesh_file(mesh.get('filename', ''), urdf, package_paths)
        triangles = mesh_triangles(path) * _scale(mesh, urdf)
    origin = shape.find('origin')
    if origin is None:
        return triangles
    R = rotation_from_rpy(three_numbers(origin.get('rpy', '0 0 0'), str(urdf)))
    p = three_numbers(origin.get('xyz', '0 0 0'), str(urdf))
    return np.asarray(triangles @ R.T + p)


def _scale(mesh: ElementTree.Element, urdf: Path) -> Array:
    """Scale of a mesh along its axes; one of 0 would leave a shape without a volume."""
    scale = three_numbers(mesh.get('scale', '1 1 1'), str(urdf))
    if not scale.all():
        raise ModelError(
            f"{urdf}: the scale of {mesh.get('filename', 'a mesh')} is '{mesh.get('scale')}': 0 "
            'makes it flat; a mesh in mm has 0.001 0.001 0.001'
        )
    return scale


class _Sweeps:
    """Links beyond the tip at all positions of the held joints between."""

    def __init__(
        self,
        urdf: Path,
        chain: ChosenChain,
        joints: Mapping[str, DescribedJoint],
        mimicking: Mapping[str, Mimic],
    ) -> None:
        self._whole = whole_model(urdf, chain.joints, chain.held)
        self._chain, self._mimics = chain, mimicking
        self._joints = joints
        self._above = {joint.child: joint for joint in joints.values()}
        self._frames: dict[tuple[tuple[str, float], ...], dict[str, tuple[Array, Array]]] = {}

    def swept(self, link: str, triangles: Array, remarks: list[str]) -> Array | None:
        """Triangles of a hull that contains the link at all times; None where it does not move."""
        path = list(self._beyond_tip(link))
        drives = [self._drive(joint.name) for joint in path if joint.kind in MOVING]
        names = sorted({name for name, _ in drives})
        if not names:
            return None
        if len(names) not in LOOKS:
            remarks.append(f'{link} is covered where it is held: {len(names)} joints move it')
            return None
        ranges = {name: self._range(name) for name in names}
        count = LOOKS[len(names)]
        steps = {name: (high - low) / (count - 1) for name, (low, high) in ranges.items()}
        points = hull_points(triangles.reshape(-1, 3))
        room = self._room(path, drives, steps, float(np.linalg.norm(points, axis=1).max()))
        placed = []
        for position in product(*(np.linspace(*ranges[name], count) for name in names)):
            R, p = self._placed(dict(zip(names, map(float, position), strict=True)), link)
            placed.append(points @ R.T + p)
        corners = room * np.array(list(product((-1.0, 1.0), repeat=3)))
        around = (np.concatenate(placed)[:, None] + corners).reshape(-1, 3)
        return hull_triangles(around)

    def _beyond_tip(self, link: str) -> Iterator[DescribedJoint]:
        """Joints from a link down to the last one that moves; none if that is not below it."""
        path: list[DescribedJoint] = []
        while link in self._above:
            joint = self._above[link]
            if joint.name in self._chain.joints:
                if joint.name == self._chain.joints[-1]:
                    yield from path
                return
            path.append(joint)
            link = joint.parent

    def _drive(self, name: str) -> tuple[str, float]:
        """Return the joint that a joint follows in the end, and how many times as far."""
        ratio = 1.0
        while name in self._mimics:
            ratio *= self._mimics[name].multiplier
            name = self._mimics[name].joint
        return name, ratio

    def _range(self, name: str) -> tuple[float, float]:
        joint = self._joints[name]
        if joint.kind == 'continuous':
            return -np.pi, np.pi
        return joint.lower, joint.upper

    def _room(
        self,
        path: Sequence[DescribedJoint],
        drives: Sequence[tuple[str, float]],
        steps: Mapping[str, float],
        far: float,
    ) -> float:
        """How far a vertex is at most from where it is at one of the positions looked at [m]."""
        room, moving = 0.0, iter(drives)
        for joint in path:  # outermost first; `far` is how far the vertices are from its origin
            if joint.kind in MOVING:
                name, ratio = next(moving)
                step = 0.5 * steps[name] * abs(ratio)
                room += step * (1.0 if joint.kind == 'prismatic' else far)
                if joint.kind == 'prismatic':
                    far += self._farthest(joint.name)
            far += float(np.linalg.norm(joint.origin))
        return room * (1.0 + 1e-9) + 1e-9

    def _farthest(self, name: str) -> float:
        """Largest position of a joint, of either sign."""
        if name in self._mimics:
            mimic = self._mimics[name]
            return abs(mimic.multiplier) * self._farthest(mimic.joint) + abs(mimic.offset)
        return max(map(abs, self._range(name)))

    def _placed(self, positions: Mapping[str, float], link: str) -> tuple[Array, Array]:
        key = tuple(positions.items())
        if key not in self._frames:
            held = dict(self._chain.held)
            held.update({name: self._at(name, positions, held) for name in held})
            frames = frames_of(self._whole.holding(held))
            self._frames[key] = {name: (frame.R, frame.p) for name, frame in frames.items()}
        return self._frames[key][link]

    def _at(self, name: str, positions: Mapping[str, float], held: Mapping[str, float]) -> float:
        if name in positions:
            return positions[name]
        if name in self._mimics and self._drive(name)[0] in positions:
            mimic = self._mimics[name]
            return mimic.multiplier * self._at(mimic.joint, positions, held) + mimic.offset
        return held[name]
