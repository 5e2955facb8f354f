"""MovingBox: an obstacle that goes on while the arm moves, as a set for every time.

At its stamp all of the obstacle is in the box. What is promised of each of its points, with the
stated velocity v, at any time that is tau away from the stamp:

    |velocity - v| <= velocity_error + acceleration |tau|,    |velocity| <= speed

so a point has moved by v tau to within velocity_error |tau| + acceleration tau^2 / 2, and by at
most speed |tau|. From t0 to t1 the box is therefore within

    the box + v (t0 + t1) / 2, plus a ball of |v| (t1 - t0) / 2 + the first bound at the later time
    the box itself, plus a ball of the second bound at the later time

of which each time step takes the smaller one. Where the bounds are not known, they are infinite,
and so is the set.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.box import Box, finite_array
from safe_sysid.sets.interval import Interval

SECOND = 1e9  # [ns]
OFF = 1e-8  # [s] by which rounded stamps of consecutive pieces may be off
UP = 1.0 + 1e-12


@dataclass(frozen=True)
class MotionBounds:
    """What is promised of every point of an obstacle that moves, beside what a message says."""

    position_error: float = np.inf  # [m] of each of its points at the stamp
    velocity_error: float = np.inf  # [m/s] of the stated velocity
    acceleration: float = np.inf  # [m/s^2] at most, in any direction
    speed: float = np.inf  # [m/s] at most, in any direction

    def __post_init__(self) -> None:
        promised = astuple(self)
        if not all(bound >= 0.0 for bound in promised):
            raise BoundError(f'bounds of a motion are {promised}; each has to be at least zero')

    @property
    def are_known(self) -> bool:
        """Whether they bound anything: a place, and how fast it is left."""
        by_speed, by_velocity = self.speed, self.velocity_error + self.acceleration
        return bool(np.isfinite(self.position_error) and np.isfinite(min(by_speed, by_velocity)))


@dataclass(frozen=True, eq=False, kw_only=True)
class MovingBox(Box):
    """Where an obstacle was at its stamp, and how it may go on from there."""

    stamp: int  # [ns]
    velocity: Array  # (3,) [m/s] stated
    bounds: MotionBounds = field(default_factory=MotionBounds)

    def __post_init__(self) -> None:
        super().__post_init__()
        velocity = finite_array(self.velocity, (3,), 'velocity of an obstacle')
        speed = float(np.linalg.norm(velocity))
        error = self.bounds.velocity_error
        error = error if np.isfinite(error) else 0.0  # no promise is no leave to be faster
        if not speed <= self.bounds.speed + error:
            raise BoundError(
                f'it moves at {speed:.3g} m/s; at most {self.bounds.speed} m/s is promised, to '
                f'within {error} m/s'
            )
        object.__setattr__(self, 'velocity', velocity)

    @staticmethod
    def of(box: Box, stamp: int, velocity: Array, bounds: MotionBounds) -> MovingBox:
        """Return a box that is known to within the position error of the bounds."""
        there = box.plus_ball(bounds.position_error)
        return MovingBox(
            center=there.center,
            half_sizes=there.half_sizes,
            rotation=there.rotation,
            radius=there.radius,
            stamp=stamp,
            velocity=velocity,
            bounds=bounds,
        )

    def plus_ball(self, radius: float) -> MovingBox:
        """Minkowski sum with a ball about the origin; it moves as this one does."""
        return replace(self, radius=super().plus_ball(radius).radius)

    def over(self, start: int, time: Interval) -> tuple[Array, Array]:
        """Shift (T, 3) and growth (T,) [m] of the box over time steps [s] from a stamp [ns] on."""
        since = (start - self.stamp) / SECOND
        first, last = since + time.lower - OFF, since + time.upper + OFF
        away = np.maximum(np.abs(first), np.abs(last)) * UP
        bounds, speed = self.bounds, float(np.linalg.norm(self.velocity))
        led = 0.5 * speed * (last - first)
        led = led + _product(bounds.velocity_error, away)
        led = (led + _product(0.5 * bounds.acceleration, away**2)) * UP
        free = _product(bounds.speed, away) * UP
        shift = 0.5 * (first + last)[:, None] * self.velocity
        shift = np.where((led < free)[:, None], shift, 0.0)
        rounding = 1e-14 * np.abs(shift).sum(axis=1)
        return shift, np.minimum(led, free) + rounding


def _product(bound: float, away: Array) -> Array:
    """Return nothing where the bound is zero, and infinity where it is infinite."""
    if np.isinf(bound):
        return np.full(len(away), np.inf)
    return bound * away
