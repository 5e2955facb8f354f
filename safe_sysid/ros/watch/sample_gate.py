"""SampleGate: whether all that belongs to a sample has come; real time waits for nothing."""

from __future__ import annotations

from collections.abc import Sequence


class SampleGate:
    """Knows up to which sample each topic has answered."""

    def __init__(self, topics: Sequence[str]) -> None:
        self._answered: dict[str, int | None] = dict.fromkeys(topics)

    @staticmethod
    def of(is_lockstep: bool, topics: Sequence[str]) -> SampleGate:
        """In lockstep wait for these topics; in real time for none."""
        return SampleGate(topics if is_lockstep else ())

    def note(self, topic: str, stamp: int) -> None:
        """Note that a topic has answered a sample [ns]."""
        if topic in self._answered:
            self._answered[topic] = stamp

    def forget(self, topic: str) -> None:
        """Forget what a topic has answered."""
        if topic in self._answered:
            self._answered[topic] = None

    def is_open(self, stamp: int) -> bool:
        """Whether all topics have answered this sample."""
        return all(answered == stamp for answered in self._answered.values())
