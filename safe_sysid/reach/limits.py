"""Margins to the limits of positions and their derivatives, in closed form, with slopes.

The desired motion is monotone in k at every time, so its extrema in time are those of `extrema`.
The true position is within the tracking error of it, the true velocity likewise. Accelerations and
jerks are those of the desired motion alone, which is what a drive can refuse when it is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.reference_limits import ReferenceLimits
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.interval import EPS
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.extrema import (
    Extrema,
    acceleration_extrema,
    jerk_extrema,
    position_extrema,
    velocity_extrema,
)

SIGNS = np.array([[1.0], [-1.0]])  # of what margins to lower and upper limits grow with


@dataclass(frozen=True, eq=False)
class LimitMargins:
    """Distance to a limit: lower limits of all joints, then upper ones; infinite without limit."""

    margin: Array  # (2 n,)
    slope: Array  # (2 n,) derivative in k of the same joint
    reached: Array  # (2 n,) smallest or largest value, tracking error included
    limit: Array  # (2 n,)


def position_margins(
    curve: Bezier, k: Array, limits: JointLimits, error: TrackingError
) -> LimitMargins:
    """How far positions stay from their limits; continuous joints have none."""
    extrema = position_extrema(curve, k)
    return _margins(extrema, (limits.position_lower, limits.position_upper), error.position)


def velocity_margins(
    curve: Bezier, k: Array, limits: JointLimits, error: TrackingError
) -> LimitMargins:
    """How far velocities stay from their limits."""
    extrema = velocity_extrema(curve, k)
    return _margins(extrema, (-limits.velocity, limits.velocity), error.velocity)


def limit_margins(
    curve: Bezier, k: Array, model: RobotModel, error: TrackingError
) -> tuple[LimitMargins, ...]:
    """Return margins of position, velocity, desired acceleration and desired jerk."""
    own = (f(curve, k, model.limits, error) for f in (position_margins, velocity_margins))
    return (*own, *reference_margins(curve, k, model.reference))


def reference_margins(
    curve: Bezier, k: Array, limits: ReferenceLimits | None
) -> tuple[LimitMargins, LimitMargins]:
    """How far desired accelerations and jerks stay from what the drive refuses."""
    if limits is None:
        none = LimitMargins(*np.full((4, 2 * len(k)), np.inf))
        return none, none
    exact = np.zeros(len(k))
    acceleration, jerk = limits.acceleration, limits.jerk
    return (
        _margins(acceleration_extrema(curve, k), (-acceleration, acceleration), exact),
        _margins(jerk_extrema(curve, k), (-jerk, jerk), exact),
    )


def _margins(extrema: Extrema, limits: tuple[Array, Array], error: Array) -> LimitMargins:
    """Return rounded down: each margin is two subtractions away from its three numbers."""
    lower, upper = limits
    if not np.all(lower <= upper):  # also refuses NaN
        raise BoundError(f'limits from {lower} to {upper} of the joints are not in order')
    reached = np.stack([extrema.range.lower - error, extrema.range.upper + error])
    limit = np.stack([lower, upper])
    sizes = np.abs(reached) + np.where(np.isfinite(limit), np.abs(limit), 0.0) + error
    margin = SIGNS * (reached - limit) - 4 * EPS * sizes
    slope = SIGNS * np.stack([extrema.lower_slope, extrema.upper_slope])
    return LimitMargins(margin.ravel(), slope.ravel(), reached.ravel(), limit.ravel())
