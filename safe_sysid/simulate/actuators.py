"""Actuators that err as much as the settings of their arm allow."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.actuation import Actuation

NEARLY = 1.0 - 2.0**-40  # share of the promise that is used, so that rounding cannot break it


class Actuators:
    """Torques that act for those commanded: anywhere within the promise, anew every time."""

    def __init__(self, actuation: Actuation, rng: np.random.Generator) -> None:
        self._actuation, self._rng = actuation, rng

    def acting(self, torque: Array) -> Array:
        """Return what acts on the joints under a command [N m]."""
        share = self._rng.uniform(-NEARLY, NEARLY, size=torque.shape)
        return np.asarray(torque + share * self._actuation.error(torque))
