"""SingleAnswer: notices two controllers, as they answer one measurement with different torques.

A message does not say who sent it in every release of ROS 2, and two controllers may have one
name. A message that comes twice has the same torque twice, and is no second answer.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from safe_sysid.track.guarded_torque import Command

KEPT = 16  # commands; the second answer may come after those to some measurements that follow
SILENCE = 0.5  # [s] after the last second answer, from when on there is one controller again


class SingleAnswer:
    """Compares every command with those before; who is right is not known, so neither counts."""

    def __init__(self, joint_names: tuple[str, ...]) -> None:
        self._names = joint_names
        self._kept: deque[Command] = deque(maxlen=KEPT)
        self._sentence = ''
        self._until = 0.0  # [s] on a steady clock

    def note(self, command: Command, now: float) -> None:
        """Take a command that came at `now` [s] on a steady clock."""
        before = next((each for each in self._kept if each.stamp == command.stamp), None)
        if before is None:
            self._kept.append(command)
            return
        first, second = before.torque, command.torque
        differs = ~((first == second) | (np.isnan(first) & np.isnan(second)))
        if not differs.any():
            return
        j = int(np.flatnonzero(differs)[0])
        self._sentence = (
            'torque_command: two controllers answer the same measurements, one with '
            f'{first[j]:.6g} and one with {second[j]:.6g} N m for {self._names[j]}'
        )
        self._until = now + SILENCE

    def begin_anew(self) -> None:
        """Forget commands of before: a clock may have been set back to their stamps."""
        self._kept.clear()

    def contradiction(self, now: float) -> str:
        """Return what two controllers say; empty while there is one."""
        return self._sentence if now < self._until else ''
