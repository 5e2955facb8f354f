"""What a MarkerArray changes in a scene: each marker as boxes that contain what RViz draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from geometry_msgs.msg import Point, Pose
import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.input_file import known_as, name_trouble
from safe_sysid.model.collision.enclosing_boxes import (
    at_most,
    box_of_points,
    cuboid,
    ellipsoid,
    elliptic_cylinder,
    moved_to,
    segment,
)
from safe_sysid.model.collision.mesh_points import mesh_points
from safe_sysid.model.collision.shown_scene import Change, Shown
from safe_sysid.model.placement import Placement
from safe_sysid.ros.messages.heard_markers import HeardMarker
from safe_sysid.sets.box import Box

TURNED = 1024  # cuboids that are remembered
FOR_EVER = 100_000  # [ns] a lifetime up to which RViz takes for none
MOST = 200  # boxes of one marker; neighbours among more elements share a box
ARROW_STRIP = 12  # a type that newer definitions of the message have


def changes_of(msg: MarkerArray) -> list[Change]:
    """One change for every marker, in order."""
    return changes_in(HeardMarker.of(marker) for marker in msg.markers)


def changes_in(markers: Iterable[HeardMarker]) -> list[Change]:
    """Return the same of markers that were read from bytes."""
    return [_change(marker) for marker in markers]


def _change(marker: HeardMarker) -> Change:
    key = f'{known_as(marker.ns)}/{marker.id}'
    if marker.action == Marker.DELETEALL:
        return Change('', namespace=known_as(marker.ns) if marker.ns else '')
    if marker.action == Marker.DELETE:
        return Change(key)
    if marker.action != Marker.ADD:  # which is MODIFY, too
        return Change(key, unclear=f'its action is {marker.action}; 0, 2 and 3 are known')
    if trouble := name_trouble(marker.ns) or name_trouble(marker.frame):
        return Change(key, unclear=trouble)
    try:
        return Change(key, _shown(marker))
    except SafeSysidError as error:
        return Change(key, unclear=str(error))


def _shown(marker: HeardMarker) -> Shown:
    if marker.type not in TYPES:
        raise MessageError(f'its type is {marker.type}; {sorted(TYPES)} are known')
    if marker.lifetime < 0:
        raise MessageError(f'its lifetime is {marker.lifetime / 1e9} s; it has to be at least 0')
    boxes, lifetime = _boxes(marker), marker.lifetime if marker.lifetime > FOR_EVER else 0
    return Shown(boxes, marker.frame, marker.stamp, marker.is_frame_locked, lifetime)


def _boxes(marker: HeardMarker) -> tuple[Box, ...]:
    """Return what contains a marker, in the frame of its header."""
    if marker.type == Marker.CUBE:
        x, y, z, w = marker.orientation
        return (_turned_cuboid(marker.scale, (w, x, y, z)).moved(marker.position),)
    whole = marker.whole()
    place = placement_of(whole.pose)
    return tuple(place.of_box(box) for box in BOXES[marker.type](whole))


def placement_of(pose: Pose) -> Placement:
    """Return a pose as a placement."""
    p, o = pose.position, pose.orientation
    return Placement.of([p.x, p.y, p.z], [o.w, o.x, o.y, o.z])


def _scale(marker: Marker) -> Array:
    return np.array([marker.scale.x, marker.scale.y, marker.scale.z])


def _points(marker: Marker) -> Array:
    return np.array([_numbers(point) for point in marker.points]).reshape(-1, 3)


def _numbers(point: Point) -> tuple[float, float, float]:
    return point.x, point.y, point.z


def _elements(marker: Marker, box: Box) -> list[Box]:
    """Return the same box at every point of a list."""
    return at_most(moved_to(box, _points(marker)), MOST)


def _segments(marker: Marker, first: Array, second: Array) -> list[Box]:
    """Lines as wide as scale.x."""
    width = float(marker.scale.x)
    pairs = zip(first, second, strict=True)
    return at_most([segment(a, b, width) for a, b in pairs], MOST)


@lru_cache(TURNED)
def _turned_cuboid(sizes: tuple[float, ...], quaternion: tuple[float, ...]) -> Box:
    """Return one for all markers that differ in their place alone: a camera shows hundreds."""
    return Placement.of((0.0, 0.0, 0.0), quaternion).of_box(cuboid(sizes))


def _line_strip(marker: Marker) -> list[Box]:
    points = _several_points(marker)
    return _segments(marker, points[:-1], points[1:])


def _line_list(marker: Marker) -> list[Box]:
    points = _points(marker)
    if len(points) % 2:
        raise MessageError(f'a list of lines has {len(points)} points; an even number is needed')
    return _segments(marker, points[0::2], points[1::2])


def _several_points(marker: Marker) -> Array:
    points = _points(marker)
    if len(points) == 1:
        raise MessageError('it has one point; two or more are needed')
    return points


def _dots(marker: Marker) -> list[Box]:
    """Squares of width scale.x and height scale.y that face whoever looks: balls about them."""
    size = float(np.hypot(marker.scale.x, marker.scale.y))
    return _elements(marker, ellipsoid([size, size, size]))


def _arrow(marker: Marker) -> list[Box]:
    """From point to point, as wide as shaft or head; or along x with a head of twice the width."""
    scale, points = _scale(marker), _several_points(marker)
    if not len(points):
        return moved_to(cuboid(scale * [1.0, 2.0, 2.0]), np.array([[0.5 * scale[0], 0.0, 0.0]]))
    width = float(scale[:2].max())
    return at_most([segment(a, b, width) for a, b in pairwise(points)], MOST)


def _triangles(marker: Marker) -> list[Box]:
    return _scaled(marker, _points(marker))


def _mesh(marker: Marker) -> list[Box]:
    resource = marker.mesh_resource
    content = bytes(marker.mesh_file.data) if hasattr(marker, 'mesh_file') else b''
    name = resource or getattr(getattr(marker, 'mesh_file', None), 'filename', '')
    return _scaled(marker, mesh_points(name, content))


def _scaled(marker: Marker, points: Array) -> list[Box]:
    """Return the box of points, stretched as the marker says."""
    scale = _scale(marker)
    if not (np.isfinite(scale).all() and np.all(scale > 0.0)):
        raise MessageError(f'its scale is {scale.tolist()}; each has to be above 0')
    return [box_of_points(points * scale)]


def _text(marker: Marker) -> list[Box]:
    """Return writing takes no room."""
    del marker
    return []


BOXES: Mapping[int, Callable[[Marker], list[Box]]] = MappingProxyType(
    {
        Marker.ARROW: _arrow,
        Marker.SPHERE: lambda marker: [ellipsoid(_scale(marker))],
        Marker.CYLINDER: lambda marker: [elliptic_cylinder(_scale(marker))],
        Marker.LINE_STRIP: _line_strip,
        Marker.LINE_LIST: _line_list,
        Marker.CUBE_LIST: lambda marker: _elements(marker, cuboid(_scale(marker))),
        Marker.SPHERE_LIST: lambda marker: _elements(marker, ellipsoid(_scale(marker))),
        Marker.POINTS: _dots,
        Marker.TEXT_VIEW_FACING: _text,
        Marker.MESH_RESOURCE: _mesh,
        Marker.TRIANGLE_LIST: _triangles,
        ARROW_STRIP: _arrow,
    }
)
TYPES = frozenset({Marker.CUBE, *BOXES})
