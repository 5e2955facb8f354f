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
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.regressor_pullback import regressor_pullback
from safe_sysid.model.dynamics.regressors import slotine_li_into
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.sampled_motion import SampledMotion, refuse_uneven_groups
from safe_sysid.sets.compiled import jit
from safe_sysid.track.gains import Gains


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

    @staticmethod
    def of(gains: Gains) -> ObservationError:
        """At least what acts on a joint beside what the law says."""
        none = ObservationError()
        return ObservationError(
            max(none.torque_ratio, float(np.mean(gains.torque_ratio))),
            max(none.torque_floor, float(np.mean(gains.torque_error))),
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
        q, qd, qdd = self.motion.states(x)
        (N, n), P = q.shape, self.model.layout.size
        W = np.empty((N, n, P))
        slotine_li_into(self.model.tree, q, qd, qd, qdd, W)
        tau = W @ self.estimate.theta
        count = self.samples_per_row
        found = Observations(
            np.empty((N // count * n, P)), np.empty((N // count, n)), np.empty((N, n))
        )
        _observe_into(W, tau, self.promise.torque_ratio, self.promise.torque_floor, found)
        return found

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


@jit
def _observe_into(W: Array, tau: Array, ratio: float, floor: float, found: Observations) -> None:
    """Fill rows, errors and slopes from regressors and torques of all samples."""
    (N, n, P), groups = W.shape, len(found.error)
    count = N // groups
    for g in range(groups):
        for i in range(n):
            error = 0.0
            for t in range(g * count, (g + 1) * count):
                size = math.hypot(ratio * tau[t, i], floor)
                found.slope[t, i] = ratio * ratio * tau[t, i] / size / count
                error += size / count
            found.error[g, i] = error
            row = found.rows[g * n + i]
            for j in range(P):
                row[j] = W[g * count, i, j]
            for t in range(g * count + 1, (g + 1) * count):
                more = W[t, i]
                for j in range(P):
                    row[j] += more[j]
            for j in range(P):
                row[j] /= count * error
