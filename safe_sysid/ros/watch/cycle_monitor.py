"""CycleMonitor: which control periods were late or missed; the deadline monitor."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Annotated

from safe_sysid.config import Range, Settings

RECENT = 1000  # cycles that the figures speak of
Short = Annotated[float, Range(above=0.0, less_than=10.0)]  # [s]


@dataclass(frozen=True)
class CycleSettings(Settings):
    """When a cycle is late."""

    deadline: Short = 0.002  # [s] from the arrival of a sample until its torque has left


class CycleMonitor:
    """Counts cycles that took too long, came too late, or never came."""

    def __init__(self, settings: CycleSettings, period: float) -> None:
        self._settings = settings
        self._period = period  # [s] between two samples
        self._last_stamp: int | None = None
        self._last_arrival = 0.0
        self._recent: deque[float] = deque(maxlen=RECENT)
        self.cycles = 0
        self.late = 0  # the torque left too late after the sample came
        self.waits = 0  # a sample came later after the one before than its stamp says
        self.missed = 0  # samples that are not there, by their stamps

    def step(self, stamp: int, arrived: float, left: float) -> None:
        """Take a cycle: stamp [ns], when its sample arrived and its torque left [s]."""
        deadline = self._settings.deadline
        if self._last_stamp is not None:
            elapsed = (stamp - self._last_stamp) * 1e-9
            self.missed += max(0, round(elapsed / self._period) - 1)
            self.waits += arrived - self._last_arrival > elapsed + deadline
        self._last_stamp, self._last_arrival = stamp, arrived
        self.late += left - arrived > deadline
        self.cycles += 1
        self._recent.append(left - arrived)

    def figures(self) -> dict[str, object]:
        """For diagnostics."""
        recent = sorted(self._recent)
        median, longest = (recent[len(recent) // 2], recent[-1]) if recent else (0.0, 0.0)
        return {
            'cycles': self.cycles,
            'late cycles': self.late,
            'samples that came late': self.waits,
            'missed samples': self.missed,
            'cycle median [us]': round(1e6 * median),
            'cycle longest [us]': round(1e6 * longest),
        }
