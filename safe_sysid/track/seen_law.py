"""What the robust law has to be told to keep V <= V_M on an arm that it sees late and wrong."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.track.error_observer import InWindow, ObserverBounds
from safe_sysid.track.invariance import LawBounds, Rates, Shell

OLDER = 0.002  # share of a torque that comes from commands older than the lag
LONGER = 1.01  # times as long, or as short, as it is said to be, a period may be
HALF = math.log(2.0)  # time constants after which half of a command has come
LEFT_OUT = (
    'with `sampling: ideal`, for period, delay and encoder steps, which certificates then leave '
    'out (a shorter period, with guard.rate to fit, makes them matter less, `sampling: described` '
    'takes them in)'
)


@dataclass(frozen=True, eq=False)
class Sampling:
    """How an arm is seen, and when torques act; samples and torques have the same period.

    From sample to sample that may be LONGER times the one stated, or shorter.

    The torque of a sample begins to act at most `delay` after the instant at which the sample is
    true, at least `delay - 2 (jitter + bias)` after it, and goes on until that of the next one
    does, on all joints at one instant. Of two torques the delays differ by `2 jitter` at most:
    what is more than that is a constant that nobody knows, within `bias` either way. Stamps are
    within `stamp` of these instants.

    Drives that follow commands slowly are of first order, with one time constant for all joints,
    which is `slow` at most. What acts then is an average of torques that come later than that, of
    all joints with the same weights. Its share OLDER is of those that come more than `lag` later,
    and changes it by `older` at most.
    """

    step: Array  # (n,) [rad] of the encoders; readings at rest are within half of it
    period: float  # [s]
    delay: float  # [s]
    jitter: float = 0.0  # [s] of the delay, from torque to torque, either way
    window: float = 0.05  # [s] of readings that r is observed from
    stamp: float = 0.0  # [s]
    zero: Array | float = 0.0  # (n,) [rad] of joints that read 0, a constant of the arm
    tilt: float = 0.0  # [rad] of gravity
    slow: float = 0.0  # [s]
    older: Array | float = 0.0  # (n,) [N m]
    bias: float = 0.0  # [s] of the delay of all torques alike, either way

    def __post_init__(self) -> None:
        times = (
            self.period,
            self.delay,
            self.jitter,
            self.window,
            self.stamp,
            self.tilt,
            self.slow,
            self.bias,
        )
        if not (np.all(np.isfinite(times)) and min(times) >= 0.0 and self.period > 0.0):
            raise ConfigError(f'times {times} of a sampling have to be finite and not negative')
        if (
            2.0 * (self.jitter + self.bias) > self.delay * (1.0 + 1e-9)
            or self.window < self.period
        ):
            raise ConfigError(
                f'a delay of {self.delay} s cannot be off by {self.jitter} + {self.bias} s either '
                f'way, and a window of {self.window} s has to hold a period of {self.period} s'
            )
        for name in ('step', 'zero', 'older'):
            value = np.asarray(getattr(self, name))
            if not np.all((value >= 0.0) & np.isfinite(value)):
                raise ConfigError(f'{name} of a sampling, {value}, has to be finite, not negative')

    def is_same(self, other: Sampling) -> bool:
        """Whether another one says the same."""
        return all(
            np.all(np.asarray(getattr(self, each.name)) == np.asarray(getattr(other, each.name)))
            for each in fields(self)
        )

    @property
    def lag(self) -> float:
        """Time after which a command has all but the share OLDER of what acts [s]."""
        return self.slow * math.log(1.0 / OLDER)

    @property
    def longest(self) -> float:
        """Time from a sample to the next one, at most [s]."""
        return LONGER * self.period

    @property
    def apart(self) -> float:
        """From one stamp to the next one, at most [s]."""
        return self.longest + 2.0 * self.stamp

    @property
    def age(self) -> float:
        """S, largest age of the state behind a torque that acts, by its stamp [s]."""
        return self.delay + self.lag + self.longest + self.stamp

    @property
    def waiting(self) -> float:
        """Part of S in which torques of samples before act [s].

        Drives that follow slowly average torques, so for these it is all of it.
        """
        return self.age if self.slow > 0.0 else self.delay + self.stamp

    @property
    def unforeseen(self) -> float:
        """Time in which all that they do adds up to what is not known of it [s].

        At each of the instants at which one follows another it is the difference of the two, for
        as long as the one that acts is not known. If all begin earlier or later alike, so does the
        new one: what acts up to it is all but what acts for that time. If this is more than all
        they do, nothing is foreseen.
        """
        if self.slow > 0.0:
            return self.waiting
        latest = max(self.waiting, self.delay + 2.0 * self.stamp - self.jitter)
        changes = math.floor(latest / self.period * LONGER) + 1
        return min(self.waiting, 2.0 * changes * (self.jitter + self.stamp) + self.bias)

    @property
    def foreseen(self) -> float:
        """Time after a sample for which r is foreseen [s]."""
        return self.begins if self.unforeseen < self.waiting else 0.0

    @property
    def held(self) -> float:
        """For which the torque of a sample acts, where no other one does, at most [s]."""
        return 0.0 if self.slow > 0.0 else self.longest + 2.0 * (self.jitter + self.stamp)

    @property
    def middle(self) -> float:
        """From a stamp to the middle of the time in which its torque acts [s]."""
        return self.delay - self.jitter - self.bias + 0.5 * (self.lag + self.period)

    @property
    def half(self) -> float:
        """From that middle to either end [s]."""
        late = self.longest - self.period
        return self.jitter + self.bias + self.stamp + 0.5 * (self.lag + self.period) + late

    @property
    def begins(self) -> float:
        """From a stamp to the instant from which its torque is taken to act [s]."""
        return self.delay - self.jitter - self.bias + HALF * self.slow

    @property
    def shifted(self) -> float:
        """How much earlier or later torques act than that, on average, at most [s].

        For c = T ln 2 the mean of |a - c| over lags a of first order with a time constant T' up to
        T is c at most: it is c - T' + 2 T' exp(-c / T'), which falls and then rises with T' to c.
        A constant that nobody knows comes on top.
        """
        return HALF * self.slow + self.bias

    @property
    def reach(self) -> float:
        """From that instant to any at which it may begin [s]."""
        return self.jitter + self.bias + self.stamp + self.lag - HALF * self.slow


class Turning(NamedTuple):
    """How far M of one instant may be from that of another one, x' (M - M_2) x <= e x' M x."""

    at_once: float  # e of two estimates of one state
    more: float  # what a whole window between them adds, and part of it that part

    def stretch(self, share: Array | float) -> Array:
        """Largest |x|_M in units of |x|_M2, for instants a share of a window apart."""
        left = 1.0 - (self.at_once + self.more * np.asarray(share))
        return np.where(left > 0.0, 1.0 / np.sqrt(np.maximum(left, 1e-300)), np.inf)


class Pace(NamedTuple):
    """How fast r may change under a plan, for the plan that follows it."""

    unknown: Array  # (n,) [rad/s^2] of dr/dt but for its known part
    moved: Array  # (n,) [rad/s] that torques which begin early or late change
    lagged: Array  # (n,) [rad/s] that the lag of all torques changes
    rate: Array  # (n,) [rad/s^2] of dr/dt
    speed: Array  # (n,) [rad/s] of the arm
    straying: Array  # (n,) [rad/s] of the tracking error
    length: Rates  # [J^1/2 / s] of dr/dt in the norm of M
    in_window: InWindow
    turning: Turning
    jerk: Array  # (n,) [rad/s^3] of the desired motion


NOT_AT_ALL = Turning(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class SeenLaw:
    """Numbers that belong to one plan; what they follow from is in `reach.seen_bounds`."""

    sampling: Sampling
    shell: Shell
    bounds: LawBounds
    observer: ObserverBounds
    half_width: Array  # (n,) [rad/s] of the observed r, at most
    room: Array  # (n,) [N m] eta: what the state may change in W_s theta while it ages
    sign_speed: float  # [rad/s] up to this observed speed friction may point either way
    pace: Pace
    first_pace: Pace  # within a window and an age from its start, when plans before count too;
    # more than `pace` where the plan is after another one, the same where nothing was before it
    goes_on: bool = False  # certified to go on from a plan, with the error that it may leave

    def allows_for(self, before: SeenLaw, *, has_same_nominal: bool) -> bool:
        """Whether r may have changed as it did under the law before, torques of which still act.

        While torques of that law act, what they do is at most sqrt(mu_before / mu) times as long
        in the norm of this M, by that of H + diag(Ia). In a window before, |x|_M is that of the
        law before where both have one nominal mass matrix; else it is at most sqrt(kappa_before /
        mu) times that, as M <= (H + diag(Ia)) / mu.
        """
        shell, pace, together = before.shell, before.pace, self.observer.together
        length = pace.length.times(math.sqrt(shell.mu / self.shell.mu))
        told = pace._replace(length=length, turning=NOT_AT_ALL, in_window=self.pace.in_window)
        if not all(_covers(a, b) for a, b in zip(self.first_pace, told, strict=True)):
            return False
        if together.far == 0.0:
            return True
        ratio = 1.0 if has_same_nominal else math.sqrt(shell.kappa / self.shell.mu)
        stretch = float(pace.turning.stretch(together.far / self.sampling.window))
        return _covers(together.before, pace.in_window.times(ratio * stretch))

    def since_start(self, t: float) -> SeenLaw:
        """Law that a plan has to know of which takes over so long [s] after this one began."""
        if t >= self.sampling.window + self.sampling.age:
            return self
        return replace(self, pace=self.first_pace)


def _covers(bounds: object, others: object) -> bool:
    return bool(np.all(np.asarray(bounds) >= np.asarray(others)))
