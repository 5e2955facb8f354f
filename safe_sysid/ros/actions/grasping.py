"""Changing what is held: announced, granted at rest, done by the gripper, and told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from safe_sysid.ros.actions.asked import Loop, Outcome, Why
from safe_sysid.ros.watch.held_changes import CERTIFYING
from safe_sysid.track.supervisor import Mode, Signal

STANDS = (Mode.IDENTIFIED, Mode.HOLDING, Mode.CHANGING)  # or comes to rest
GRIPPER_PATIENCE = 600  # looks at a gripper that says nothing


class Gripper(Protocol):
    """What closes and opens."""

    def begin(self, *, closes: bool) -> None:
        """Close or open."""

    def stop(self) -> None:
        """Have it stay where it is, should it not have come to an end."""

    @property
    def is_done(self) -> bool:
        """Whether it says itself that it has."""

    @property
    def trouble(self) -> str:
        """Why it does not; empty if it does, or says nothing."""

    @property
    def doubt(self) -> str:
        """Why it may hold nothing though it has closed; empty where nothing says so."""


class Grasping:
    """One change of what is held, at rest.

    `knows` says whether bounds for the change were heard of here: those that are heard later hold
    for what is held then, those of before do not.
    """

    def __init__(
        self, loop: Loop, gripper: Gripper, knows: Callable[[], bool], *, closes: bool
    ) -> None:
        self._loop, self._gripper, self._knows, self._closes = loop, gripper, knows, closes
        self._has_announced = self._was_changing = self._is_granted = False
        self._changes = loop.load_changes
        self._looks = 0  # since the gripper was told
        self._why = ''  # it was ended early

    @property
    def is_done(self) -> bool:
        """Whether what is held is another body now."""
        return self._loop.load_changes > self._changes

    @property
    def is_told(self) -> bool:
        """Whether the gripper was told: then it may have done it, whatever comes of this."""
        return self._is_granted

    def take_back(self) -> None:
        """Call it off, unless it has happened."""
        self._why = self._why or 'taken back'

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the loop knows of it."""
        loop = self._loop
        if self.is_done and loop.mode is not Mode.CHANGING:
            waits = loop.is_change_pending and not self._why
            return None if waits else self._outcome()
        if not self._is_granted:
            return Outcome(False, loop.sentence()) if loop.mode is Mode.FAULT else self._announce()
        outcome = self._done_by_the_gripper()
        if outcome is not None:
            self._gripper.stop()  # what it does later would be another change
        return outcome

    def _done_by_the_gripper(self) -> Outcome | None:
        """Wait for the gripper, which was told."""
        loop = self._loop
        if loop.mode is Mode.FAULT:
            return Outcome(False, loop.sentence())
        self._looks += 1
        self._why = self._why or self._gripper.trouble
        if not self._why and self._looks > GRIPPER_PATIENCE:
            self._why = f'nobody says that the gripper has {self._did}'
        if self._why and loop.mode is Mode.CHANGING:
            loop.ask(Signal.BRAKE)
            return Outcome(
                False,
                f'{self._why}; the change was called off, the arm is at rest, and bounds are '
                'those of what was held and of what may be held now',
            )
        if loop.mode is not Mode.CHANGING:
            return Outcome(False, f'it was called off: {loop.sentence()}')
        if self._gripper.is_done:
            loop.ask(Signal.PAYLOAD_CHANGED)
        return None

    @property
    def _did(self) -> str:
        return 'closed' if self._closes else 'opened'

    def _announce(self) -> Outcome | None:
        """Ask until the arm stands certified for what is held and what may be held next."""
        loop = self._loop
        if self._why:
            return self._not_begun(f'{self._why}; the gripper was not told, the arm is at rest')
        mode, is_called_off = (
            loop.sentence(),
            self._was_changing and loop.mode is not Mode.CHANGING,
        )
        granted, said = loop.ask(Signal.ANNOUNCE_CHANGE)
        self._has_announced |= granted or said == CERTIFYING
        self._was_changing |= loop.mode is Mode.CHANGING
        if is_called_off and said == CERTIFYING:  # so nobody says why, and it begins anew
            return self._not_begun(f'it was called off: {mode}')
        if granted and self._knows():
            self._is_granted = True
            self._gripper.begin(closes=self._closes)
        elif not granted and said != CERTIFYING and not self._comes_to_rest:
            return self._not_begun(said)
        return None

    def _not_begun(self, said: str) -> Outcome:
        """Call off what was announced."""
        if self._has_announced and self._loop.mode in STANDS:
            self._loop.ask(Signal.BRAKE)
        return Outcome(False, said, Why.NOT_BEGUN)

    @property
    def _comes_to_rest(self) -> bool:
        return self._loop.mode in STANDS and not self._loop.is_at_rest()

    def _outcome(self) -> Outcome:
        if self._why:
            return Outcome(False, f'{self._why}, when the gripper had {self._did} already')
        said = (f'the gripper has {self._did}', self._gripper.doubt)
        return Outcome(True, ': '.join(each for each in said if each))
