"""Silence: whether a node that every action needs has not been heard for so long that it ends."""

from __future__ import annotations

from safe_sysid.ros.actions.asked import Loop

NEEDED = ('planner', 'identifier')
LONGEST = 1200  # looks: a process that is started again is heard before
SECONDS = 60  # that they take at least, one after the other


class Silence:
    """Counts looks, as a process that had to wait itself has heard nobody meanwhile."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._looks = dict.fromkeys(NEEDED, 0)

    def look(self) -> str:
        """Return who is silent for too long; empty: nobody."""
        silent = self._loop.silent
        self._looks = {n: looks + 1 if n in silent else 0 for n, looks in self._looks.items()}
        lost = [name for name, looks in self._looks.items() if looks > LONGEST]
        return f'{" and ".join(lost)} not heard for {SECONDS} s' if lost else ''
