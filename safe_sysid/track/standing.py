"""Standing: whether all joints have stayed in one place for a while, seen from positions alone.

Velocities that are differences of encoder steps are never small, nor are those of an arm that
trembles under a law too stiff for its period. Times are stamps [ns].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array

REST_SPEED = 0.02  # [rad/s] below which a joint counts as at rest, where nothing else is set


class _Range(NamedTuple):
    """Positions of an arm since a stamp."""

    since: int  # [ns]
    lower: Array  # (n,) [rad]
    upper: Array  # (n,)

    def with_one_more(self, q: Array) -> _Range:
        return _Range(self.since, np.minimum(self.lower, q), np.maximum(self.upper, q))

    @property
    def largest(self) -> float:
        """Of all joints [rad]; nan where a position is."""
        return float((self.upper - self.lower).max())


class Standing:
    """Keeps the range in which the arm has been since it was last seen to move."""

    def __init__(self, way: float, seconds: float) -> None:
        self._way, self._seconds = way, seconds  # [rad] at most, and for how long [s]
        self._within: _Range | None = None

    def reset(self) -> None:
        """Begin anew, as after a time in which nobody looked."""
        self._within = None

    def step(self, stamp: int, q: Array) -> bool:
        """Take a position; whether no joint went further than `way` for `seconds`."""
        before = self._within
        is_new = before is None or stamp < before.since
        within = _Range(stamp, q, q) if before is None or is_new else before.with_one_more(q)
        self._within = within if within.largest <= self._way else _Range(stamp, q, q)
        return stamp - self._within.since >= self._seconds * 1e9
