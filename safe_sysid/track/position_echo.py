"""PositionEcho: whether a driver reports as measured the position that it was commanded.

An LBR driver with `open_loop` does: its positions are then words of ours, and an arm under torque
is not seen at all. Found out twice:

    asked      before the first torque, all joints are commanded a place `STEP` beside where they
               are, for `LASTS`. An echo goes there with every joint alike, to `ALIKE`; an arm
               under an impedance goes a part of the way, each joint its own. Then for as long a
               place on the other side: some drivers add up what is left of the way.
    watched    under torque, a position that stays the same to the bit for `STILL` states, `AFTER`
               of which come after a torque has changed by `CHANGE`.

Assumed in the former: of an arm, friction and load keep some joint from going more than half of
the way, or the joints from going alike. In the latter: dry friction does not hold an arm still
that long after such a change. Until then it may, as where an arm rests and a plan begins.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from safe_sysid.arrays import Array

STEP = 2e-4  # [rad]
LASTS = 100_000_000  # [ns] on each side; 10 cycles of 10 ms at least
ALIKE = 1e-9  # [rad]
STILL = 100  # states
AFTER = 20  # states
CHANGE = 1.0  # [N m]


class Reported(Enum):
    """What reported positions are."""

    UNKNOWN = 'not known yet'
    MEASURED = 'measured'
    COMMANDED = 'what was commanded'


class _Still:
    """A position that stays the same to the bit."""

    def __init__(self, position: Array, torque: Array) -> None:
        self.position = position
        self._least = self._largest = torque
        self._states = self._since = 0  # of this position, and of these since torques changed

    def is_echo_after(self, torque: Array) -> bool:
        """Count one more state, and return whether no arm stays so still."""
        self._states += 1
        self._since += bool(np.max(self._largest - self._least) >= CHANGE)
        self._least = np.minimum(self._least, torque)
        self._largest = np.maximum(self._largest, torque)
        return self._states >= STILL and self._since >= AFTER


class PositionEcho:
    """One session with a driver."""

    def __init__(self) -> None:
        self.reported = Reported.UNKNOWN
        self._place: Array | None = None  # [rad] where the question began
        self._since = 0  # [ns]
        self._moved: Array | None = None  # [rad] in the first half
        self._still: _Still | None = None

    def ask(self, stamp: int, position: Array) -> Array:
        """Position to command without torque, at the stamp [ns] of a reported position."""
        if self._place is None:
            self._place, self._since = position, stamp
        if self.reported is not Reported.UNKNOWN:
            return self._place
        asked = stamp - self._since
        if asked < LASTS:
            return np.asarray(self._place + STEP)
        if self._moved is None:
            self._moved = position - self._place
        if np.abs(self._moved).min() > 0.5 * STEP and np.ptp(self._moved) < ALIKE:
            self.reported = Reported.COMMANDED
        elif asked >= 2 * LASTS:
            self.reported = Reported.MEASURED
        return np.asarray(self._place - STEP)

    def believe(self) -> None:
        """Take positions for measured, where an arm under torque leaves no time to ask."""
        self.reported = Reported.MEASURED

    def watch(self, position: Array, torque: Array) -> None:
        """Look at a position that was reported under a torque."""
        if self._still is None or not np.array_equal(position, self._still.position):
            self._still = _Still(position, torque)
        elif self._still.is_echo_after(torque):
            self.reported = Reported.COMMANDED
