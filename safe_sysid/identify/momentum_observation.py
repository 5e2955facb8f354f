"""Windows of measurements become rows that bind the parameters, eqs. (13), (20)-(24).

Between the first and the last sample of a window the momentum changes by what drove it:

    [W_m(end) - W_m(start) - integral of W_c] theta + Ia (qd_end - qd_start) = impulse of tau

The rows hold for the true theta within delta, if
  A1  the arm is a chain of rigid bodies with the kinematics and friction law of the model,
  A2  theta lies in the bounds given,
  A3  every sample of q, qd and tau is within its error bound of the truth at its stamp,
  A4  inside a step no velocity is farther from the curve that its ends show than `step_path`
      says, by `safety_factor`, and along that curve the rate bends as its middle shows (or all
      of the rate but viscous friction, and torque, bend at most `curvature`),
  A5  torque is constant from the stamp of its sample on (`torque_signal: held`), constant until
      then (`held_until`), or `sampled`: between samples it bends at most `safety_factor` times
      what `torque_impulse` sees,
  A6  a velocity that has the same certain sign at both ends of a step keeps it between them, and
      a joint at rest at both ends, in one place by exact readings, rests between them: it does
      not stop and break away, or break away and stop, in a single step.
What delta contains: errors of q, qd, tau and their rounding, quadrature, and nothing of theta_r,
which stays an unknown of the rows.

Why a held torque needs no more than A4. Let f be a column of W_c without friction, x(t) = (q, qd)
the true motion inside a step, and c(t) the curve of `step_path`.
  1. The integral of qd, which viscous friction multiplies, is q(end) - q(start). It is taken from
     there, so no bend of a velocity enters it, however stiff the friction is.
  2. A held torque, and with it the acceleration, jumps at samples only. No rule here looks beyond
     the step that it integrates, so jumps at its ends cost nothing.
  3. By A4 |x(t) - c(t)| <= r, the radii of `step_path`. Balls of W_c over states within r of the
     middle of c have the radius R >= sum |df/dx| r there, so the mean of f(x) is within R of the
     mean of f(c), but for what df/dx changes along a step, of second order.
  4. Along c, f is a polynomial in qd and in sines and cosines of q. Simpson's rule leaves out
     h^5/2880 of its fourth derivative, its difference to the trapezoid rule is h^3/12 of its
     second: `safety_factor` / 2 times this is the remainder, more by 240 / (h w)^2 for a motion of
     frequency w, and it covers what 3 left out.
Where dry friction changes inside a step accelerations jump, and c says less. There r is the whole
change of velocity, for every joint: each velocity then only has to stay between its ends, or to
leave them by no more than it changed in the step before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from safe_sysid.arrays import Array, IntArray
from safe_sysid.config import NotNegative, OneOf, Positive, Range, Settings
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.identify.step_path import ErrorBounds, Rule
from safe_sysid.identify.torque_impulse import HELD, HELD_UNTIL, SAMPLED, UnseenTorque
from safe_sysid.identify.window_sums import (
    Knowns,
    add_samples,
    add_windows,
    begin_again,
    begin_window,
    close_window,
    empty_sums,
)
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import (
    ReadingErrors,
    TorqueErrors,
    reading_errors,
    torque_errors,
)
from safe_sysid.model.tilt import tilt_torque
from safe_sysid.sets.interval import Interval

TORQUE_SIGNALS = {'held': HELD, 'held_until': HELD_UNTIL, 'sampled': SAMPLED}

MOST_GAPS = 200  # in a row; more are not gaps but the rate of the samples
STRIDES = 5  # in a window, over which the slope of a sampled torque is seen
LONGEST_HOLD = 1.5  # sample times that a torque is held; longer ones have lost a sample
AT_ONCE = 4096  # samples at most that are taken together
STEPS_REMEMBERED = 15  # whose lower quartile is taken for the sample time

Factor = Annotated[float, Range(at_least=1.0)]
Quadrature = Annotated[str, OneOf(('trapezoid', 'euler'))]
TorqueSignal = Annotated[str, OneOf(tuple(TORQUE_SIGNALS))]
PerJoint = tuple[NotNegative, ...]  # one entry for all joints, or one each


@dataclass(frozen=True)
class ObservationSettings(Settings):
    """How measurements become rows, and how wrong a measurement may be."""

    window: Annotated[int, Range(at_least=2)] = 100  # samples per window, h
    quadrature: Quadrature = 'trapezoid'  # rule that integrates between two samples
    torque_signal: TorqueSignal = 'sampled'  # of the torque between samples, see A5
    torque_ratio: PerJoint | None = None  # error of a torque as a share of its measured value
    torque_error: PerJoint | None = None  # [N m] on top; neither: what sensing of the arm says
    beyond_rigid: PerJoint = (0.0,)  # [N m] torque on top that no rigid body explains, at most
    position_error: PerJoint | None = None  # [rad], zero error included; none: the same
    zero_error: PerJoint | None = None  # [rad] beside a position_error that leaves it out
    velocity_error: PerJoint | None = None  # [rad/s]; none: the same
    safety_factor: Factor = 2.0  # A4; from 2 on it covers one jump of the torque inside a step
    curvature: PerJoint | None = None  # [N m/s^2] bound on the second derivative of the momentum
    # rate without viscous friction, in place of what the samples show
    longest_step: Positive = 0.0015  # [s]; a longer one is a gap, which ends the window

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.curvature is not None and self.quadrature != 'trapezoid':
            raise ConfigError('curvature bounds the trapezoid rule, but quadrature is euler')

    @property
    def least_period(self) -> float | None:
        """Time between samples that velocities nobody vouches for are taken to be from [s]."""
        return self.longest_step / LONGEST_HOLD if self.velocity_error is None else None

    def error_bounds(self, model: RobotModel) -> ErrorBounds:
        """Error bounds of every joint: those given, else those of the arm's sensors."""
        readings, torque = self.readings(model), self.torques(model)
        return ErrorBounds(readings.position, readings.velocity, torque.ratio, torque.absolute)

    def readings(self, model: RobotModel) -> ReadingErrors:
        """Errors of positions and velocities, and what is assumed of them."""
        period = self.longest_step / LONGEST_HOLD
        found = reading_errors(model, period, self.position_error, self.velocity_error)
        if self.zero_error is None:
            return found
        return replace(found, zero=per_joint('zero_error', self.zero_error, model.n))

    def torques(self, model: RobotModel, bounds: Interval | None = None) -> TorqueErrors:
        """Errors of torques, and what is assumed of them.

        Coulomb friction is anywhere within the bounds of all parameters, or that of theta.
        """
        coulomb = None if bounds is None else bounds.lower[model.layout.joint_entries('Fc')]
        return torque_errors(model, self.torque_ratio, self.torque_error, coulomb)


