"""Markers read from the bytes of a message: what changes a scene, no object for each field.

rclpy makes some thirty objects of a marker, most of which nobody looks at; two hundred boxes ten
times a second take a third of a core so, and the lock of Python from the search beside. Where the
installed definition of the message is another one, or bytes are not laid out as usual, rclpy reads
the message after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
import struct
from typing import Any

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.ros.messages.codec import stamp_of

SECOND = 1_000_000_000  # [ns]
ENCAPSULATION = (
    b'\x00\x01'  # little-endian, sizes as in DDS-XTypes version 1; two bytes of options
)
BEGIN = 4  # byte from which alignment is counted
THREE, STAMP, COUNT = struct.Struct('<iii'), struct.Struct('<iI'), struct.Struct('<I')
POSE_AND_SCALE = struct.Struct('<10d')
COLOR = 16  # bytes
# What follows `frame_locked` where there are no points, colors, texture, text and mesh: counts,
# and texts of one byte with three that align what is next; a stamp and a flag may be anything.
EMPTY = struct.Struct('<III4x8xI4xI4xIII4xI4xI4xIx')
EMPTY_COUNTS = (0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0)
PADDING = 3  # bytes at the end of a message at most

Numbers = tuple[float, ...]


@dataclass(frozen=True, eq=False, slots=True)
class HeardMarker:
    """What a scene needs to know of a marker; `whole` makes the message of it."""

    ns: str
    id: int
    type: int
    action: int
    frame: str
    stamp: int  # [ns]
    lifetime: int  # [ns]
    is_frame_locked: bool
    position: Numbers  # x, y, z
    orientation: Numbers  # x, y, z, w
    scale: Numbers
    whole: Callable[[], Marker]

    @staticmethod
    def of(marker: Marker) -> HeardMarker:
        """Return the same of a message."""
        p, o, scale = marker.pose.position, marker.pose.orientation, marker.scale
        return HeardMarker(
            *(marker.ns, marker.id, marker.type, marker.action),
            *(marker.header.frame_id, stamp_of(marker.header.stamp), stamp_of(marker.lifetime)),
            *(marker.frame_locked, (p.x, p.y, p.z), (o.x, o.y, o.z, o.w)),
            *((scale.x, scale.y, scale.z), lambda: marker),
        )


def heard_markers(data: bytes) -> list[HeardMarker]:
    """Markers of a MarkerArray as it came."""
    if _is_usual():
        try:
            return _Walk(data).markers()
        except (struct.error, _UnusualError):
            pass
    return [HeardMarker.of(marker) for marker in deserialize_message(data, MarkerArray).markers]


class _UnusualError(Exception):
    """Bytes are not laid out as is known here."""


class _Walk:
    """From one field of a message to the next."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, BEGIN
        self._read: Sequence[Marker] | None = None
        if data[: len(ENCAPSULATION)] != ENCAPSULATION:
            raise _UnusualError

    def markers(self) -> list[HeardMarker]:
        """All, in order."""
        found = [self._marker(number) for number in range(self._count())]
        if not 0 <= len(self._data) - self._at <= PADDING:
            raise _UnusualError
        return found

    def _marker(self, number: int) -> HeardMarker:
        stamp, frame, ns = self._stamp(), self._text(), self._text()
        key, kind, action = self._take(THREE, 4)
        numbers = self._take(POSE_AND_SCALE, 8)
        self._at += COLOR
        lifetime = self._stamp()
        is_locked = self._data[self._at : self._at + 1] != b'\0'
        self._pass_rest()
        return HeardMarker(
            *(ns, key, kind, action, frame, stamp, lifetime, is_locked),
            *(numbers[:3], numbers[3:7], numbers[7:]),
            partial(self._whole, number),
        )

    def _pass_rest(self) -> None:
        """Go on to the next marker; all that follows a cuboid is empty."""
        first = self._at + 1 + -(self._at + 1 - BEGIN) % 4
        if first + EMPTY.size <= len(self._data):
            counts = EMPTY.unpack_from(self._data, first)
            if counts == EMPTY_COUNTS:
                self._at = first + EMPTY.size
                return
        self._skip(1, 1, 1)
        self._skip(self._count(), 24, 8)  # points
        self._skip(self._count(), 16, 4)  # their colors
        self._skip_text()  # texture
        self._stamp()
        self._skip_text()
        self._skip_text()
        self._skip(self._count(), 1, 1)
        self._skip(self._count(), 8, 4)  # places on it
        self._skip_text()
        self._skip_text()  # mesh
        self._skip_text()
        self._skip(self._count(), 1, 1)
        self._skip(1, 1, 1)

    def _whole(self, number: int) -> Marker:
        """Return the message of a marker; all of them are made once."""
        if self._read is None:
            self._read = deserialize_message(self._data, MarkerArray).markers
        return self._read[number]

    def _take(self, form: struct.Struct, size: int) -> tuple[Any, ...]:
        self._at += -(self._at - BEGIN) % size
        found = form.unpack_from(self._data, self._at)
        self._at += form.size
        return found

    def _stamp(self) -> int:
        seconds, nanoseconds = self._take(STAMP, 4)
        return int(seconds * SECOND + nanoseconds)

    def _count(self) -> int:
        return int(self._take(COUNT, 4)[0])

    def _skip(self, count: int, size: int, alignment: int) -> None:
        """Leave out a sequence; an empty one is not even aligned."""
        if count:
            self._at += -(self._at - BEGIN) % alignment + count * size
            if self._at > len(self._data):
                raise _UnusualError

    def _skip_text(self) -> None:
        self._skip(self._count(), 1, 1)

    def _text(self) -> str:
        length, first = self._count(), self._at
        self._skip(length, 1, 1)
        return self._data[first : first + max(length - 1, 0)].decode(errors='backslashreplace')


@cache
def _is_usual() -> bool:
    """Whether the installed definition of the message is the one that is known here."""
    told = [_example(1), _example(2), Marker(ns='plain', id=3), Marker()]
    data = bytes(serialize_message(MarkerArray(markers=told)))
    try:
        found = _Walk(data).markers()
    except (struct.error, _UnusualError):
        return False
    return [_seen(each) for each in found] == [_seen(HeardMarker.of(each)) for each in told]


def _seen(marker: HeardMarker) -> list[object]:
    return [getattr(marker, name) for name in HeardMarker.__slots__ if name != 'whole']


def _example(number: int) -> Marker:
    """Return a marker in which every field that is read, or passed over, is not empty."""
    marker = Marker(
        header=Header(stamp=Time(sec=number, nanosec=7), frame_id='f' * number),
        ns='name' + 'e' * number,
        id=number,
        type=Marker.CUBE,
        action=number,
        pose=Pose(
            position=Point(x=1.0 * number, y=2.0, z=3.0),
            orientation=Quaternion(x=0.1, y=0.2, z=0.3, w=0.4),
        ),
        scale=Vector3(x=5.0, y=6.0, z=7.0),
        color=ColorRGBA(r=0.5),
        lifetime=Duration(sec=3, nanosec=4),
        frame_locked=number == 1,
        points=[Point(x=9.0)] * number,
        colors=[ColorRGBA(g=0.5)] * number,
        texture_resource='t' * number,
        text='x' * number,
        mesh_resource='m' * number,
        mesh_use_embedded_materials=True,
    )
    marker.texture.format = 'png'
    marker.texture.data = [1] * number
    marker.mesh_file.filename = 'file'
    marker.mesh_file.data = [2] * number
    return marker
