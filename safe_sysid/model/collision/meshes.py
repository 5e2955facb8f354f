"""Distances of the convex hulls of an arm's meshes, by coal: a second opinion on its capsules.

coal walks from vertex to neighbouring vertex towards the other body. On triangles that are not
those of a convex body this stops too early, and distances are too large; so each mesh is replaced
by the hull of its vertices, which contains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import ModelError
from safe_sysid.model.collision.collada import collada_root, is_collada
from safe_sysid.model.collision.mesh_files import with_mesh_files
from safe_sysid.model.facts import RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import build, read_urdf

APART = 2  # joints between two bodies that can touch at all
THIN = 1e-6  # [m] half thickness of the hull of a flat mesh, which qhull could not compute
FLOOR = 20.0  # [m] width of the block that stands for the floor


def has_meshes(urdf: Path) -> bool:
    """Whether any collision shape of a URDF is a mesh."""
    return read_urdf(urdf).find('link/collision/geometry/mesh') is not None


def convex_hull(vertices: Array, name: str) -> Any:
    """Compute the convex hull of the vertices (N, 3) of a mesh as a shape of coal."""
    if not (len(vertices) and np.isfinite(vertices).all()):
        raise ModelError(
            f'mesh {name} has no vertices, or some that are not finite; mend the file'
        )
    points = np.unique(vertices, axis=0)
    spread = points - points.mean(axis=0)
    axes = np.linalg.eigh(spread.T @ spread)[1].T
    for axis in axes[np.ptp(points @ axes.T, axis=0) < THIN]:
        points = np.concatenate([points - THIN * axis, points + THIN * axis])
    try:
        return _hull_of(points)
    except RuntimeError:  # coal has room for 255 neighbours, and the rim of a disc can have more
        aside = THIN * (np.random.default_rng(0).random(points.shape) - 0.5)
        return _hull_of(np.concatenate([points - aside, points + aside]))  # contains the middles


def _hull_of(points: Array) -> Any:
    found = coal.StdVec_Vec3s()
    found.extend(list(points))
    return coal.Convex.convexHull(found, True, 'Qt')


@dataclass(frozen=True, eq=False)
class CollisionMeshes:
    """Shapes of the URDF, hulls of its meshes, and capsules of what the arm holds."""

    model: Any  # pin.Model
    geometry: Any  # pin.GeometryModel, whose pairs can touch

    @staticmethod
    def of(
        urdf: Path,
        facts: RobotFacts,
        bare: RobotModel,
        model: RobotModel,
        floor: float | None,
        package_paths: Sequence[Path] = (),
    ) -> CollisionMeshes:
        """Read those of `bare` from its URDF, and add what else is on `model`."""
        arm = build(urdf, tuple(facts.joints), facts.held)
        found = with_mesh_files(urdf, package_paths)
        for mesh in found.findall('link/collision/geometry/mesh'):
            path = Path(mesh.get('filename', ''))
            if is_collada(path):
                collada_root(path)  # which refuses what the library does not
        try:
            geometry = pin.buildGeomFromUrdfString(
                arm,
                ElementTree.tostring(found, encoding='unicode'),
                pin.GeometryType.COLLISION,
            )
        except (ValueError, RuntimeError) as error:
            raise ModelError(f'{urdf}: its meshes cannot be read: {error}') from error
        for shape in geometry.geometryObjects:
            if isinstance(shape.geometry, coal.BVHModelBase):
                shape.geometry = convex_hull(np.array(shape.geometry.vertices()), shape.name)
        _add_held(geometry, bare, model)
        if floor is not None:
            block = coal.Box(FLOOR, FLOOR, FLOOR)
            place = pin.SE3(np.eye(3), np.array([0.0, 0.0, floor - 0.5 * FLOOR]))
            geometry.addGeometryObject(pin.GeometryObject('the floor', 0, 0, place, block))
        _add_pairs(arm, geometry)
        return CollisionMeshes(arm, geometry)

    @property
    def names(self) -> list[str]:
        """The pairs that are looked at."""
        shapes = self.geometry.geometryObjects
        return [
            f'{shapes[pair.first].name} and {shapes[pair.second].name}'
            for pair in self.geometry.collisionPairs
        ]

    def distances(self, q: Array) -> Array:
        """Signed distance of every pair in every pose, (N, n) -> (N, pairs)."""
        data, found = self.model.createData(), self.geometry.createData()
        rows = np.empty((len(q), len(self.geometry.collisionPairs)))
        for row, pose in zip(rows, q, strict=True):
            pin.computeDistances(self.model, data, self.geometry, found, pose)
            row[:] = [result.min_distance for result in found.distanceResults]
        return rows

    def without(self, pairs: AnyArray) -> CollisionMeshes:
        """Return the same without the pairs that are marked."""
        kept = self.geometry.copy()
        kept.removeAllCollisionPairs()
        for pair, out in zip(self.geometry.collisionPairs, pairs, strict=True):
            if not out:
                kept.addCollisionPair(pair)
        return CollisionMeshes(self.model, kept)


def _add_held(geometry: Any, bare: RobotModel, model: RobotModel) -> None:
    capsules = model.capsules
    for i in range(len(bare.capsules.names), len(capsules.names)):
        a, b = capsules.a[i], capsules.b[i]
        length = float(np.linalg.norm(b - a))
        along = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).matrix()
        geometry.addGeometryObject(
            pin.GeometryObject(
                capsules.names[i],
                int(capsules.joint[i]) + 1,
                0,
                pin.SE3(turn, 0.5 * (a + b)),
                coal.Capsule(float(capsules.radius[i]), length),
            )
        )


def _add_pairs(arm: Any, geometry: Any) -> None:
    """Pairs that are two or more joints apart, and what moves with the floor."""
    shapes = geometry.geometryObjects
    for i in range(len(shapes)):
        for j in range(i + 1, len(shapes)):
            near = shapes[i].parentJoint, shapes[j].parentJoint
            over_floor = 'the floor' in (shapes[i].name, shapes[j].name) and max(near) > 0
            if over_floor or len(_above(arm, near[0]) ^ _above(arm, near[1])) >= APART:
                geometry.addCollisionPair(pin.CollisionPair(i, j))


def _above(arm: Any, joint: int) -> set[int]:
    path = set()
    while joint > 0:
        path.add(joint)
        joint = int(arm.parents[joint])
    return path
