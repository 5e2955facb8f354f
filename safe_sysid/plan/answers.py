"""Answers: which sample was answered last, for whoever waits for an answer to each.

Where nobody moves on before all have answered, a sample comes again when an answer got lost, and
also when another mode wants another answer to it.
"""

from __future__ import annotations


class Answers:
    """Knows the last sample that was answered, and in which mode."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None  # [ns]

    def note(self, stamp: int, mode: str) -> None:
        """Note that a sample has been answered."""
        self._last = stamp, mode

    def has(self, stamp: int, mode: str) -> bool:
        """Whether this is the last answer; if it is asked for again, it got lost."""
        return self._last == (stamp, mode)

    def lacks(self, stamp: int, mode: str) -> bool:
        """Whether a sample that came before wants to be looked at again."""
        return not self.has(stamp, mode) and (self._last is None or stamp >= self._last[0])
