"""What passed between a driver and who commanded it: when states came, and what it was told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
import struct

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.messages import bag_messages, bag_topics
from safe_sysid.measure.bag.reader import JOINT_STATE, read_messages

STAMP = 4  # first byte of the stamp in a message


@dataclass(frozen=True, eq=False)
class DriverWords:
    """Stamps of states, and times at which they and commands came, on the clock of the bag."""

    stamp: IntArray  # (N,) [ns] of states, rising
    came: Array  # (N,) [s]
    told_at: Array  # (M,) [s]
    told: Array  # (M, n) in the unit of the driver; none: nobody commanded


def driver_words(path: Path, states: str | None, commands: str, joints: int) -> DriverWords:
    """Return the same of a bag; `states` may be None where only one topic has any."""
    found = read_messages(path, JOINT_STATE)
    name = states if states is not None else max(found, key=lambda topic: len(found[topic]))
    if name not in found:
        raise MeasurementError(f'{path}: no states on {name}; there are some on {sorted(found)}')
    rows = dict(_stamp_and_time(message.data, message.received) for message in found[name])
    stamp = np.array(sorted(rows), dtype=np.int64)
    came = np.array([rows[x] for x in stamp.tolist()]) * 1e-9
    at, told = [], []
    if commands in bag_topics(path):
        for message in bag_messages(path, (commands,)):
            if len(message.data.data) == joints:
                at.append(message.received)
                told.append(np.array(message.data.data, dtype=float))
    return DriverWords(stamp, came, np.array(at) * 1e-9, np.reshape(told, (-1, joints)))


def _stamp_and_time(data: bytes, received: int) -> tuple[int, int]:
    order = '<' if data[1] & 1 else '>'
    seconds, nanoseconds = struct.unpack_from(f'{order}iI', data, STAMP)
    return seconds * 1_000_000_000 + nanoseconds or received, received
