"""TaskSettings: durations and lengths that task motions may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from safe_sysid.config import Entries, Positive, PositiveShare, Range, Settings

Slower = Annotated[float, Range(above=1.0)]


@dataclass(frozen=True)
class TaskSettings(Settings):
    """Durations of the pieces, and which motions to try."""

    durations: tuple[Positive, Positive] = (1.0, 1.0)  # [s]; the next plan comes after the first
    slower: tuple[Slower, ...] = (1.25, 1.6, 2.0)  # times as long, before motions are shortened
    longest: Positive = 1.6  # [rad] along the route
    shortest: Positive = 0.02  # [rad]
    shorter: PositiveShare = 0.75  # each length is this share of the one before
    vias: Annotated[tuple[PositiveShare, ...], Entries(1)] = (0.5, 0.65, 0.35)  # of the length
    checks: Annotated[int, Range(at_least=2)] = 8  # times of each piece to look at in floats
    slow: Positive = 0.1  # [s] that certificates are expected to take before the first are timed

    @property
    def paces(self) -> tuple[float, ...]:
        """Times `durations` that the pieces of the longest motion may last, the shortest first."""
        return 1.0, *sorted(self.slower)


def lasting(durations: tuple[float, float], pace: float) -> tuple[float, float]:
    """Return durations that are longer by a factor."""
    first, second = durations
    return pace * first, pace * second
