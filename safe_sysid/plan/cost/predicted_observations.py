"""Observations that a plan is going to give: rows for all of theta, and how far each may be off.

A row is the mean of the torque regressor over neighbouring samples of the desired motion, which
stands for a window (see `predicted_rows`). The promise about measured torque is a share of it, so
rows in which little torque is needed are the exact ones: poses where the arm balances its payload
say more than those where both pull the same way. With tau = W theta_0 of what is known now,

    error = mean over the row of sqrt((torque_ratio tau)^2 + torque_floor^2).

theta_r are columns like those of theta_e: each is one unknown that all rows share, and what one
pose says about it another one need not say again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.regressor_pullback import regressor_pullback
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.sampled_motion import SampledMotion, refuse_uneven_groups


@dataclass(frozen=True)
class ObservationError:
    """What is promised of measured torques, to weigh rows with; a guide, not a bound."""

    torque_ratio: float = 0.025  # share of the torque
    torque_floor: float = 0.05  # [N m]

    def __post_init__(self) -> None:
        if not (self.torque_ratio >= 0.0 and 0.0 < self.torque_floor < np.inf):
            raise BoundError(
                f'torque_ratio is {self.torque_ratio} and torque_floor {self.torque_floor} N m; '
                'they have to be at least 0 and above 0'
            )


class Observations(NamedTuple):
    """Rows of one plan, and what they were made from."""

    rows: Array  # (N / samples_per_row * n, 14 n) each divided by its error
    error: Array  # (N / samples_per_row, n) [N m]
    slope: Array  # (N, n) of the error in the torque of a sample


@dataclass(frozen=True, eq=False)
class PredictedObservations:
    """Observations of the curve with k = k_center + k_range x, at equal steps."""

    model: RobotModel
    estimate: ParameterEstimate
    motion: SampledMotion
    samples_per_row: int
    promise: ObservationError

    def __post_init__(self) -> None:
        refuse_uneven_groups(self.motion.samples, self.samples_per_row)

    def evaluate(self, x: npt.ArrayLike) -> Observations:
        """Rows and errors at x."""
        W = standard_regressor(self.model, *self.motion.states(x))
        tau = W @ self.estimate.theta
        size = np.hypot(self.promise.torque_ratio * tau, self.promise.torque_floor)
        error = self._means(size)
        rows = self._means(W) / error[..., None]
        slope = self.promise.torque_ratio**2 * tau / size / self.samples_per_row
        return Observations(rows.reshape(-1, rows.shape[-1]), error, slope)

    def pullback(self, x: npt.ArrayLike, at: Observations, weights: Array) -> Array:
        """Return derivative of sum(weights * rows) in x, given the observations at x; (n,)."""
        by_rows = weights.reshape(*at.error.shape, -1) / at.error[..., None]
        by_error = -(weights * at.rows).sum(axis=-1).reshape(at.error.shape) / at.error
        count = self.samples_per_row
        on_W = np.repeat(by_rows / count, count, axis=0)
        by_torque = np.repeat(by_error, count, axis=0) * at.slope
        on_W += by_torque[..., None] * self.estimate.theta
        slopes = regressor_pullback(self.model, *self.motion.states(x), on_W)
        return self.motion.pullback(slopes)

    def _means(self, values: Array) -> Array:
        groups = values.reshape(-1, self.samples_per_row, *values.shape[1:])
        means: Array = groups.mean(axis=1)
        return means
