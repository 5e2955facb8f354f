"""Triangles of a COLLADA file, every one where its scene puts it.

coal's loader has all vertices, but where one object has several materials the triangles of all but
the first refer to wrong ones; so triangles are read here, and `mesh_triangles` compares boxes. A
scene that would grow without end is refused here first: that loader ends the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_MESH
from safe_sysid.model.collision.mesh_size import MOST_NUMBERS, check_triangles
from safe_sysid.model.xml_file import DEEPEST, xml_root

Element = ElementTree.Element
ENDINGS = ('.dae', '.xml', '.zae')  # that loaders take for COLLADA, whatever is inside
MARK, LOOKED_AT = b'<collada', 4096  # what says so in the first bytes of any other file
FANS = ('polylist', 'polygons', 'trifans')
MOST_PLACED = 10_000  # nodes and shapes, each as often as the scene has it
BLOCK = 1_000_000  # numbers that are in memory as words


class _Scene(NamedTuple):
    """What is read, and its elements by their names."""

    path: Path
    named: dict[str, Element]


def is_collada(path: Path) -> bool:
    """Whether a loader would read a file as COLLADA."""
    if path.suffix.lower() in ENDINGS:
        return True
    with path.open('rb') as file:
        return MARK in file.read(LOOKED_AT).lower()


def collada_root(path: Path) -> Element:
    """Root of a file whose scene has an end, also for a loader that asks nothing."""
    root = xml_root(path, LARGEST_MESH)
    _check_placed(root, path)
    return root


def collada_triangles(root: Element, path: Path) -> Array:
    """Triangles (T, 3, 3) in the unit of the file, axes as in the file."""
    named = {f'#{each.get("id")}': each for each in root.iter() if each.get('id')}
    given = _Scene(path, named)
    instance = root.find('{*}scene/{*}instance_visual_scene')
    scene = None if instance is None else named.get(instance.get('url', ''))
    found = _of_all(root, given) if scene is None else _of_node(scene, np.eye(4), given)
    parts, count = [], 0
    for part in found:
        count += len(part)
        check_triangles(path, count)
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def collada_unit(root: Element, path: Path) -> float:
    """Metres per unit of a file."""
    unit = root.find('{*}asset/{*}unit')
    try:
        meters = 1.0 if unit is None else float(unit.get('meter', '1'))
    except ValueError as error:
        raise ModelError(f'mesh {path}: its unit cannot be read: {error}') from error
    if not 0.0 < meters < np.inf:
        raise ModelError(f'mesh {path}: its unit is {meters} m; it has to be above 0')
    return meters


class _Placed(NamedTuple):
    """How much a node puts into the scene, and how many nodes are in each other there."""

    parts: int
    depth: int


def _check_placed(root: Element, path: Path) -> None:
    """Refuse nodes that are in themselves, or that are there too often.

    Loaders find a node by its id or by its name.
    """
    nodes = [each for each in root.iter() if _tag(each) in ('node', 'visual_scene')]
    named: dict[str, list[Element]] = {}
    for node in nodes:
        for key in ('id', 'name'):
            named.setdefault(f'#{node.get(key)}', []).append(node)
    known: dict[int, _Placed] = {}

    def placed(node: Element, above: int) -> _Placed:
        if id(node) not in known:
            if above > DEEPEST:
                raise ModelError(f'mesh {path}: more than {DEEPEST} nodes are in each other')
            known[id(node)] = _Placed(0, DEEPEST)  # in itself it has no end
            inner = [placed(x, above + 1) for child in node for x in _nodes_of(child, named)]
            depth = 1 + max((each.depth for each in inner), default=0)
            known[id(node)] = _Placed(len(node) + sum(each.parts for each in inner), depth)
        found = known[id(node)]
        if above + found.depth > DEEPEST:
            raise ModelError(f'mesh {path}: more than {DEEPEST} nodes are in each other')
        if found.parts > MOST_PLACED:
            raise ModelError(f'mesh {path}: its scene has more than {MOST_PLACED} parts')
        return found

    for node in nodes:
        placed(node, 0)


def _nodes_of(child: Element, named: dict[str, list[Element]]) -> list[Element]:
    """Nodes that stand for a child of a node."""
    kind = _tag(child)
    if kind == 'instance_node':
        return named.get(child.get('url', ''), [])
    return [child] if kind == 'node' else []


def _of_all(root: Element, scene: _Scene) -> Iterator[Array]:
    """Triangles of every shape where no scene says which."""
    return (_of_geometry(each, scene) for each in root.iter() if _tag(each) == 'geometry')


def _of_node(node: Element, above: Array, scene: _Scene) -> Iterator[Array]:
    """Triangles of a node and those below it."""
    place = above @ _transform(node, scene.path)
    for child in node:
        kind, target = _tag(child), scene.named.get(child.get('url', ''))
        if kind == 'node':
            yield from _of_node(child, place, scene)
        elif kind == 'instance_node' and target is not None:
            yield from _of_node(target, place, scene)
        elif kind == 'instance_geometry' and target is not None:
            yield _of_geometry(target, scene) @ place[:3, :3].T + place[:3, 3]
        elif kind == 'instance_controller':
            raise ModelError(
                f'mesh {scene.path} has a skin, which is not read: export a rigid one'
            )


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


def _of_geometry(geometry: Element, scene: _Scene) -> Array:
    parts = [
        found
        for primitives in geometry.findall('{*}mesh/*')
        for found in _of_primitives(primitives, scene)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def _of_primitives(primitives: Element, scene: _Scene) -> Iterator[Array]:
    """Triangles of one element with indices; lines and other things have none."""
    kind, named = _tag(primitives), scene.named
    inputs = primitives.findall('{*}input')
    vertex = next((x for x in inputs if x.get('semantic') == 'VERTEX'), None)
    if vertex is None or kind not in ('triangles', 'tristrips', *FANS):
        return
    points = _positions(named[vertex.get('source', '')], named)
    stride = 1 + max(int(each.get('offset', '0')) for each in inputs)
    lists = [
        _numbers(p, np.int64).reshape(-1, stride)
        for p in [*primitives.findall('{*}p'), *primitives.findall('{*}ph/{*}p')]
    ]
    rows = [each[:, int(vertex.get('offset', '0'))] for each in lists]
    if kind == 'polylist' and rows:
        counted = primitives.find('{*}vcount')
        counts = _numbers(counted, np.int64) if counted is not None else _NONE
        check_triangles(scene.path, len(counts))
        rows = np.split(rows[0], np.cumsum(counts)[:-1])
    if kind in FANS:
        indices = _fans(rows)
    elif kind == 'triangles':
        indices = np.concatenate([row.reshape(-1, 3) for row in rows] or [_NONE])
    else:
        strips = [np.stack([row[:-2], row[1:-1], row[2:]], axis=1) for row in rows]
        indices = np.concatenate(strips or [_NONE])
    check_triangles(scene.path, len(indices))
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


def _numbers(element: Element, kind: type[np.float64] | type[np.int64] = np.float64) -> AnyArray:
    """Numbers in the text of an element, some at a time as words take more room."""
    text, blocks, count = element.text or '', [np.zeros(0, dtype=kind)], 0
    while text:
        words = text.split(None, BLOCK)
        text = words.pop() if len(words) > BLOCK else ''
        count += len(words)
        if count > MOST_NUMBERS:
            raise ValueError(f'a list of more than {MOST_NUMBERS} numbers')
        blocks.append(np.array(words, dtype=kind))
    return np.concatenate(blocks)


def _tag(element: Element) -> str:
    return element.tag.rpartition('}')[2]
