"""SampleOrder: whether a sample is the next one, came twice or too late, or a clock jumped."""

from __future__ import annotations

from enum import Enum

JUMP = (
    1_000_000_000  # [ns] more than this, forward or back, is a clock or a driver that began anew
)


class Arrival(Enum):
    """What the stamp of a sample says, in words for the operator."""

    NEXT = 'the next sample'
    OLD = 'a sample that came twice or out of order'
    JUMPED = 'the stamps of samples jumped'


class SampleOrder:
    """Compares every stamp with the newest one before."""

    def __init__(self) -> None:
        self._newest: int | None = None
        self.old = 0  # samples that were not newer
        self.jumps = 0

    def step(self, stamp: int) -> Arrival:
        """Take the stamp of a sample [ns]."""
        elapsed = 1 if self._newest is None else stamp - self._newest
        if abs(elapsed) > JUMP:
            self.jumps += 1
            self._newest = stamp
            return Arrival.JUMPED
        if elapsed <= 0:
            self.old += 1
            return Arrival.OLD
        self._newest = stamp
        return Arrival.NEXT
