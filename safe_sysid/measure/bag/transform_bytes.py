"""Transforms as a tf2_msgs/TFMessage is stored; no wheel of ROS has that message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import struct

TF_MESSAGE = 'tf2_msgs/msg/TFMessage'
LITTLE_ENDIAN = b'\x00\x01\x00\x00'
# frame, child frame, position [m], quaternion (w, x, y, z)
Told = tuple[str, str, Sequence[float], Sequence[float]]


def transforms_bytes(stamp: int, transforms: Iterable[Told]) -> bytes:
    """Return transforms of one stamp [ns]; numbers stand at multiples of their size."""
    transforms = list(transforms)
    data = bytearray(struct.pack('<I', len(transforms)))
    seconds, nanoseconds = divmod(stamp, 1_000_000_000)
    for frame, child, position, (w, x, y, z) in transforms:
        _align(data, 4)
        data += struct.pack('<iI', seconds, nanoseconds)
        for name in (frame, child):
            _align(data, 4)
            text = name.encode() + b'\0'
            data += struct.pack('<I', len(text)) + text
        _align(data, 8)
        data += struct.pack('<7d', *position, x, y, z, w)
    return LITTLE_ENDIAN + bytes(data)


def _align(data: bytearray, size: int) -> None:
    data += b'\0' * (-len(data) % size)
