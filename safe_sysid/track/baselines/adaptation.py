"""Adaptation: a theta that follows a gradient inside a box, for the adaptive baselines."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.sets.interval import Interval
from safe_sysid.track.baselines.elapsed import Elapsed

# diag(Gamma): how fast each of the ten parameters of a body is learned, and Fc, Fv, Ia, beta.
BODY_RATES = (20.0, *(4.0,) * 3, *(1.0,) * 6)
FRICTION_RATES = (20.0, 20.0, 1.0, 20.0)


def rates_of_all(layout: ParameterLayout) -> Array:
    """Adaptation of every entry of theta, (14 n,)."""
    return np.concatenate([np.tile(BODY_RATES, layout.n), np.repeat(FRICTION_RATES, layout.n)])


def rates_of_end_effector(layout: ParameterLayout) -> Array:
    """Adaptation of theta_e alone, the rest is taken as known; (14 n,)."""
    rates = np.zeros(layout.size)
    rates[layout.end_effector] = BODY_RATES
    return rates


class Adaptation:
    """theta_hat with d theta_hat / dt = Gamma gradient, kept inside its bounds."""

    def __init__(self, rates: Array, theta: Array, bounds: Interval) -> None:
        if rates.shape != theta.shape or not np.all((rates >= 0.0) & (rates < np.inf)):
            raise ConfigError(f'rates need {len(theta)} finite numbers that are not negative')
        if not bounds.contains(theta):
            raise ConfigError('theta has to be inside the bounds that it is kept in')
        self._rates = rates
        self._bounds = bounds
        self._gradient = np.zeros_like(theta)
        self._elapsed = Elapsed()
        self.theta = theta.copy()

    def advance(self, stamp: int) -> None:
        """Bring theta_hat to a stamp, along the gradient of the last one."""
        moved = self.theta + self._elapsed.step(stamp) * self._rates * self._gradient
        self.theta = np.clip(moved, self._bounds.lower, self._bounds.upper)

    def follow(self, gradient: Array) -> None:
        """Take the gradient at the stamp that theta_hat was brought to."""
        self._gradient = gradient


def unbounded(theta: Array) -> Interval:
    """Bounds of an adaptation that is free."""
    far = np.full(theta.shape, np.inf)
    return Interval(-far, far)
