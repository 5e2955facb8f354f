"""Seconds since an agreed instant: the clock that plans count on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """Turns stamps into seconds; whoever makes, tracks or draws a plan shares the same one."""

    origin: int  # [ns] stamp of t = 0, usually that of the first measurement

    def seconds(self, stamp: int) -> float:
        """Time of a stamp [s]; whole numbers are subtracted, so that no digit gets lost."""
        return (stamp - self.origin) / 1e9

    def stamp(self, seconds: float) -> int:
        """Stamp of a time, to the nearest nanosecond."""
        return self.origin + round(seconds * 1e9)
