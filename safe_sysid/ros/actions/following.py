"""Following: a path with the tolerances of control_msgs/FollowJointTrajectory, and its codes.

The law keeps the arm within the tube that its plans are certified for; tolerances of whoever asks
come on top. One that is violated has the arm brake on the plan in force.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError
from safe_sysid.ros.actions.asked import Loop, Motion, Outcome, Why
from safe_sysid.ros.actions.going import Going
from safe_sysid.track.supervisor import Mode


class Code(IntEnum):
    """Numbers of FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


CODES = {Why.NOT_BEGUN: Code.INVALID_GOAL, Why.ENDED_EARLY: Code.PATH_TOLERANCE_VIOLATED}


class RefusedTrajectoryError(MessageError):
    """A trajectory that is not even looked at."""

    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, eq=False)
class Tolerance:
    """How far joints may be from where they should be; infinite where nobody says."""

    names: tuple[str, ...]
    position: Array  # [rad]
    velocity: Array  # [rad/s]

    @classmethod
    def of(
        cls, names: Sequence[str], told: Sequence[tuple[str, float, float, float]]
    ) -> Tolerance:
        """Tolerances as they are told: 0 is the default, which is none, and so is a negative one.

        Each is a name with its position, velocity and acceleration.
        """
        position, velocity = np.full((2, len(names)), np.inf)
        counts = Counter(name for name, *_ in told)
        if repeated := [name for name, count in counts.items() if count > 1]:
            raise RefusedTrajectoryError(
                Code.INVALID_GOAL, f'there are several tolerances for {repeated}; one is allowed'
            )
        for name, *wanted, acceleration in told:
            if name not in names:
                raise RefusedTrajectoryError(
                    Code.INVALID_JOINTS, f"a tolerance is for '{name}'; joints are {list(names)}"
                )
            if acceleration > 0.0 or not np.isfinite(wanted).all():
                raise RefusedTrajectoryError(
                    Code.INVALID_GOAL,
                    f'tolerances of {name} are {wanted} and {acceleration} rad/s^2; finite ones '
                    'of position and velocity are allowed, accelerations are not measured',
                )
            place = names.index(name)
            position[place], velocity[place] = (x if x > 0.0 else np.inf for x in wanted)
        return cls(tuple(names), position, velocity)

    def violated(self, motion: Motion) -> str:
        """Return which joint violates it most, and by how much; empty: none."""
        q, qd, _ = motion.desired
        for unit, allowed, error in (
            ('rad', self.position, np.abs(motion.position - q)),
            ('rad/s', self.velocity, np.abs(motion.velocity - qd)),
        ):
            j = int((error - allowed).argmax())
            if error[j] > allowed[j]:
                return (
                    f'{self.names[j]} is {error[j]:.3g} {unit} from where it should be, '
                    f'{allowed[j]:.3g} {unit} are tolerated'
                )
        return ''


class Following:
    """One path that goes on."""

    def __init__(
        self, going: Going, loop: Loop, on_the_way: Tolerance, at_the_end: Tolerance
    ) -> None:
        self._going, self._loop = going, loop
        self._on_the_way, self._at_the_end = on_the_way, at_the_end
        self._violation = ''
        self.code = Code.SUCCESSFUL

    def take_back(self) -> None:
        """Come to rest along the plan in force."""
        self._going.take_back()

    def step(self) -> Outcome | None:
        """Go on; how it came out, once the arm is at rest."""
        motion = self._loop.motion()
        if self._loop.mode is Mode.TASK and motion is not None and not self._violation:
            self._violation = self._on_the_way.violated(motion)
            if self._violation:
                self._going.take_back()
        outcome = self._going.step()
        if outcome is None:
            return None
        if self._violation:
            self.code = Code.PATH_TOLERANCE_VIOLATED
            return Outcome(False, f'{self._violation}; the arm is at rest')
        if not outcome.success:
            self.code = CODES[outcome.why]
            return outcome
        beside = '' if motion is None else self._at_the_end.violated(motion)
        if beside:
            self.code = Code.GOAL_TOLERANCE_VIOLATED
            return Outcome(False, f'at the end {beside}')
        return outcome
