"""Handling: pick, weigh and place as one task, step by step; each ends with the arm at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from safe_sysid.ros.actions.asked import Asked, Outcome
from safe_sysid.ros.actions.carrying import Carrying
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.grasping import Grasping
from safe_sysid.ros.actions.picking_again import PickingAgain
from safe_sysid.ros.actions.placing import Placing

Step = tuple[str, Callable[[], Asked]]  # its name, and how it is begun
CHECK, APPROACH, GRASP, LIFT, WEIGH = 'check', 'approach', 'grasp', 'lift', 'weigh'
CARRY, RELEASE = 'carry', 'release'


class Handling:
    """Steps after each other; the first that fails is the last, and what is held stays held."""

    def __init__(self, steps: Sequence[Step], missed: Callable[[], str] = lambda: '') -> None:
        """`missed` says why nothing was picked, once that is certain."""
        self._waiting, self._missed = list(steps), missed
        self._is_missed = False
        self._asked: Asked | None = None
        self.name = ''  # of the step that goes on
        self.done: list[str] = []
        self._said: list[str] = []
        self._is_taken_back = False
        self._is_uncertain = False  # whether the last step may have changed what is held

    @property
    def distance(self) -> float:
        """How far some joint is from where this step leads [rad]; not a number elsewhere."""
        asked = self._asked
        return (
            asked.distance if isinstance(asked, Going | PickingAgain | Carrying) else float('nan')
        )

    @property
    def expects_touch(self) -> bool:
        """Whether what is held is about to stand on something."""
        return isinstance(self._asked, Carrying) and self._asked.expects_touch

    def take_back(self) -> None:
        """Come to rest; what is held stays held."""
        self._is_taken_back = True
        if self._asked is not None:
            self._asked.take_back()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        if self._asked is None:
            if not self._waiting or self._is_taken_back:
                return self._outcome()
            self.name, begin = self._waiting.pop(0)
            self._asked = begin()
        outcome = self._asked.step()
        if outcome is None:
            return None
        self._is_uncertain = isinstance(self._asked, Grasping | Placing) and self._asked.is_told
        self._asked = None
        if not outcome.success:
            return Outcome(False, f'{self.name}: {outcome.message}; {self._hand}', outcome.why)
        self.done.append(self.name)
        self._said.append(outcome.message)
        is_held = GRASP in self.done and RELEASE not in self.done
        if is_held and (missed := self._missed()):
            self._is_missed = True
            return Outcome(False, f'{self.name}: {missed}; {self._hand}')
        return None

    def _outcome(self) -> Outcome:
        if self._waiting:
            return Outcome(False, f'taken back before {self._waiting[0][0]}; {self._hand}')
        return Outcome(True, '; '.join(self._said))

    @property
    def _hand(self) -> str:
        if self._is_uncertain and self.name not in self.done:
            return 'nobody knows what is in the hand'
        if self._is_missed:
            return 'nothing is in the hand'
        if GRASP in self.done and RELEASE not in self.done:
            return 'what was picked is in the hand'
        return 'nothing was picked' if GRASP not in self.done else 'the hand is empty'
