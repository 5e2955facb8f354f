"""Time between measurements, for laws that integrate something."""

from __future__ import annotations

from safe_sysid.errors import MeasurementError

LONGEST = 0.02  # [s] nothing is known of what happens in a longer gap, so it counts as this


class Elapsed:
    """Seconds since the last stamp; 0 at the first one."""

    def __init__(self) -> None:
        self._stamp: int | None = None

    def step(self, stamp: int) -> float:
        """Take the next stamp [ns]."""
        last = stamp if self._stamp is None else self._stamp
        if stamp < last:
            raise MeasurementError(
                f'stamp {stamp} ns is before the last one, {last} ns; stamps have to go on'
            )
        self._stamp = stamp
        return min((stamp - last) / 1e9, LONGEST)
