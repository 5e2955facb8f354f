"""Weighing: learns what is held until it is certain whether it is light enough."""

from __future__ import annotations

from collections.abc import Callable
import math

from safe_sysid.errors import MessageError
from safe_sysid.ros.actions.asked import Loop, Outcome, rests
from safe_sysid.ros.actions.learning_end import LEARNS, LearningEnd, TimeLimit
from safe_sysid.track.supervisor import Mode, Signal


class Weighing:
    """Learning that ends as soon as bounds on the mass tell; `mass` gives them [kg]."""

    def __init__(
        self,
        loop: Loop,
        heaviest: float,
        seconds: float,
        mass: Callable[[], tuple[float, float]],
    ) -> None:
        if not (math.isfinite(heaviest) and heaviest >= 0.0):
            raise MessageError(
                f'heaviest is {heaviest} kg; a finite number is allowed, not a negative one, and '
                '0 is whatever can be certified'
            )
        self._loop, self._heaviest, self._mass = loop, heaviest, mass
        self._limit = TimeLimit(loop, seconds)
        self._has_begun = False
        self._end_of_learning = LearningEnd(loop)
        self._why = ''  # it was ended early

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        self._why = self._why or 'taken back'

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        mode = self._loop.mode
        if not self._has_begun:
            if self._is_decided or self._why:
                return self._outcome('')
            self._has_begun = True
            self._limit.begin()
            granted, said = (mode in LEARNS, '') if mode in LEARNS else self._ask_to_learn()
            return None if granted else Outcome(False, said)
        if self._limit.is_over:
            self._why = self._why or 'time is up'
        self._end_of_learning.look()
        if self._is_decided or self._why:
            self._end_of_learning.brake()
        if mode in (*LEARNS, Mode.BRAKING) or not rests(self._loop):
            return None
        return self._outcome(self._end_of_learning.by_another)

    def _ask_to_learn(self) -> tuple[bool, str]:
        return self._loop.ask(Signal.EXCITE)

    @property
    def _is_decided(self) -> bool:
        """Whether no value within the bounds would tell otherwise."""
        lower, upper = self._mass()
        return lower > self._heaviest or upper <= self._heaviest

    def _outcome(self, ended: str) -> Outcome:
        """Return what it weighs; `ended` says by what else learning was, too early."""
        lower, upper = self._mass()
        weight = f'it weighs {lower:.3g} to {upper:.3g} kg'
        if self._why == 'taken back':
            return Outcome(False, f'taken back; {weight}')
        if ended:
            return Outcome(False, f'{ended}; {weight}')
        if upper <= self._heaviest:
            return Outcome(True, weight)
        limit = f'{self._heaviest:g} kg at most can be placed'
        if lower > self._heaviest:
            return Outcome(False, f'{weight}; {limit}')
        known = self._why or 'bounds have settled'
        return Outcome(False, f'{known}: {weight}, which may be too heavy; {limit}')
