"""JointState messages as they are stored: many at once become arrays.

A message is an encapsulation header (4 bytes), the stamp, the frame, the names and three sequences
of numbers, each aligned to its size counted from the end of the encapsulation header. Between two
messages of a driver only stamp and numbers change, so that one layout serves for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
import struct

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError

HEADER = 4
STAMP = slice(4, 12)


@dataclass(frozen=True)
class JointStateLayout:
    """Where the numbers of messages of one driver are."""

    head: bytes  # encapsulation and everything from the frame to the first number
    size: int  # [bytes]
    little_endian: bool
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]  # first byte and count of position, velocity, effort
    counts: tuple[tuple[int, bytes], ...]  # first byte and content of the fields that count them

    def fits(self, message: bytes) -> bool:
        """Whether a message has this layout byte by byte."""
        return (
            len(message) == self.size
            and message[STAMP.stop : STAMP.stop + len(self.head) - HEADER] == self.head[HEADER:]
            and message[:HEADER] == self.head[:HEADER]
            and all(message[at : at + 4] == content for at, content in self.counts)
        )

    def equals(self, other: JointStateLayout) -> bool:
        """Whether both say the same; bytes that only align others may hold anything."""
        mine = (self.size, self.little_endian, self.names, self.places)
        return mine == (other.size, other.little_endian, other.names, other.places)


def layout_of(message: bytes) -> JointStateLayout:
    """Layout of one message."""
    try:
        return _Walk(message).layout()
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise MeasurementError(
            f'a JointState of {len(message)} bytes cannot be read: {error}'
        ) from error


class _Walk:
    """From one field of a message to the next."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._little_endian = bool(message[1] & 1)
        self._order = '<' if self._little_endian else '>'
        self._at = STAMP.stop

    def layout(self) -> JointStateLayout:
        self._text()  # frame
        names = tuple(self._text() for _ in range(self._count()))
        places, counts = [], []
        for _ in range(3):
            count = self._count()
            counts.append((self._at - 4, self._message[self._at - 4 : self._at]))
            if count:
                self._align(8)
            places.append((self._at, count))
            self._at += 8 * count
        if self._at > len(self._message):
            raise IndexError(f'its numbers end at byte {self._at}')
        first = places[0][0]
        head = self._message[:HEADER] + self._message[STAMP.stop : first]
        size = len(self._message)
        return JointStateLayout(
            head, size, self._little_endian, names, tuple(places), tuple(counts)
        )

    def _align(self, size: int) -> None:
        self._at += -(self._at - HEADER) % size

    def _count(self) -> int:
        self._align(4)
        (count,) = struct.unpack_from(f'{self._order}I', self._message, self._at)
        self._at += 4
        if self._at + count > len(self._message):
            raise IndexError(f'{count} entries at byte {self._at}')
        return int(count)

    def _text(self) -> str:
        length = self._count()
        text = self._message[self._at : self._at + max(length - 1, 0)].decode()
        self._at += length
        return text


@dataclass(frozen=True, eq=False)
class Block:
    """Numbers of messages of one layout."""

    stamp: IntArray  # (N,) [ns]
    numbers: tuple[Array, Array, Array]  # position, velocity, effort, each (N, entries)


def block_of(layout: JointStateLayout, messages: list[bytes]) -> Block:
    """Numbers of messages that fit the layout."""
    table = np.frombuffer(b''.join(messages), dtype=np.uint8).reshape(len(messages), layout.size)
    order = '<' if layout.little_endian else '>'
    stamp = _columns(table, STAMP.start, 8, f'{order}u4').astype(np.int64)
    numbers = [
        _columns(table, first, 8 * count, f'{order}f8').astype(float)
        for first, count in layout.places
    ]
    return Block(stamp[:, 0] * 1_000_000_000 + stamp[:, 1], (numbers[0], numbers[1], numbers[2]))


def _columns(table: AnyArray, first: int, size: int, kind: str) -> AnyArray:
    return np.ascontiguousarray(table[:, first : first + size]).view(kind)
