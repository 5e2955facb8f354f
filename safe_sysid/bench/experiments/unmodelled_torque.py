"""Torque on the joints of a simulated arm that no model of it has, whoever simulates the arm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.simulated_arm import Dynamics

MEMORY = 0.05  # [s]
LARGEST = 3.0  # deviations; what is larger is cut off, so that a bound can be promised


class UnmodelledTorque:
    """Noise on every joint that forgets itself over `MEMORY`, and goes on across changes."""

    def __init__(self, rng: np.random.Generator, n: int, deviation: float) -> None:
        self._rng, self._deviation = rng, deviation
        self._normal = rng.normal(size=n)

    @property
    def bound(self) -> float:
        """Largest that it ever is [N m]."""
        return LARGEST * self._deviation

    def next(self, seconds: float) -> Array:
        """Torque (n,) [N m] that acts for some time from now on."""
        keep = np.exp(-seconds / MEMORY)
        fresh = self._rng.normal(size=self._normal.shape)
        self._normal = keep * self._normal + np.sqrt(1.0 - keep**2) * fresh
        return np.asarray(self._deviation * np.clip(self._normal, -LARGEST, LARGEST))

    def on(self, body: Callable[[RobotModel], Dynamics]) -> Callable[[RobotModel], Dynamics]:
        """Return the dynamics of arms that it acts on as well."""
        return lambda model: _Disturbed(body(model), self)


class _Disturbed:
    """Dynamics of an arm on which more acts than its torques."""

    def __init__(self, body: Dynamics, more: UnmodelledTorque) -> None:
        self._body, self._more = body, more

    def advance(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after some time with constant torque."""
        return self._body.advance(q, qd, torque + self._more.next(seconds), seconds)

    def set_coulomb(self, coulomb: Array) -> None:
        """Take other figures of Coulomb friction (n,) [N m] from now on."""
        self._body.set_coulomb(coulomb)
