"""LearningEnd: whether learning came to an end by itself, was ended here, or by something else."""

from __future__ import annotations

import math

from safe_sysid.errors import MessageError
from safe_sysid.plan.message import SECOND
from safe_sysid.ros.actions.asked import Loop
from safe_sysid.track.supervisor import Mode, Signal

LEARNS = (Mode.PROBING, Mode.EXCITING)


class TimeLimit:
    """A time by the clock of the arm, which waits in lockstep; it counts from the first sample."""

    def __init__(self, loop: Loop, seconds: float) -> None:
        """0 is no limit; what is no time is refused."""
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise MessageError(
                f'time_limit is {seconds} s; a finite number is allowed, not a negative one, and '
                '0 is no limit'
            )
        self._loop, self._seconds = loop, seconds
        self._end: float | None = None  # [ns]

    def begin(self) -> None:
        """Count from now on, unless it counts already or no sample was heard."""
        if self._end is None and self._seconds and self._loop.now:
            self._end = self._loop.now + self._seconds * SECOND

    @property
    def is_over(self) -> bool:
        """Whether it has passed."""
        self.begin()
        return self._end is not None and self._loop.now > self._end


class LearningEnd:
    """Looks at the mode; what is seen first counts, as the loop may go on from a fault."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._brakes = False
        self._seen = ''

    def brake(self) -> None:
        """End it here, while it goes on."""
        if self._loop.mode in LEARNS:
            self._brakes = True
            self._loop.ask(Signal.BRAKE)

    def look(self) -> None:
        """Take note of what else ends it."""
        mode = self._loop.mode
        if mode is Mode.FAULT or (mode is Mode.BRAKING and not self._brakes):
            self._seen = self._seen or self._loop.sentence()

    @property
    def by_another(self) -> str:
        """What ended it before it was known, in a sentence; empty: nothing else did."""
        mode = self._loop.mode
        is_known = mode is Mode.IDENTIFIED or (mode is Mode.HOLDING and self._brakes)
        said = self._seen or ('' if is_known else self._loop.sentence())
        return f'ended before it was known: {said}' if said else ''
