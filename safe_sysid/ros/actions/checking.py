"""Checking: asks the planner whether the arm may stand at all places of a goal; nothing moves."""

from __future__ import annotations

from collections.abc import Callable

from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome, Why
from safe_sysid.ros.messages.handled_places_text import pick_of_text
from safe_sysid.ros.messages.request_topics import CHECK_PICKS, CHECK_REFUSED, CHECKED
from safe_sysid.track.supervisor import Mode

BEGINS = (Mode.IDENTIFIED, Mode.HOLDING, Mode.CHANGING)  # the planner has time


class Checking:
    """One question; `tell` publishes it with its stamp."""

    def __init__(self, loop: Loop, stamp: int, tell: Callable[[int], None]) -> None:
        self._loop, self._stamp, self._tell = loop, stamp, tell
        self._is_over = False
        self._looks = 0

    @property
    def picks(self) -> PickedAgain | None:
        """What was placed before and is picked at the pick; None: nothing."""
        stamp, _, told = self._loop.figure(CHECK_PICKS).partition(' ')
        return pick_of_text(told) if stamp == str(self._stamp) else None

    def take_back(self) -> None:
        """Ask no more."""
        self._is_over = True

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the planner has answered."""
        self._looks += 1
        loop = self._loop
        if self._is_over:
            return Outcome(False, 'taken back; nothing was begun', Why.NOT_BEGUN)
        if loop.mode not in BEGINS:
            names = ' or '.join(mode.value for mode in BEGINS)
            said = f'it has to wait for mode {names}; {loop.sentence()}. Nothing was begun'
            return Outcome(False, said, Why.NOT_BEGUN)
        if loop.figure(CHECKED) == str(self._stamp):
            reason = loop.figure(CHECK_REFUSED).removeprefix(f'{self._stamp} ')
            return Outcome(not reason, reason or 'the arm may stand at its places', Why.NOT_BEGUN)
        if self._looks > PATIENCE:
            why = 'the planner does not answer; nothing was begun'
            return Outcome(False, why, Why.NOT_BEGUN)
        self._tell(self._stamp)
        return None
