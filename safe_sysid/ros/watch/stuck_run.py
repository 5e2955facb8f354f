"""StuckRun: whether a run that is to end with its task waits for somebody who is not heard."""

from __future__ import annotations


class StuckRun:
    """Told, again and again, who is silent; `now` is on a steady clock [s]."""

    def __init__(self, longest: float) -> None:
        self._longest = longest  # [s] of a silence that may be over again
        self._since: dict[str, float] = {}  # when who is silent was told to be, the first time
        self._told: float | None = None  # when the supervisor said so last

    def hear(self, silent: str, now: float) -> None:
        """Take names of nodes that the supervisor does not hear any more, as it says them."""
        self._told = now
        names = [name for name in silent.split(', ') if name]
        self._since = {name: self._since.get(name, now) for name in names}

    def cause(self, now: float) -> str:
        """Say who has not been heard for too long; empty: nobody, or nobody was heard yet."""
        if self._told is None:
            return ''
        lost = [name for name, since in self._since.items() if now - since > self._longest]
        if now - self._told > self._longest:
            lost = ['supervisor']
        return f'{" and ".join(lost)} not heard for {self._longest:g} s' if lost else ''
