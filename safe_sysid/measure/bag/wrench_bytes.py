"""WrenchStamped messages as they are stored become stamps and numbers."""

from __future__ import annotations

import struct

import numpy as np

from safe_sysid.arrays import Array, IntArray

WRENCH_STAMPED = 'geometry_msgs/msg/WrenchStamped'
HEADER, FRAME = 4, 12  # first bytes of the stamp and of the frame's length


def wrenches_of(messages: list[bytes], received: list[int]) -> tuple[IntArray, Array, int]:
    """Stamps [ns], forces and moments (N, 6), and how many messages could not be read.

    Stamps are those of the driver if it gave any, else of when messages were received.
    """
    stamps, times, numbers = [], [], []
    for data, time in zip(messages, received, strict=True):
        try:
            order = '<' if data[1] & 1 else '>'
            seconds, nanoseconds, length = struct.unpack_from(f'{order}iII', data, HEADER)
            end = FRAME + 4 + length
            numbers.append(struct.unpack_from(f'{order}6d', data, end + -(end - HEADER) % 8))
        except (struct.error, IndexError, TypeError):
            continue
        stamps.append(seconds * 1_000_000_000 + nanoseconds)
        times.append(time)
    stamped = np.count_nonzero(stamps) > len(stamps) // 2
    stamp = np.array(stamps if stamped else times, dtype=np.int64)
    return stamp, np.array(numbers).reshape(-1, 6), len(messages) - len(numbers)
