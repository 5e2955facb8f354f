"""Dry friction as the settings of an arm describe it: more at rest and under load.

    F(qd, tau) = Fc + (Fs - Fc) exp(-(qd / v_s)^2) + load |tau|

with break-away friction Fs, Stribeck speed v_s and the torque on the joint. A dynamics knows
Coulomb friction only, so it is told this figure piece by piece: at rest it is what a joint holds.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel


class StribeckCurve:
    """Dry friction of one arm, at a speed and under a torque."""

    def __init__(self, model: RobotModel) -> None:
        self._coulomb = model.layout.friction(model.theta)[0].copy()
        self._above = model.friction.above_coulomb(self._coulomb)
        self._speed = model.friction.stribeck_speed(model.n)
        self._load = model.friction.load(model.n)

    @property
    def is_coulomb(self) -> bool:
        """Whether it is Coulomb friction and nothing else."""
        return not (self._above.any() or self._load.any())

    def at(self, qd: Array, torque: Array) -> Array:
        """Dry friction (n,) [N m]."""
        slow = np.exp(-((qd / self._speed) ** 2))
        return np.asarray(self._coulomb + self._above * slow + self._load * np.abs(torque))
