"""Triangles of mesh files and of the primitive shapes of a URDF, in metres.

STL files are read as they are, triangle by triangle, since a library that joins nearby vertices
moves some. Round shapes become polyhedra around them, so that what contains the polyhedron
contains the shape. A mesh with a corner that is not finite is refused: nobody knows where it is.
"""

from __future__ import annotations

from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
from scipy.spatial import ConvexHull

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_MESH, check_file
from safe_sysid.model.collision.collada import (
    collada_root,
    collada_triangles,
    collada_unit,
    is_collada,
)
from safe_sysid.model.collision.mesh_points import library_vertices
from safe_sysid.model.collision.mesh_size import check_triangles
from safe_sysid.model.collision.wavefront import obj_triangles

HEADER = 84  # bytes of a binary STL before its triangles
RECORD = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
CORNER = re.compile(rb'vertex\s+(\S+)\s+(\S+)\s+(\S+)')
SIDES = 64  # of the prism around a cylinder
ALIKE = 1e-3  # share of a size by which boxes of two readers may differ
RINGS = 12  # of the polyhedron around a sphere


def mesh_triangles(path: Path) -> Array:
    """Triangles (T, 3, 3) [m] of a mesh file."""
    check_file(path, ModelError, LARGEST_MESH)
    triangles = _stl(path) if path.suffix.lower() == '.stl' else _of_scene(path)
    if not (len(triangles) and np.isfinite(triangles).all()):
        raise ModelError(
            f'mesh {path} has no triangles that can be read, or corners that are not finite; '
            'export it anew'
        )
    return triangles


def _stl(path: Path) -> Array:
    content = path.read_bytes()
    count = int.from_bytes(content[HEADER - 4 : HEADER], 'little')
    if len(content) == HEADER + RECORD.itemsize * count:
        return np.frombuffer(content, RECORD, count, HEADER)['corners'].astype(np.float64)
    check_triangles(path, content.count(b'vertex') // 3)
    found = (float(word) for corner in CORNER.finditer(content) for word in corner.groups())
    try:
        corners = np.fromiter(found, dtype=np.float64).reshape(-1, 3, 3)
    except ValueError as error:
        raise ModelError(f'mesh {path} cannot be read: {error}') from error
    return np.asarray(corners)


def _of_scene(path: Path) -> Array:
    """Triangles of a file that coal reads as well, whose box has to be the same."""
    unit, triangles = 1.0, None
    try:
        if is_collada(path):
            root = collada_root(path)
            triangles, unit = collada_triangles(root, path), collada_unit(root, path)
        elif path.suffix.lower() == '.obj':
            triangles = obj_triangles(path)
        vertices = library_vertices(path)
        if triangles is None:  # the hull of the vertices contains what is between them
            triangles = hull_triangles(vertices)
    except (ValueError, RuntimeError, IndexError, KeyError, StopIteration) as error:
        raise ModelError(f'mesh {path} cannot be read: {error!r}') from error
    _compare(path, vertices, triangles.reshape(-1, 3))
    return np.asarray(triangles * unit)


def _compare(path: Path, others: Array, points: Array) -> None:
    """Refuse a file that two readers read differently."""
    if not (len(points) and np.isfinite(points).all() and np.isfinite(others).all()):
        raise ModelError(f'mesh {path} has no triangles, or corners that are not finite')
    boxes = [np.stack([x.min(axis=0), x.max(axis=0)]) for x in (points, others)]
    if np.abs(boxes[0] - boxes[1]).max() > ALIKE * np.ptp(boxes[0], axis=0).max():
        raise ModelError(
            f'mesh {path} is read in two ways: from {boxes[0].tolist()} and from '
            f'{boxes[1].tolist()}; export it anew, or as STL in metres'
        )


def shape_triangles(geometry: ElementTree.Element, source: str) -> Array:
    """Triangles (T, 3, 3) of a polyhedron that contains a primitive shape."""
    try:
        if (box := geometry.find('box')) is not None:
            half = 0.5 * np.array([_size(word) for word in box.attrib['size'].split()])
            return hull_triangles(_corners() * half)
        if (cylinder := geometry.find('cylinder')) is not None:
            radius, length = (_size(cylinder.attrib[key]) for key in ('radius', 'length'))
            return hull_triangles(_prism(radius, length))
        if (capsule := geometry.find('capsule')) is not None:  # its length is without its ends
            radius, length = (_size(capsule.attrib[key]) for key in ('radius', 'length'))
            ends = np.array([[[0.0, 0.0, -0.5 * length]], [[0.0, 0.0, 0.5 * length]]])
            return hull_triangles((_ball(radius) + ends).reshape(-1, 3))
        if (sphere := geometry.find('sphere')) is not None:
            return hull_triangles(_ball(_size(sphere.attrib['radius'])))
    except (KeyError, ValueError) as error:
        raise ModelError(f'{source}: a shape has no figure, or a wrong one: {error}') from error
    kinds = ', '.join(child.tag for child in geometry)
    raise ModelError(
        f'{source}: shapes are box, cylinder, capsule, sphere or mesh, not {kinds or "empty"}'
    )


def _size(text: str) -> float:
    """Size of a shape [m]."""
    value = float(text)
    if not 0.0 < value < np.inf:
        raise ValueError(f'a size of {text} m')
    return value


def hull_triangles(points: Array) -> Array:
    """Triangles of the convex hull of points (N, 3) that lie in no plane."""
    return np.asarray(points[ConvexHull(points).simplices])


def _corners() -> Array:
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def _prism(radius: float, length: float) -> Array:
    turn = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rim = radius / np.cos(np.pi / SIDES) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ends = np.repeat([-0.5 * length, 0.5 * length], SIDES)
    return np.concatenate([np.tile(rim, (2, 1)), ends[:, None]], axis=1)


def _ball(radius: float) -> Array:
    rise, turn = np.meshgrid(
        np.pi * np.arange(1, RINGS) / RINGS, np.pi * np.arange(2 * RINGS) / RINGS
    )
    points = np.stack(
        [np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), np.cos(rise)], axis=-1
    ).reshape(-1, 3)
    points = np.concatenate([points, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    nearest = float(np.min(-ConvexHull(points).equations[:, 3]))  # of its faces to the centre
    return np.asarray(points * radius / nearest)
