"""Triangles of a COLLADA or OBJ file, every one where its scene puts it.

coal's loader has all vertices, but where one object has several materials the triangles of all but
the first refer to wrong ones; so triangles are read here, and `mesh_triangles` compares boxes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError

Element = ElementTree.Element
FANS = ('polylist', 'polygons', 'trifans')


def collada_triangles(path: Path) -> Array:
    """Triangles (T, 3, 3) in the unit of the file, axes as in the file."""
    root = ElementTree.parse(path).getroot()
    named = {f'#{each.get("id")}': each for each in root.iter() if each.get('id')}
    instance = root.find('{*}scene/{*}instance_visual_scene')
    scene = None if instance is None else named.get(instance.get('url', ''))
    if scene is None:
        parts = [_of_geometry(each, named) for each in root.iter() if _tag(each) == 'geometry']
    else:
        parts = list(_of_node(scene, np.eye(4), named, path))
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def obj_triangles(path: Path) -> Array:
    """Triangles (T, 3, 3) of a Wavefront OBJ file."""
    corners, faces = [], []
    for line in path.read_text(encoding='utf-8', errors='replace').splitlines():
        words = line.split()
        if words[:1] == ['v']:
            corners.append([float(word) for word in words[1:4]])
        elif words[:1] == ['f']:
            places = [int(word.partition('/')[0]) for word in words[1:]]
            places = [i - 1 if i > 0 else len(corners) + i for i in places]
            faces += [(places[0], b, c) for b, c in pairwise(places[1:])]
    points = np.array(corners, dtype=float).reshape(-1, 3)
    return np.asarray(points[np.array(faces, dtype=np.int64).reshape(-1, 3)])


def _of_node(
    node: Element, above: Array, named: dict[str, Element], path: Path
) -> Iterator[Array]:
    """Triangles of a node and those below it."""
    place = above @ _transform(node, path)
    for child in node:
        kind, target = _tag(child), named.get(child.get('url', ''))
        if kind == 'node':
            yield from _of_node(child, place, named, path)
        elif kind == 'instance_node' and target is not None:
            yield from _of_node(target, place, named, path)
        elif kind == 'instance_geometry' and target is not None:
            yield _of_geometry(target, named) @ place[:3, :3].T + place[:3, 3]
        elif kind == 'instance_controller':
            raise ModelError(f'mesh {path} has a skin, which is not read: export a rigid one')


def _transform(node: Element, path: Path) -> Array:
    whole = np.eye(4)
    for child in node:
        kind = _tag(child)
        if kind in ('lookat', 'skew'):
            raise ModelError(f'mesh {path} has a <{kind}>, which is not read: apply transforms')
        step = np.eye(4)
        if kind == 'matrix':
            step = _numbers(child).reshape(4, 4)
        elif kind == 'translate':
            step[:3, 3] = _numbers(child)
        elif kind == 'scale':
            step[:3, :3] = np.diag(_numbers(child))
        elif kind == 'rotate':
            x, y, z, degrees = _numbers(child)
            K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            turn = np.radians(degrees)
            step[:3, :3] += np.sin(turn) * K + (1.0 - np.cos(turn)) * K @ K
        whole = whole @ step
    return whole


def _of_geometry(geometry: Element, named: dict[str, Element]) -> Array:
    parts = [
        found
        for primitives in geometry.findall('{*}mesh/*')
        for found in _of_primitives(primitives, named)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def _of_primitives(primitives: Element, named: dict[str, Element]) -> Iterator[Array]:
    """Triangles of one element with indices; lines and other things have none."""
    kind = _tag(primitives)
    inputs = primitives.findall('{*}input')
    vertex = next((x for x in inputs if x.get('semantic') == 'VERTEX'), None)
    if vertex is None or kind not in ('triangles', 'tristrips', *FANS):
        return
    points = _positions(named[vertex.get('source', '')], named)
    stride = 1 + max(int(each.get('offset', '0')) for each in inputs)
    lists = [
        np.array((p.text or '').split(), dtype=np.int64).reshape(-1, stride)
        for p in [*primitives.findall('{*}p'), *primitives.findall('{*}ph/{*}p')]
    ]
    rows = [each[:, int(vertex.get('offset', '0'))] for each in lists]
    if kind == 'polylist' and rows:
        counts = np.array((primitives.findtext('{*}vcount') or '').split(), dtype=np.int64)
        rows = np.split(rows[0], np.cumsum(counts)[:-1])
    if kind in FANS:
        indices = _fans(rows)
    elif kind == 'triangles':
        indices = np.concatenate([row.reshape(-1, 3) for row in rows] or [_NONE])
    else:
        strips = [np.stack([row[:-2], row[1:-1], row[2:]], axis=1) for row in rows]
        indices = np.concatenate(strips or [_NONE])
    yield points[indices]


_NONE: IntArray = np.zeros((0, 3), dtype=np.int64)


def _fans(rows: list[IntArray]) -> IntArray:
    """Triangles of polygons, all from the first corner of each."""
    lengths = np.array([len(row) for row in rows])
    parts = [_NONE]
    for length in np.unique(lengths[lengths > 2]):
        same = np.array([row for row in rows if len(row) == length])
        for i in range(1, length - 1):
            parts.append(same[:, [0, i, i + 1]])
    return np.concatenate(parts)


def _positions(vertices: Element, named: dict[str, Element]) -> Array:
    source = next(
        each.get('source', '')
        for each in vertices.findall('{*}input')
        if each.get('semantic') == 'POSITION'
    )
    values = named[source].find('{*}float_array')
    accessor = named[source].find('{*}technique_common/{*}accessor')
    if values is None:
        raise ValueError(f'positions {source} are no float_array')
    stride = 3 if accessor is None else int(accessor.get('stride', '3'))
    return _numbers(values).reshape(-1, stride)[:, :3]


def _numbers(element: Element) -> Array:
    return np.array((element.text or '').split(), dtype=float)


def _tag(element: Element) -> str:
    return element.tag.rpartition('}')[2]
