"""Carrying: leads to the place; what touches something just before it is let go there.

Where torques, or somebody on `touched`, say that something was touched, the arm brakes along its
plan as after any change that nobody announced. Where it then rests near enough to the place, and
nothing else is the matter, the loop goes on to holding with bounds of what may be held next, and
this is over with success.
"""

from __future__ import annotations

from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.watch.payload_events import MAY_BE_TOUCH
from safe_sysid.track.supervisor import Mode


class Carrying:
    """One way to the place; a touch counts `within` so many rad of it in every joint, 0: none."""

    def __init__(self, loop: Loop, going: Going, within: float) -> None:
        self._loop, self._going, self._within = loop, going, within
        self._may_have_touched = self._is_taken_back = False
        self._looks = 0  # at a fault at rest, which the loop has to leave

    @property
    def distance(self) -> float:
        """How far some joint is from the place [rad]; not a number unless it leads there."""
        return self._going.distance

    @property
    def expects_touch(self) -> bool:
        """Whether a touch where the arm is now is one of the place."""
        return not self._is_taken_back and self.distance <= self._within > 0.0

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        self._is_taken_back = True
        self._going.take_back()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        mode = self._loop.mode
        if mode is Mode.FAULT and not self._is_taken_back:
            said = self._loop.figure(MAY_BE_TOUCH, 'identifier')
            self._may_have_touched |= said == 'True'
            if self._may_have_touched and self._waits:
                return None
        if mode is Mode.HOLDING and self._may_have_touched and self.expects_touch:
            return self._touched()
        return self._going.step()

    @property
    def _waits(self) -> bool:
        """Whether the arm has yet to come to rest, or the loop to go on from there."""
        if not self._loop.is_at_rest():
            return True
        self._looks += 1
        return self.expects_touch and self._looks <= PATIENCE

    def _touched(self) -> Outcome | None:
        """How it came out, once the identifier has bounds for what is let go."""
        if self._loop.is_change_pending:
            return None
        if not self._loop.bounds_for_change:  # somebody else has led the loop out of the fault
            return self._going.step()
        self._going.call_off()  # the hand opens here, so nothing leads on to the place
        away = f'{self.distance:.3g} rad from the place'
        return Outcome(True, f'something was touched, and the arm has stopped, {away}')
