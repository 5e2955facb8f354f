"""Errand: picks something and places it elsewhere, once, as the settings say; needs no action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sensor_msgs.msg import JointState

from safe_sysid.config import Finite, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.handled_places import LIFT as LIFTED
from safe_sysid.plan.handled_places import PICK, PLACE
from safe_sysid.plan.task_goal import GoalError, refuse_place
from safe_sysid.ros.actions.asked import Loop, Outcome
from safe_sysid.ros.actions.grasping import Grasping
from safe_sysid.ros.actions.handle_action import Asking, Hand, knows_change
from safe_sysid.ros.actions.handling import (
    APPROACH,
    CARRY,
    CHECK,
    GRASP,
    LIFT,
    RELEASE,
    Handling,
    Step,
)
from safe_sysid.ros.actions.placing import Placing
from safe_sysid.ros.messages.request_topics import DONE, FAILED
from safe_sysid.track.supervisor import Mode

BEGINS = (Mode.IDENTIFIED,)  # what there was to learn before is learnt


@dataclass(frozen=True)
class ErrandSettings(Settings):
    """Configurations of all joints [rad]; without `place` there is no errand."""

    pick: tuple[Finite, ...] = ()  # where the gripper closes; empty: where the arm is
    lift: tuple[Finite, ...] = ()  # where it goes with what it holds before it is carried
    place: tuple[Finite, ...] = ()  # where the gripper opens; empty: nothing is picked

    def check(self, arm: RobotModel) -> None:
        """Refuse configurations of another arm, and those in which this one may not stand."""
        for name in ('pick', 'lift', 'place'):
            position = getattr(self, name)
            if len(position) not in (0, arm.n):
                raise ConfigError(f'errand.{name} has {len(position)} entries, not {arm.n}')
            try:
                if position:
                    refuse_place(arm, np.array(position))
            except GoalError as error:
                raise ConfigError(f'errand.{name}: {error}') from error
        if (self.pick or self.lift) and not self.place:
            raise ConfigError('errand.place is empty; what is picked has to be placed somewhere')


class Errand:
    """Begins once the loop has learnt what there is to learn with an empty hand."""

    def __init__(
        self,
        settings: ErrandSettings,
        joint_names: Sequence[str],
        asking: Asking,
        hand: Hand,
    ) -> None:
        self._loop: Loop = asking.loop
        steps = _steps(settings, joint_names, asking, hand)
        self._asked = Handling(steps, lambda: hand.missed(asking.known()))
        self._has_begun = False
        self._outcome: Outcome | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has come out."""
        return self._outcome is not None

    @property
    def goes_on(self) -> bool:
        """Whether it has begun, and has not come out."""
        return self._has_begun and self._outcome is None

    @property
    def says(self) -> str:
        """Return the step that goes on, or how it came out."""
        if self._outcome is None:
            return self._asked.name or 'waits'
        verdict = DONE if self._outcome.success else FAILED
        return f'{verdict}: {self._outcome.message}'

    def take_back(self) -> None:
        """Come to rest and begin nothing more, once it has begun."""
        if self._has_begun:
            self._asked.take_back()

    def end(self, why: str) -> None:
        """Be over at once, as nobody sees the arm any more; what was asked for is taken back."""
        if self.goes_on:
            self._asked.take_back()
            self._outcome = self._asked.step() or Outcome(False, why)

    def look(self) -> None:
        """Go on."""
        self._has_begun |= self._loop.mode in BEGINS
        if self._has_begun and self._outcome is None:
            self._outcome = self._asked.step()


def errand_of(
    settings: ErrandSettings,
    joint_names: Sequence[str],
    asking: Callable[[], Asking],
    hand: Hand,
) -> Errand | None:
    """Return the errand of the settings; None where they have none."""
    settings.check(hand.arm)
    return Errand(settings, joint_names, asking(), hand) if settings.place else None


def _steps(
    settings: ErrandSettings, joint_names: Sequence[str], asking: Asking, hand: Hand
) -> list[Step]:
    def joints(position: Sequence[float]) -> JointState:
        return JointState(name=list(joint_names), position=list(position))

    def go(name: str, position: Sequence[float]) -> list[Step]:
        return [(name, lambda: asking.go(joints(position), None))] if position else []

    def gripping(closes: bool) -> Grasping:
        return Grasping(asking.loop, hand.gripper, knows_change(asking), closes=closes)

    where = [(name, getattr(settings, name)) for name in (PICK, LIFTED, PLACE)]
    places = [(name, joints(position)) for name, position in where if position]
    return [
        (CHECK, lambda: asking.check(places)),
        *go(APPROACH, settings.pick),
        (GRASP, lambda: gripping(closes=True)),
        *go(LIFT, settings.lift),
        *go(CARRY, settings.place),
        (RELEASE, lambda: Placing(asking.loop, gripping(closes=False), hand.placed)),
    ]
