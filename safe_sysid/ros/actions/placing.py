"""Placing: the gripper opens, and what it let go is shown to the planner as an obstacle."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from safe_sysid.arrays import Array
from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome
from safe_sysid.ros.actions.grasping import Grasping
from safe_sysid.ros.messages.request_topics import PLACED_AVOIDED

BETWEEN = 20  # looks until it is shown again
NO_SIZE = (
    'nobody has said how large it is (payload and library are empty), so it is no obstacle of the '
    'planner'
)


class Placed(Protocol):
    """What was placed, as it is shown to the planner."""

    @property
    def has_shape(self) -> bool:
        """Whether anybody has said how large it is."""

    @property
    def touched_within(self) -> float:
        """How far some joint may be from the place where a touch is one of it [rad]; 0: none."""

    def put(self, q: Array, stamp: int) -> str:
        """Show what was let go where the arm is; its name among the obstacles of the planner."""

    def tell(self) -> None:
        """Show again all that is there."""

    def take(self, q: Array) -> list[str]:
        """Take away what is in the hand since it closed at q."""

    def knows(self, name: str) -> bool:
        """Whether an object is one of these, and shown."""

    def lend(self, name: str) -> bool:
        """Show an object no more until it is given back; whether it is known."""

    def give_back(self, name: str) -> None:
        """Show what was lent where it was, unless somebody has taken it away."""


class Placing:
    """Over once the planner says that it avoids what was let go, or may have been.

    It is where the arm was measured last, whether a plan is in force or not: a fault just then
    leaves none. It is shown again until the planner knows of it.
    """

    def __init__(self, loop: Loop, grasping: Grasping, placed: Placed) -> None:
        self._loop, self._grasping, self._placed = loop, grasping, placed
        self._outcome: Outcome | None = None  # of the gripper
        self._name = ''
        self._looks = 0  # since then

    @property
    def is_told(self) -> bool:
        """Whether the gripper was told: then it may have done it, whatever comes of this."""
        return self._grasping.is_told

    def take_back(self) -> None:
        """Call it off, unless it has happened."""
        self._grasping.take_back()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the planner knows of it."""
        if self._outcome is None:
            outcome = self._grasping.step()
            if outcome is None or not self.is_told:
                return outcome
            self._outcome = outcome
        said = self._shown()
        if not said:
            return None
        return replace(self._outcome, message=f'{self._outcome.message}; {said}')

    def _shown(self) -> str:
        """Return what came of showing it; empty: it goes on."""
        self._looks += 1
        measured = self._loop.measured
        if not self._placed.has_shape:
            return NO_SIZE
        if self._name and self._looks % BETWEEN == 0:
            self._placed.tell()
        if not self._name and measured is not None:
            self._name = self._placed.put(measured.position, measured.stamp)
        if self._name and self._name in self._loop.figure(PLACED_AVOIDED).split(', '):
            return f'the planner avoids it now as "{self._name}"'
        if self._looks > PATIENCE:
            return 'the planner does not say that it avoids it'
        return ''
