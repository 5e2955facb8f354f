"""EffortContract: what a driver calls effort, as torque of the joints, and back.

    measured   tau = effort_sign effort_scale effort  (+ g(q) where the driver leaves gravity out)
    commanded  effort = sign scale (tau - g(q) where the driver adds gravity itself)

The gravity a driver knows of is that of the bare arm: it is left out and added with the same
formula, so what the arm holds stays in the torque. Signs and scales of a command are settings of
their own, as a driver may count what it measures against the axes and what it is told along them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.config import OneOf, Positive, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel

Sign = Annotated[int, OneOf((-1, 1))]


@dataclass(frozen=True)
class CommandSignal(Settings):
    """What a driver makes of an effort that it is told; one number, or one per joint."""

    sign: tuple[Sign, ...] = (1,)  # -1 where the driver counts against the joint axis
    scale: tuple[Positive, ...] = (1.0,)  # [unit of the driver per N m]
    adds_gravity: bool = False  # whether the driver adds what holds the bare arm


class EffortContract:
    """Effort of one driver and torque of one arm, which holds nothing."""

    def __init__(self, bare: RobotModel, command: CommandSignal) -> None:
        for name in ('sign', 'scale'):
            if len(getattr(command, name)) not in (1, bare.n):
                raise ConfigError(
                    f'{name} has {len(getattr(command, name))} entries; 1 or {bare.n} (one per '
                    'joint) are allowed'
                )
        sensors = bare.sensors
        self._measured = sensors.effort_sign * sensors.effort_scale
        self._leaves_gravity_out = not sensors.effort.gravity_included
        self._told = np.full(bare.n, command.sign) * np.full(bare.n, command.scale)
        self._adds_gravity = command.adds_gravity
        self._arm = bare.pinocchio()
        self._data = self._arm.createData()

    def torque(self, effort: Array, q: Array) -> Array:
        """Joint torque [N m] that a driver reports."""
        torque: Array = self._measured * effort
        return torque + self.gravity(q) if self._leaves_gravity_out else torque

    def effort(self, torque: Array, q: Array) -> Array:
        """Effort to tell a driver so that the joints get a torque [N m]."""
        left = torque - self.gravity(q) if self._adds_gravity else torque
        effort: Array = self._told * left
        return effort

    def gravity(self, q: Array) -> Array:
        """Torque that holds the bare arm [N m]."""
        return np.array(pin.computeGeneralizedGravity(self._arm, self._data, q))
