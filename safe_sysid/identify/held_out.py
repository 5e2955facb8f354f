"""How well parameters predict torques they were not fitted to, and behind which filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.smooth_log import FILTER, SmoothLog
from safe_sysid.model.dynamics.felt_regressor import felt_regressor
from safe_sysid.model.robot_model import RobotModel

MOST_ROWS = 4000  # instants of a part; more would not change the figures
RANK = 1e-7  # singular values below this share of the largest are left as described


@dataclass(frozen=True, eq=False)
class TorquePrediction:
    """Errors of a prediction, as shares of the torque."""

    filtered: float  # against the filtered torque, all joints together
    recorded: float  # against the torque as recorded
    by_joint: Array  # (n,) against the filtered torque


@dataclass(frozen=True, eq=False)
class Validation:
    """Predictions of the held-out part, by parameters that did not see it."""

    filter_hz: float
    filter: str
    fitted_until: float  # [s]
    held_out: tuple[float, float]  # [s]
    as_described: TorquePrediction
    identified: TorquePrediction
    best_fit: TorquePrediction  # all parameters fitted, bounds or not: what such a model can do
    fitted: Array  # theta of that fit


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What parameters that did not see it predict of the held-out part, before any are found."""

    filter_hz: float
    split: float  # [s]
    part: SmoothLog
    regressor: Array  # (N, n, k) of the part
    described: TorquePrediction
    best: TorquePrediction
    fitted: Array  # theta of the best fit

    def validation(self, identified: Array) -> Validation:
        """Compare parameters with those described and with the best fit."""
        mine = _prediction(self.regressor, identified, self.part)
        span = (float(self.part.seconds[0]), float(self.part.seconds[-1]))
        return Validation(
            self.filter_hz, FILTER, self.split, span, self.described, mine, self.best, self.fitted
        )


def held_out(model: RobotModel, smoothed: SmoothLog, split: float, filter_hz: float) -> HeldOut:
    """Return everything after `split` [s], with a fit to everything before."""
    before, after = smoothed.seconds <= split, smoothed.seconds > split
    if not before.any() or not after.any():
        side = 'before' if not before.any() else 'after'
        raise MeasurementError(
            f'nothing is left {side} {split:.3f} s, where what is fitted ends: smoothed samples '
            f'are from {smoothed.seconds[0]:.3f} to {smoothed.seconds[-1]:.3f} s; a gap, an end '
            'and one filter period beside them have none'
        )
    held = thinned(smoothed.rows(after))
    if not held.torque.any():
        raise MeasurementError(
            f'all efforts after {split:.3f} s are 0: there is nothing to predict'
        )
    best = best_fit(model, thinned(smoothed.rows(before)))
    W = felt_regressor(model, held.q, held.qd, held.qdd)
    described, fitted = (_prediction(W, x, held) for x in (model.theta, best))
    return HeldOut(filter_hz, split, held, W, described, fitted, best)


def thinned(part: SmoothLog) -> SmoothLog:
    """At most twice MOST_ROWS instants of it."""
    return part.rows(slice(None, None, max(1, len(part.seconds) // MOST_ROWS)))


def best_fit(model: RobotModel, part: SmoothLog) -> Array:
    """theta by least squares; what the motion does not show stays as described.

    Joints count by how well they can be predicted: twice, the second time weighted by the errors
    of the first.
    """
    W = felt_regressor(model, part.q, part.qd, part.qdd)
    weight = np.ones(model.n)
    change = np.zeros(model.layout.size)
    left = part.torque - W @ model.theta
    for _ in range(2):
        rows = (W * weight[:, None]).reshape(-1, model.layout.size)
        scale = np.linalg.norm(rows, axis=0)
        scale[scale == 0.0] = 1.0
        change = np.linalg.lstsq(rows / scale, (left * weight).ravel(), rcond=RANK)[0] / scale
        weight = 1.0 / np.maximum(np.std(left - W @ change, axis=0), 1e-6)
    theta: Array = model.theta + change
    return theta


def _prediction(W: Array, theta: Array, held: SmoothLog) -> TorquePrediction:
    torque = W @ theta
    left = torque - held.torque
    return TorquePrediction(
        float(np.linalg.norm(left) / np.linalg.norm(held.torque)),
        float(np.linalg.norm(torque - held.recorded) / np.linalg.norm(held.recorded)),
        np.linalg.norm(left, axis=0) / np.maximum(np.linalg.norm(held.torque, axis=0), 1e-12),
    )
