"""Hulls of the meshes that a URDF names, as coarse as a picture needs them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model.arm import Arm
from safe_sysid.model.collision.meshes import CollisionMeshes, has_meshes
from safe_sysid.report.page_scene import LinkMesh

GRID = 0.004  # [m] to which corners are rounded


def link_meshes(arm: Arm) -> tuple[LinkMesh, ...]:
    """Return a hull per mesh; none where the URDF has none, or their files are not there."""
    if not has_meshes(arm.urdf):
        return ()
    model = arm.model
    try:
        found = CollisionMeshes.of(arm.urdf, arm.facts, model, model, None, arm.package_paths)
    except ModelError:
        return ()  # capsules are drawn instead
    meshes = []
    for shape in found.geometry.geometryObjects:
        if not hasattr(shape.geometry, 'points'):
            continue
        points = np.array(shape.geometry.points())
        placed = points @ shape.placement.rotation.T + shape.placement.translation
        joint = int(shape.parentJoint) - 1
        meshes.append(coarse_hull(placed, joint, joint == model.layout.tip))
    return tuple(meshes)


def coarse_hull(points: Array, joint: int, is_tip: bool) -> LinkMesh:
    """Return the hull of points (N, 3) rounded to a grid, its triangles seen from outside."""
    rounded = np.unique(np.round(points / GRID), axis=0) * GRID
    hull = ConvexHull(rounded, qhull_options='QJ Qt')
    corners, places = np.unique(hull.simplices, return_inverse=True)
    triangles = places.reshape(-1, 3)
    vertices = rounded[corners]
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    is_inside_out = np.einsum('ti,ti->t', np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[is_inside_out] = triangles[is_inside_out][:, ::-1]
    return LinkMesh(joint, vertices, triangles, is_tip)
