"""Agreement: whether the plan that the arm follows is the one that the planner takes for it.

Who follows plans says so a moment after one has taken over, so a difference alone means nothing;
one that lasts means that the plan was not followed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Followed:
    """A plan that the arm follows, by its stamps."""

    start: int  # [ns]
    end: int  # [ns] from then on the arm is at rest


class Agreement:
    """Compares the starts of two plans, and is patient for a while when they differ."""

    def __init__(self, patience: float) -> None:
        self._patience = patience  # [s]
        self._differs_since: float | None = None  # [s]

    def holds(self, ours: int, followed: Followed | None, now: float) -> bool:
        """Whether a plan is followed, or may still be; its start [ns], a sample's time [s]."""
        if followed is not None and followed.start == ours:
            self._differs_since = None
            return True
        if self._differs_since is None:
            self._differs_since = now
        return now - self._differs_since < self._patience
