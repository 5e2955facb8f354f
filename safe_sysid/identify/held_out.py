"""How well parameters predict torques they were not fitted to, and behind which filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded where they are used

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.smooth_log import FILTER, SmoothLog
from safe_sysid.model.dynamics.felt_regressor import felt_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

MOST_ROWS = 4000  # instants of a part; more would not change the figures
RANK = 1e-7  # singular values below this share of the largest are left as described
MOST_TURNS = 10  # of the active set, for each parameter; one or two are usual
STILL = 1e-6  # share of the largest column by which what is not shown is held near its middle


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
    within: TorquePrediction  # all parameters fitted, within what is known before
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
    within: TorquePrediction
    best: TorquePrediction
    fitted: Array  # theta of the best fit

    def validation(self, identified: Array) -> Validation:
        """Compare parameters with those described and with the best fit."""
        mine = _prediction(self.regressor, identified, self.part)
        span = (float(self.part.seconds[0]), float(self.part.seconds[-1]))
        predictions = self.described, mine, self.within, self.best
        return Validation(self.filter_hz, FILTER, self.split, span, *predictions, self.fitted)


def held_out(
    model: RobotModel, known: Interval, smoothed: SmoothLog, split: float, filter_hz: float
) -> HeldOut:
    """Return everything after `split` [s], with fits to everything before.

    One of them is of parameters that were known before to be within an interval.
    """
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
    within, best = fits(model, known, thinned(smoothed.rows(before)))
    W = felt_regressor(model, held.q, held.qd, held.qdd)
    described, mine, free = (_prediction(W, x, held) for x in (model.theta, within, best))
    return HeldOut(filter_hz, split, held, W, described, mine, free, best)


def thinned(part: SmoothLog) -> SmoothLog:
    """At most twice MOST_ROWS instants of it."""
    return part.rows(slice(None, None, max(1, len(part.seconds) // MOST_ROWS)))


def fits(model: RobotModel, known: Interval, part: SmoothLog) -> tuple[Array, Array]:
    """theta by least squares: within what is known of it, and without bounds.

    Joints count by how well they can be predicted: twice, the second time weighted by the errors
    of the first.
    """
    W = felt_regressor(model, part.q, part.qd, part.qdd)
    rows, torque = _compressed(W, part.torque)
    weight = np.ones(model.n)
    theta: Array = model.theta
    for _ in range(2):
        theta = model.theta + _least_squares(*_weighted(rows, torque - rows @ model.theta, weight))
        weight = 1.0 / np.maximum(np.std(part.torque - W @ theta, axis=0), 1e-6)
    return _least_squares_within(*_weighted(rows, torque, weight), known), theta


def _compressed(W: Array, torque: Array) -> tuple[Array, Array]:
    """Rows of each joint and what they are to give, (n, r, k) and (n, r), turned to be few.

    An orthogonal matrix from the left changes no sum of squares of a joint, whatever its weight.
    """
    both = np.concatenate([W, torque[..., None]], axis=-1).transpose(1, 0, 2)
    R = np.asarray(np.linalg.qr(both, mode='r'))
    return R[..., :-1], R[..., -1]


def _weighted(rows: Array, right: Array, weight: Array) -> tuple[Array, Array]:
    """Rows of all joints, and what they are to give."""
    k = rows.shape[-1]
    return (rows * weight[:, None, None]).reshape(-1, k), (right * weight[:, None]).ravel()


def _least_squares(rows: Array, right: Array) -> Array:
    """Without bounds; what the rows do not show stays 0."""
    scale = np.linalg.norm(rows, axis=0)
    scale[scale == 0.0] = 1.0
    found: Array = np.linalg.lstsq(rows / scale, right, rcond=RANK)[0] / scale
    return found


def _least_squares_within(rows: Array, right: Array, bounds: Interval) -> Array:
    """Within bounds; what the rows do not show stays in their middle."""
    found: Array = bounds.center.copy()
    free = bounds.radius > 0.0
    if not free.any():
        return found
    unit = bounds.radius[free]
    scaled = rows[:, free] * unit
    R = np.linalg.qr(np.column_stack([scaled, right - rows @ found])).R
    still = STILL * np.linalg.norm(scaled, axis=0).max(initial=0.0) * np.eye(len(unit))
    small = np.vstack([R[:, :-1], still])
    target = np.append(R[:, -1], np.zeros(len(unit)))
    turns = MOST_TURNS * len(unit)
    share = scipy.optimize.lsq_linear(small, target, (-1.0, 1.0), 'bvls', max_iter=turns).x
    found[free] += unit * share
    return found


def _prediction(W: Array, theta: Array, held: SmoothLog) -> TorquePrediction:
    torque = W @ theta
    left = torque - held.torque
    return TorquePrediction(
        float(np.linalg.norm(left) / np.linalg.norm(held.torque)),
        float(np.linalg.norm(torque - held.recorded) / np.linalg.norm(held.recorded)),
        np.linalg.norm(left, axis=0) / np.maximum(np.linalg.norm(held.torque, axis=0), 1e-12),
    )
