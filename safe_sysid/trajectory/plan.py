"""Plan: a trajectory, when it starts and where its braking part begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

STILL = 1e-9  # [rad] that a plan which stands still may move


@dataclass(frozen=True, eq=False)
class Plan:
    """A curve with its parameter on the clock of the robot; at rest after its end.

    A next plan may take over at the switch time. If none does, the rest of this one brakes. Where
    the curve ends in motion, the pieces of `then` go on without a jump; the last one ends at rest.
    All of them are followed for the same theta_bounds and theta_0.
    """

    start_time: float  # [s]
    switch_time: float  # [s]
    curve: Bezier
    k: Array  # (n,) [rad], end position minus start position
    theta_bounds: Interval | None = None  # parameters it was certified for
    certificate: object | None = None  # what proves it safe; None is a plan nobody may send
    theta_0: Array | None = None  # nominal parameters of the controller it was certified with
    then: tuple[Piece, ...] = ()
    laws: tuple[object, ...] = ()  # numbers of a law that sees the arm late, a set per piece

    def __post_init__(self) -> None:
        object.__setattr__(self, 'k', self.motion.pieces[0].k)
        if not np.isfinite(self.start_time):
            raise BoundError(f'start time {self.start_time} s is not a time')
        if not self.start_time <= self.switch_time <= self.end_time:
            raise BoundError(
                f'switch time {self.switch_time} s has to be between start '
                f'{self.start_time} s and end {self.end_time} s'
            )
        if self.theta_0 is not None:
            object.__setattr__(self, 'theta_0', _nominal(self.theta_0, self.theta_bounds))

    @cached_property
    def motion(self) -> TaskMotion:
        """All pieces, the curve first."""
        return TaskMotion((Piece(self.curve, self.k), *self.then))

    @cached_property
    def stands_still(self) -> bool:
        """Whether it begins at rest and leads nowhere."""
        starts_at_rest = not (np.any(self.curve.qd0) or np.any(self.curve.qdd0))
        return starts_at_rest and not self.then and bool(np.abs(self.k).max() <= STILL)

    @property
    def end_time(self) -> float:
        """Time from which the arm is at rest [s]."""
        return self.start_time + self.motion.duration

    @property
    def end_position(self) -> Array:
        """Where the arm comes to rest, (n,)."""
        return self.motion.end_position

    def desired(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at time t, each (n,)."""
        since_start = t - self.start_time
        if since_start < 0.0:
            raise BoundError(f'time {t} s is before the plan starts at {self.start_time} s')
        return self.motion.desired(since_start)

    def curve_from(self, t: float, duration: float) -> Bezier:
        """Curves that go on from the desired state at time t."""
        return Bezier(*self.desired(t), duration)


def _nominal(theta_0: Array, bounds: Interval | None) -> Array:
    """Nominal parameters, which have to be among those that a plan is certified for."""
    theta_0 = np.array(theta_0, dtype=np.float64)
    if (
        bounds is None
        or theta_0.shape != bounds.shape
        or not np.all(np.isfinite(theta_0))
        or not bounds.contains(theta_0)
    ):
        raise BoundError(
            'theta_0 of a plan has to be inside the theta_bounds it was certified for'
        )
    theta_0.setflags(write=False)
    return theta_0
