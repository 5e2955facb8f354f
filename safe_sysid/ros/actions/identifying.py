"""Identifying: learns until bounds are as narrow as wanted, or time is up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math

from safe_sysid.errors import MessageError
from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome, rests
from safe_sysid.ros.actions.learning_end import LEARNS, LearningEnd, TimeLimit
from safe_sysid.ros.messages.request_topics import LEARNS_TO
from safe_sysid.track.supervisor import Mode, Signal

NAMES = ('m', 'm cx', 'm cy', 'm cz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
Bounds = tuple[Sequence[float], Sequence[float]]  # lower and upper of [theta_e]


class Identifying:
    """Wanted half widths of the first entries of theta_e, 0 for any; `tell` publishes them."""

    def __init__(
        self,
        loop: Loop,
        wanted: Sequence[float],
        seconds: float,
        bounds: Callable[[], Bounds],
        tell: Callable[[Sequence[float]], None],
    ) -> None:
        self._wanted = [float(x) for x in wanted]
        are_widths = all(math.isfinite(x) and x >= 0.0 for x in self._wanted)
        if not are_widths or len(self._wanted) > len(NAMES):
            raise MessageError(
                f'half_widths are {self._wanted}; at most {len(NAMES)} finite numbers are '
                'allowed, none of them negative'
            )
        self._loop, self._bounds, self._tell = loop, bounds, tell
        self._end_of_learning = LearningEnd(loop)
        self._limit = TimeLimit(loop, seconds)
        self._limit.begin()
        self._has_begun = self._was_forgotten = False
        self._why = ''  # it was ended early
        self._looks = 0

    @property
    def limited_by(self) -> str:
        """What is wider than wanted, and how wide."""
        lower, upper = self._bounds()
        wide = [
            f'{name} is known to +-{0.5 * (b - a):.3g}, +-{wanted:.3g} is wanted'
            for name, a, b, wanted in zip(NAMES, lower, upper, self._wanted, strict=False)
            if wanted and 0.5 * (b - a) > wanted
        ]
        return '; '.join(wide)

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        self._end('taken back')

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        self._looks += 1
        mode = self._loop.mode
        if not self._has_begun and not self._why:
            return self._begin()
        if self._limit.is_over:
            self._end('time is up')
        self._end_of_learning.look()
        if self._why and mode in LEARNS:
            self._end_of_learning.brake()
        elif self._is_forgotten and mode in LEARNS:
            self._was_forgotten = True
            self._tell(self._wanted)
        if mode in (*LEARNS, Mode.BRAKING) or not rests(self._loop):
            return None
        if mode is Mode.IDENTIFIED and not self._why and self._has_learnt_to_less:
            self._has_begun = self._was_forgotten = False
            self._looks = 0
            return None
        self._tell(())
        return self._outcome()

    def _end(self, why: str) -> None:
        self._why = self._why or why

    @property
    def _is_forgotten(self) -> bool:
        """Whether the planner was started again, so that nobody has told it what is wanted."""
        return bool(self._wanted) and not self._loop.figure(LEARNS_TO)

    @property
    def _has_learnt_to_less(self) -> bool:
        """Whether a planner that was started again may have ended by widths of its own."""
        return bool(self.limited_by) and (self._was_forgotten or self._is_forgotten)

    def _begin(self) -> Outcome | None:
        """Tell the planner until it answers, then learn."""
        if self._loop.figure(LEARNS_TO) != (str(self._wanted) if self._wanted else ''):
            if self._looks > PATIENCE:
                self._tell(())  # should it hear later what it was told
                return Outcome(False, 'the planner does not answer; nothing was begun')
            self._tell(self._wanted)
            return None
        if self._loop.mode in LEARNS:
            self._has_begun = True
            return None
        granted, said = self._loop.ask(Signal.EXCITE)
        if not granted:
            self._tell(())
            return Outcome(False, said)
        self._has_begun = True
        return None

    def _outcome(self) -> Outcome:
        wide, is_taken_back = self.limited_by, self._why == 'taken back'
        ended = '' if is_taken_back else self._end_of_learning.by_another
        if not (wide or ended or is_taken_back):
            return Outcome(True, 'bounds are as narrow as wanted' if self._wanted else 'learned')
        said = (self._why, ended, wide, 'the arm is at rest')
        return Outcome(False, '; '.join(x for x in said if x))