def per_joint(name: str, values: PerJoint, n: int) -> Array:
    """Array of n entries from one entry for all joints, or one each."""
    if len(values) not in (1, n):
        raise ConfigError(f'{name} has {len(values)} entries; 1 or {n} (one per joint) are needed')
    array: Array = np.broadcast_to(np.array(values, dtype=float), (n,)).copy()
    return array


def _not_in_torque(
    model: RobotModel, torque: TorqueErrors, settings: ObservationSettings
) -> IntArray:
    """Entries of theta that a sensor behind gear and rotor does not feel; commands move both."""
    places = np.arange(model.layout.size)
    is_motor = torque.has_rotors or settings.torque_signal != 'sampled'
    labels = () if is_motor else ('Fc', 'Fv', 'Ia')
    felt = [places[model.layout.joint_entries(label)] for label in labels]
    return np.concatenate([places[:0], *felt])


def _undone(torque: TorqueErrors, settings: ObservationSettings) -> Array:
    """Time constant of the low-pass, from and to [s]; commands have not been through one."""
    return np.array(torque.filter if settings.torque_signal == 'sampled' else (0.0, 0.0))


class StampError(MeasurementError):
    """Samples come at times of which no rows can be made."""


class BackwardStampError(StampError):
    """A sample is older than the one that came before it."""


class SparseStampsError(StampError):
    """Samples are so far apart that every step counts as a gap."""


class DenseStampsError(StampError):
    """Samples come so often that what is assumed of their velocities is not wide enough."""


