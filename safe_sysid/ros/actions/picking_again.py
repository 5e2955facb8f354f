"""PickingAgain: the hand goes straight into what was placed before, to pick it again.

First to where it is clear of the object, which is an obstacle like any. Then the object is lent:
the planner avoids it no more while the hand follows the way straight in, which is certified among
all else. As soon as the arm rests, wherever that is, it is shown again: a hand that touches it may
leave it, and until it is in the hand for certain it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.arrays import Array
from safe_sysid.plan.picked_again import PickedAgain
from safe_sysid.ros.actions.asked import PATIENCE, Loop, Outcome, Why
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.placing import Placed
from safe_sysid.ros.messages.request_topics import PLACED_AVOIDED


@dataclass(frozen=True, eq=False)
class Ways:
    """How motions of these joints are asked for."""

    joint_names: Sequence[str]
    go: Callable[[Any, Any], Going]
    along: Callable[[JointTrajectory], Going]

    def to(self, q: Array) -> Going:
        """Return what leads to a configuration."""
        return self.go(JointState(name=list(self.joint_names), position=q.tolist()), None)

    def through(self, points: Array) -> Going:
        """Return what leads through waypoints, as slowly as certificates want."""
        path = JointTrajectory(joint_names=list(self.joint_names))
        path.points = [JointTrajectoryPoint(positions=q.tolist()) for q in points]
        return self.along(path)


class PickingAgain:
    """One approach; over once the planner knows of the object again."""

    def __init__(self, loop: Loop, picks: PickedAgain, ways: Ways, placed: Placed) -> None:
        self._loop, self._picks, self._ways, self._placed = loop, picks, ways, placed
        self._going: Going | None = ways.to(picks.way[0])
        self._has_begun = self._is_lent = self._is_taken_back = False
        self._outcome: Outcome | None = None  # of the way in
        self._looks = 0  # at a planner that has to hear of the object

    @property
    def distance(self) -> float:
        """How far some joint is from where it is led now [rad]; not a number at rest."""
        return float('nan') if self._going is None else self._going.distance

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        self._is_taken_back = True
        if self._going is not None:
            self._going.take_back()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        if not self._has_begun and not self._placed.knows(self._picks.name):
            return self._unknown()
        self._has_begun = True
        if self._going is not None:
            outcome = self._going.step()
            return None if outcome is None else self._led(outcome)
        return self._lend() if self._outcome is None else self._give_back(self._outcome)

    def _led(self, outcome: Outcome) -> Outcome | None:
        """Go on after a way, the one to where the hand is clear or the one straight in."""
        self._going, self._looks = None, 0
        if self._is_lent:
            self._outcome = outcome
            self._placed.give_back(self._picks.name)
            return None
        return None if outcome.success else outcome

    def _lend(self) -> Outcome | None:
        """Wait until the planner avoids it no more, then go in."""
        name = self._picks.name
        self._looks += 1
        if self._is_taken_back and not self._is_lent:
            return Outcome(False, 'taken back; at rest')
        if not self._is_lent:
            if not self._placed.lend(name):
                return self._unknown()
            self._is_lent = True
        is_late = self._looks > PATIENCE
        if self._is_taken_back or is_late:
            why = 'the planner goes on avoiding it' if is_late else 'taken back'
            return self._led(Outcome(False, f'{why}; at rest'))
        if name not in self._avoided:
            self._going = self._ways.through(self._picks.way)
        return None

    def _unknown(self) -> Outcome:
        """Nobody here could show it again."""
        why = Why.ENDED_EARLY if self._has_begun else Why.NOT_BEGUN
        said = f'{self._picks.name} is none that this supervisor knows of'
        return Outcome(False, f'{said}, so it has to be taken away first; the arm is at rest', why)

    def _give_back(self, outcome: Outcome) -> Outcome | None:
        """Wait until the planner knows of it again."""
        name = self._picks.name
        self._looks += 1
        if name in self._avoided:
            said = f'the hand is at "{name}", which the planner knows'
        elif self._looks > PATIENCE:
            said = f'the planner does not say that it knows "{name}" again'
        else:
            return None
        return replace(outcome, message=f'{outcome.message}; {said}')

    @property
    def _avoided(self) -> list[str]:
        return self._loop.figure(PLACED_AVOIDED).split(', ')
