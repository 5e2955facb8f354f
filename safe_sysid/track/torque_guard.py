"""TorqueGuard: last check before a torque leaves: limits, rate, finite, fresh.

What it gives out is always n finite numbers within the torque limits, and never a jump: from one
step to the next each torque changes by at most `rate` times the time between them, of which no
more than `longest_step` counts. Before the first step the arm is under the torque it measures, so
the first step gives out just that, cut to the limits, and the command is approached from there.
Where a driver measures none before it is commanded, the first step holds the arm where it is, for
the nominal estimate; without any measurement it is 0.

A command that is late, not finite, too long, too short or beyond a limit is refused, and so is a
missing one after the first, which has to be fresh: one that comes late is waited for like none.
Stamps may be ahead of the clock by the error that is promised of them, and by no more.
One that is beyond the rate is approached; out of reach for longer than `patience`, it is refused
as well; at once where the law `counts` on its torques, as one that sees the arm late does, and one
of them has passed. So is one that comes after the arm was not seen for long, though it be fresh.
From a refusal on, until `reset`, no command passes: the arm is braked and held as `braking` says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import Positive, Settings
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import stamp_error
from safe_sysid.track.braking import LOST, Braking
from safe_sysid.track.controller import BrakingLaw
from safe_sysid.track.guarded_torque import Command, GuardedTorque, GuardInput, GuardOutcome
from safe_sysid.track.tracking import checked_state, per_joint


@dataclass(frozen=True)
class GuardSettings(Settings):
    """How fast torques may change, and how old things may be."""

    rate: tuple[Positive, ...] = (3000.0,)  # [N m/s], for all joints or one number per joint
    max_age: Positive = 0.01  # [s] of a measurement, and of the one that a command answers
    patience: Positive = 0.05  # [s] that a command may be out of reach
    longest_step: Positive = 0.01  # [s] between two steps that counts for the rate

    def caution(self, model: RobotModel) -> str:
        """Say what an arm could do before a missing command is noticed; empty if that is little.

        Until then the last torque acts. Most that a joint within its acceleration limit does with
        it is to reach its velocity limit from rest.
        """
        velocity, acceleration = model.limits.velocity, model.limits.acceleration
        limited = (velocity > 0.0) & (acceleration > 0.0) & np.isfinite(acceleration)
        seconds = np.where(limited, velocity / np.where(limited, acceleration, 1.0), np.inf)
        j = int(np.argmin(seconds))
        if self.max_age <= seconds[j]:
            return ''
        return (
            f'guard.max_age is {self.max_age:g} s, for which the last torque goes on when no '
            f'command comes; {model.layout.joint_names[j]} can be at its velocity limit after '
            f'{seconds[j]:.3g} s: a few periods are enough'
        )


class TorqueGuard:
    """Stands between every controller and every robot; nobody else uses `law`, which brakes."""

    def __init__(
        self,
        model: RobotModel,
        settings: GuardSettings,
        clock: Clock,
        law: BrakingLaw,
        *,
        counts: bool,
    ) -> None:
        self._model = model
        self._settings = settings
        self._ahead = stamp_error(model, [])  # [s] that a stamp may be
        self._rate = per_joint(settings.rate, model, 'rate')
        self._braking = Braking(clock, law)
        self._given = np.full(model.n, np.nan)  # by the last step
        self._given_at: int | None = None
        self._waiting = True  # for the first command
        self._short_since: int | None = None  # of the command
        self._counts = counts
        self._has_passed = False  # a command, since the first one after `reset` came
        self.cuts = 0  # commands since one has passed that were out of reach
        self.last_cut = ''  # what was said of the last one
        self._refusal = ''

    @property
    def refusal(self) -> str:
        """Why no command passes until `reset`; empty as long as commands may pass."""
        return self._refusal

    def step(self, now: int, seen: GuardInput) -> GuardedTorque:
        """Torque to give out at a stamp [ns]."""
        measurement = self._trusted(seen.measurement, now)
        if self._given_at is None:
            self._given, self._given_at = self._first_torque(now, measurement, seen), now
        waiting = '' if self._refusal else self._not_yet(seen.command, now)
        if waiting:
            return self._stopped(now, measurement, seen, waiting)
        self._refusal = self._refusal or self._complaint(seen.command, now) or self._unseen(now)
        if self._refusal or seen.command is None:
            return self._stopped(now, measurement, seen, self._refusal)
        if self._waiting:
            self._waiting = False
            self._braking.reset()
        self._braking.note(now, measurement, seen)
        wanted = np.array(seen.command.torque, dtype=np.float64)
        return self._judged(self._approached(wanted, now), wanted, now)

    def is_at_its_end(self, now: int) -> bool:
        """Whether the guard brakes, and what it brakes along is over at a stamp [ns]."""
        return self._braking.is_over(now)

    def is_lost(self, now: int) -> bool:
        """Whether the arm has not been seen for so long that no torque is a brake."""
        return self._braking.is_lost(now)

    @property
    def has_left_its_plan(self) -> bool:
        """Whether the arm was lost since `reset`, and stopped or to be stopped where it is."""
        return self._braking.has_left

    def reset(self) -> None:
        """Let commands pass again; for when the arm is at rest and the cause is gone."""
        self._refusal = ''
        self._waiting = True
        self._short_since, self._has_passed = None, False
        self._braking.reset()

    def _trusted(self, measurement: JointMeasurement | None, now: int) -> JointMeasurement | None:
        """Return the measurement, if it is fresh, complete and finite."""
        if measurement is None or not self._is_fresh(measurement.stamp, now):
            return None
        try:
            checked_state(self._model, measurement)
        except (MeasurementError, TypeError, ValueError):
            return None
        return measurement

    def _is_fresh(self, stamp: int, now: int) -> bool:
        return -self._ahead * 1e9 <= now - stamp <= self._settings.max_age * 1e9

    def _first_torque(
        self, now: int, measurement: JointMeasurement | None, seen: GuardInput
    ) -> Array:
        """Return the torque from which commands are approached."""
        torque = None if measurement is None else _numbers(measurement.torque, self._model.n)
        if torque is not None and np.isnan(torque).all():
            torque = _numbers(self._braking.step(now, measurement, seen)[0], self._model.n)
        if torque is None:
            return np.zeros(self._model.n)
        limit = self._model.limits.torque
        return np.asarray(np.clip(np.where(np.isfinite(torque), torque, 0.0), -limit, limit))

    def _not_yet(self, command: Command | None, now: int) -> str:
        """Why the first command is still waited for; empty once it is there, or was."""
        if not self._waiting:
            return ''
        if command is None:
            return 'there is no command yet'
        if self._is_fresh(command.stamp, now):
            return ''
        return f'there is no command yet: one that came {self._age(command, now)}'

    def _age(self, command: Command, now: int) -> str:
        return (
            f'answers a measurement that is {(now - command.stamp) / 1e9:.6g} s old; '
            f'{-self._ahead or 0:g} to {self._settings.max_age} s are allowed'
        )

    def _complaint(self, command: Command | None, now: int) -> str:
        """Why a command is refused; empty if it is not."""
        if command is None:
            return 'there is no command any more'
        if not self._is_fresh(command.stamp, now):
            return f'the command {self._age(command, now)}'
        n, limit = self._model.n, self._model.limits.torque
        torque = _numbers(command.torque, n)
        if torque is None:
            return f'the command is {command.torque!r:.99}; {n} numbers are needed'
        beyond = ~(np.abs(torque) <= limit)  # NaN is beyond
        if not beyond.any():
            return ''
        j = int(np.flatnonzero(beyond)[0])
        name, allowed = self._name(j), f'{limit[j]:.4g} N m are allowed'
        return f'the command for {name} is {torque[j]:.4g} N m; {allowed}'

    def _unseen(self, now: int) -> str:
        """Say that nobody saw the arm for too long to let commands lead it on."""
        unseen = self._braking.unseen(now)
        if self._waiting or unseen <= max(LOST, self._settings.max_age):
            return ''
        return f'the arm was not seen for {unseen:.3g} s'

    def _stopped(
        self, now: int, measurement: JointMeasurement | None, seen: GuardInput, reason: str
    ) -> GuardedTorque:
        """Return what braking asks for, or the last torque."""
        computed, outcome = self._braking.step(now, measurement, seen)
        wanted = None if computed is None else _numbers(computed, self._model.n)
        if wanted is None or not np.isfinite(wanted).all():
            wanted, outcome = self._given, GuardOutcome.STUCK
        return GuardedTorque(self._approached(wanted, now), outcome, reason)

    def _approached(self, wanted: Array, now: int) -> Array:
        """As near to what is wanted as limits and rate allow; what is given out."""
        limit = self._model.limits.torque
        elapsed = (now - (now if self._given_at is None else self._given_at)) / 1e9
        change = self._rate * min(max(elapsed, 0.0), self._settings.longest_step)
        nearer = np.minimum(np.maximum(wanted, self._given - change), self._given + change)
        self._given, self._given_at = np.minimum(np.maximum(nearer, -limit), limit), now
        return np.array(self._given)

    def _judged(self, torque: Array, wanted: Array, now: int) -> GuardedTorque:
        """Whether a command passed; out of reach for too long, it is refused from here on."""
        short = np.abs(torque - wanted)
        if not short.any():
            self._short_since, self._has_passed = None, True
            return GuardedTorque(torque, GuardOutcome.PASSED, '')
        if self._short_since is None:
            self._short_since = now
        j = int(np.argmax(short))
        reason = (
            f'the command for {self._name(j)} is {wanted[j]} N m, {short[j]:.6g} N m further '
            f'than {self._rate[j]} N m/s allow'
        )
        if self._has_passed:
            self.cuts, self.last_cut = self.cuts + 1, reason
        if self._has_passed and self._counts:
            self._refusal = f'{reason}, and the law counts on its torques'
        elif now - self._short_since > self._settings.patience * 1e9:
            self._refusal = f'{reason}, for {self._settings.patience} s'
        return GuardedTorque(torque, GuardOutcome.LIMITED, reason)

    def _name(self, joint: int) -> str:
        return self._model.layout.joint_names[joint]


def _numbers(values: object, n: int) -> Array | None:
    """Values as n floats, if that is what they are."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.shape == (n,) else None