class MomentumObserver:
    """Turns measurements into rows, window by window; keeps one window in memory."""

    def __init__(self, model: RobotModel, bounds: Interval, settings: ObservationSettings) -> None:
        self._model = model
        self._settings = settings
        largest = np.maximum(np.abs(bounds.lower), np.abs(bounds.upper))
        if not np.isfinite(largest).all():
            i = int(np.flatnonzero(~np.isfinite(largest))[0])
            raise ConfigError(
                f'{model.layout.labels[i]} has no finite bounds; errors of the regressor can only '
                'be bounded for a bounded parameter: give a wide interval in place of none'
            )
        layout = model.layout
        columns = np.arange(layout.size)
        torque = settings.torques(model, bounds)
        hidden = _not_in_torque(model, torque, settings)
        largest[hidden] = 0.0
        self._rule = Rule(
            bounds=settings.error_bounds(model),
            zero=settings.readings(model).zero,
            dry=largest[layout.joint_entries('Fc')],
            trapezoid=settings.quadrature == 'trapezoid',
            has_curvature=settings.curvature is not None,
            torque=TORQUE_SIGNALS[settings.torque_signal],
            safety=settings.safety_factor,
            stride=max(1, settings.window // STRIDES),
        )
        order = np.concatenate([columns[layout.end_effector], columns[layout.rest]])
        self._hidden = np.isin(order[10:], hidden)
        self._knowns = Knowns(
            settings.window,
            order,
            largest,
            per_joint('curvature', settings.curvature or (0.0,), model.n),
            UnseenTorque(
                torque.friction
                + tilt_torque(model, largest, torque.tilt)
                + per_joint('beyond_rigid', settings.beyond_rigid, model.n),
                _undone(torque, settings),
                torque.stamp,
            ),
        )
        self._joints = np.arange(model.n)
        self._sums = empty_sums(model.n)
        self._origin: int | None = None  # [ns] stamp that row times are counted from
        self._start = 0  # [ns]
        self._last = 0  # [ns]
        self._gaps = 0  # in a row
        self._steps: deque[int] = deque(maxlen=STEPS_REMEMBERED)  # [ns] the last ones, gaps too
        self._shortest_usual = 0  # [ns] smallest lower quartile of them
        stated = model.sensors.sensing.velocity_error is not None
        self._least_period = 0.0 if stated else settings.least_period or 0.0
        self._longest = 0  # [ns] step of the window

    def add(self, measurement: JointMeasurement) -> Observation | None:
        """Take the next measurement; the rows of a window when it ends."""
        sample = self._checked(measurement)
        if self._origin is None:
            self._origin = measurement.stamp
            self._begin(measurement.stamp, sample)
            return None
        elapsed = measurement.stamp - self._last
        if elapsed < 0:
            raise BackwardStampError(
                f'the stamp {measurement.stamp} ns is {-elapsed} ns before the one of the sample '
                'that came first; samples have to arrive in the order of their stamps'
            )
        if elapsed == 0:  # the same sample twice
            return None
        self._steps.append(elapsed)
        self._refuse_dense_samples()
        if elapsed * 1e-9 > self._settings.longest_step:
            self._count_gap(elapsed * 1e-9)
            return self._close_and_begin(measurement.stamp, sample)
        if elapsed > LONGEST_HOLD * self._shortest_step():
            return self._close_and_begin(measurement.stamp, sample)
        step = np.array([elapsed * 1e-9])
        add_samples(self._model.tree, self._sums, sample[None], step, self._rule)
        self._last = measurement.stamp
        self._longest = max(self._longest, elapsed)
        if self._sums.clock[0] <= self._settings.window:
            return None
        return self._close_and_begin(measurement.stamp, sample)

    def add_regular(self, log: JointLog, first: int) -> int:
        """Take samples of a log as `add` takes them, from `first` on, and return how many.

        Those that end no window and follow each other regularly, none where there is any doubt.
        """
        return self._add_regular(log, first, self._room)[0]

    def add_windows(
        self, log: JointLog, first: int, until: float = np.inf
    ) -> tuple[int, list[Observation]]:
        """Take samples as `add_regular` does, and return the rows of windows that they end too.

        A window that would end at `until` [s] or later, in times of rows, is not ended.
        """
        if self._origin is None:
            return 0, []
        window, room = self._settings.window, self._room
        later = (log.stamp[first : first + AT_ONCE][room::window] - self._origin) * 1e-9 >= until
        ended = int(np.argmax(later)) if later.any() else len(later)
        return self._add_regular(log, first, min(room + ended * window, AT_ONCE))

    @property
    def _room(self) -> int:
        """Samples that the window can take before the one that ends it."""
        return self._settings.window - int(self._sums.clock[0])

    def _add_regular(self, log: JointLog, first: int, most: int) -> tuple[int, list[Observation]]:
        """Take at most so many regular samples."""
        part = slice(first, first + most)
        stamps = log.stamp[part]
        if len(self._steps) < STEPS_REMEMBERED or most < 1 or not len(stamps):
            return 0, []
        steps = np.diff(stamps, prepend=self._last)
        known = np.concatenate([np.array(self._steps), steps])
        ordered = np.sort(sliding_window_view(known, STEPS_REMEMBERED)[1:], axis=1)
        fine = (steps > 0) & (steps * 1e-9 <= self._settings.longest_step)
        fine &= ordered[:, STEPS_REMEMBERED // 2] * 1e-9 >= self._least_period / 2
        limits = np.full(len(steps), np.inf)
        usual = ordered[:, (STEPS_REMEMBERED - 1) // 4]
        shortest = np.minimum.accumulate(np.minimum(usual, self._shortest_usual or usual[0]))
        if self._rule.torque != SAMPLED:
            limits = LONGEST_HOLD * shortest
            fine &= steps <= limits
        samples = np.stack([log.position[part], log.velocity[part], log.torque[part]], axis=1)
        fine &= np.isfinite(samples).all(axis=(1, 2)) & (samples.shape[2] == self._model.n)
        count = len(fine) if fine.all() else int(np.argmin(fine))
        if count == 0:
            return 0, []
        self._steps.extend(steps[:count].tolist())
        if self._rule.torque != SAMPLED:
            self._shortest_usual = int(shortest[count - 1])
        return count, self._take(samples[:count], steps[:count], stamps[:count], limits[:count])

    def _take(
        self, samples: Array, steps: IntArray, stamps: IntArray, limits: Array
    ) -> list[Observation]:
        """Add samples, and return the rows of the windows that they end.

        A window with a step [ns] above the limit at its end has none: a torque may be lost in it.
        """
        ends = range(self._room, len(steps), self._settings.window)
        n = self._model.n
        tables = np.empty((len(ends), n, 14 * n + 2))
        seconds = steps * 1e-9
        add_windows(
            self._model.tree, self._sums, samples, seconds, self._rule, self._knowns, tables
        )
        self._last = int(stamps[-1])
        begin, found = 0, []
        for table, end in zip(tables, ends, strict=True):
            start, longest = self._start, max(self._longest, int(steps[begin : end + 1].max()))
            self._start, self._longest, begin = int(stamps[end]), 0, end + 1
            if longest <= limits[end]:
                found.append(self._rows(table, start, self._start))
        self._longest = max(self._longest, int(steps[begin:].max(initial=0)))
        return found

    def _refuse_dense_samples(self) -> None:
        """Differences over a shorter time are less exact than was assumed."""
        if len(self._steps) < STEPS_REMEMBERED or not self._least_period:
            return
        usual = sorted(self._steps)[STEPS_REMEMBERED // 2] * 1e-9
        if usual < self._least_period / 2:
            raise DenseStampsError(
                f'samples come {usual:.4g} s apart; longest_step = {self._settings.longest_step} '
                f's takes them for {self._least_period:.4g} s apart, and velocities, of which '
                'nobody stated an error, for differences over that time: set longest_step to 1.5 '
                'sample times, or state velocity_error'
            )

    def _shortest_step(self) -> float:
        """Time between samples as far as steps show [ns]; what is much longer hides a torque.

        A torque that is sampled is not hidden.
        """
        if self._rule.torque == SAMPLED:
            return np.inf
        usual = sorted(self._steps)[(len(self._steps) - 1) // 4]  # most may have lost a sample
        shortest = min(usual, self._shortest_usual or usual)
        if len(self._steps) == STEPS_REMEMBERED:
            self._shortest_usual = shortest
        return float(shortest)

    def _count_gap(self, seconds: float) -> None:
        """Refuse samples that are always too far apart; a few gaps in a row happen."""
        self._gaps = self._gaps + 1 if self._sums.clock[0] < 3 else 0
        if self._gaps > MOST_GAPS:
            raise SparseStampsError(
                f'samples come {seconds:.4g} s apart and steps above longest_step = '
                f'{self._settings.longest_step} s count as gaps, so there is nothing to learn '
                'from; set longest_step to 1.5 times the time between samples, and `period` of a '
                'loop to that time'
            )

    def finish(self) -> Observation | None:
        """Rows of the window that has begun, if it has enough samples."""
        try:
            return self._close()
        finally:
            self._origin = None
            self._steps.clear()
            self._shortest_usual = 0

    def _checked(self, measurement: JointMeasurement) -> Array:
        n = self._model.n
        values = (measurement.position, measurement.velocity, measurement.torque)
        sample = np.empty((3, n))
        for row, (name, value) in enumerate(
            zip(('position', 'velocity', 'torque'), values, strict=True)
        ):
            if np.shape(value) != (n,):
                raise MeasurementError(
                    f'{name} has shape {np.shape(value)} at {measurement.stamp} ns; the '
                    f'{n} joints are {list(self._model.layout.joint_names)}'
                )
            sample[row] = value
        if not np.isfinite(sample).all():
            row, joint = np.argwhere(~np.isfinite(sample))[0]
            raise MeasurementError(
                f'{("position", "velocity", "torque")[row]} of '
                f'{self._model.layout.joint_names[joint]} is {sample[row, joint]} at '
                f'{measurement.stamp} ns; measurements have to be finite'
            )
        return sample

    def _close_and_begin(self, stamp: int, sample: Array) -> Observation | None:
        try:
            return self._close()
        finally:  # numbers too large for a row spoil their window only
            if stamp == self._last:
                begin_again(self._sums, self._rule)
                self._start, self._longest = stamp, 0
            else:
                self._begin(stamp, sample)

    def _begin(self, stamp: int, sample: Array) -> None:
        self._start = self._last = stamp
        self._longest = 0
        begin_window(self._model.tree, self._sums, sample, self._rule)

    def _close(self) -> Observation | None:
        """Rows of the window so far; three samples are needed to see how much terms bend."""
        if self._origin is None or self._sums.clock[0] < 3:
            return None
        n = self._model.n
        table = np.empty((n, 14 * n + 2))
        close_window(self._model.tree, self._sums, self._knowns, self._rule, table)
        if self._longest > LONGEST_HOLD * self._shortest_step():  # the sample time is known now
            return None
        return self._rows(table, self._start, self._last)

    def _rows(self, table: Array, first: int, last: int) -> Observation:
        """Return what `close_window` found of a window from and to a stamp [ns]."""
        n, origin = self._model.n, self._origin or 0
        table[:, 10:-2][:, self._hidden] = 0.0
        start, end = ((stamp - origin) * 1e-9 for stamp in (first, last))
        return Observation(
            Y_e=table[:, :10],
            Y_r=table[:, 10:-2],
            b=table[:, -2],
            delta=table[:, -1],
            joint=self._joints,
            start=np.full(n, start),
            end=np.full(n, end),
        )


def whole_windows(observer: MomentumObserver, log: JointLog) -> Iterator[Observation]:
    """Rows of each window that ends within a log."""
    i = 0
    while i < len(log):
        count, several = observer.add_windows(log, i)
        yield from several
        i += count
        if i < len(log):
            rows = observer.add(log[i])
            i += 1
            if rows is not None:
                yield rows


def observe(
    model: RobotModel, bounds: Interval, settings: ObservationSettings, log: JointLog
) -> Observation:
    """All rows of a recording."""
    observer = MomentumObserver(model, bounds, settings)
    rows = [*whole_windows(observer, log)]
    last = observer.finish()
    rows += [] if last is None else [last]
    if not rows:
        raise MeasurementError(
            f'the recording has no window of 3 samples less than {settings.longest_step} s apart; '
            'set longest_step above its sample time'
        )
    return stacked(rows)
