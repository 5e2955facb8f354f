"""SingleAnswer: notices two controllers, as they answer one measurement with different torques.

A message does not say who sent it in every release of ROS 2, and two controllers may have one
name. A message that comes twice has the same torque twice, and is no second answer.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.track.guarded_torque import Command

SILENCE = 0.5  # [s] after the last second answer, from when on there is one controller again


class SingleAnswer:
    """Compares every command with the one before; who is right is not known, so neither counts."""

    def __init__(self, joint_names: tuple[str, ...]) -> None:
        self._names = joint_names
        self._newest: Command | None = None
        self._sentence = ''
        self._until = 0.0  # [s] on a steady clock

    def note(self, command: Command, now: float) -> None:
        """Take a command that came at `now` [s] on a steady clock."""
        before, self._newest = self._newest, command
        if before is None or before.stamp != command.stamp:
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

    def contradiction(self, now: float) -> str:
        """Return what two controllers say; empty while there is one."""
        return self._sentence if now < self._until else ''
