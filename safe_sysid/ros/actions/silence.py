"""Silence: whether what every action needs has not been heard for so long that it ends."""

from __future__ import annotations

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.ros.actions.asked import Loop
from safe_sysid.track.supervisor import Mode

NEEDED = ('planner', 'identifier')
LONGEST = 1200  # looks: a process that is started again is heard before
SECONDS = 60  # that they take at least, one after the other


class Silence:
    """Counts looks, as a process that had to wait itself has heard nobody meanwhile."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._looks = dict.fromkeys(NEEDED, 0)
        self._measured: JointMeasurement | None = None
        self._unseen = 0  # looks in a fault without another sample

    def look(self) -> str:
        """Return who is silent for too long; empty: nobody."""
        silent, before = self._loop.silent, self._measured
        self._measured = self._loop.measured
        is_unseen = self._loop.mode is Mode.FAULT and self._measured is before
        self._unseen = self._unseen + 1 if is_unseen else 0
        self._looks = {n: looks + 1 if n in silent else 0 for n, looks in self._looks.items()}
        lost = [name for name, looks in self._looks.items() if looks > LONGEST]
        return f'{" and ".join(lost)} not heard for {SECONDS} s' if lost else ''

    @property
    def unseen(self) -> str:
        """Say that nobody sees the arm any more, which a fault has stopped; empty: it is seen."""
        if self._unseen <= LONGEST:
            return ''
        return f'no joint state for {SECONDS} s: nobody knows whether the arm rests'
