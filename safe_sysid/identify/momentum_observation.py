"""Windows of measurements become rows that bind the parameters, eqs. (13), (20)-(24).

Between the first and the last sample of a window the momentum changes by what drove it:

    [W_m(end) - W_m(start) - integral of W_c] theta + Ia (qd_end - qd_start) = impulse of tau

The rows hold for the true theta within delta, if
  A1  the arm is a chain of rigid bodies with the kinematics and friction law of the model,
  A2  theta lies in the bounds given,
  A3  every sample of q, qd and tau is within its error bound of the truth at its stamp,
  A4  between samples the smooth terms bend no more than `safety_factor` times what the
      neighbouring samples show, at the ends of a window twice that (or than `curvature`),
  A5  torque is constant from the stamp of its sample on (`torque_signal: held`), constant until
      then (`held_until`), or bends as in A4 (`sampled`),
  A6  no joint reverses twice between two samples.
What delta contains: errors of q, qd, tau and their rounding, quadrature, and nothing of theta_r,
which stays an unknown of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Positive, Range, Settings
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.identify.window_sums import (
    HELD,
    HELD_UNTIL,
    SAMPLED,
    ErrorBounds,
    Knowns,
    Rule,
    add_sample,
    begin_again,
    close_window,
    empty_sums,
)
from safe_sysid.measure.joint_log import JointLog, JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

TORQUE_SIGNALS = {'held': HELD, 'held_until': HELD_UNTIL, 'sampled': SAMPLED}

MOST_GAPS = 200  # in a row; more are not gaps but the rate of the samples

Factor = Annotated[float, Range(at_least=1.0)]
PerJoint = tuple[NotNegative, ...]  # one entry for all joints, or one each


@dataclass(frozen=True)
class ObservationSettings(Settings):
    """How measurements become rows, and how wrong a measurement may be."""

    window: Annotated[int, Range(at_least=2)] = 100  # samples per window, h
    quadrature: str = 'trapezoid'  # trapezoid | euler
    torque_signal: str = 'sampled'  # held | held_until | sampled, see A5
    torque_ratio: PerJoint = (0.025,)  # error of a torque as a share of its measured value
    torque_error: PerJoint = (0.0,)  # [N m], error on top of the ratio
    position_error: PerJoint = (0.0,)  # [rad]
    velocity_error: PerJoint = (0.0,)  # [rad/s]
    safety_factor: Factor = 2.0  # A4; from 2 on it covers one jump of the torque inside a step
    curvature: PerJoint | None = None  # [N m/s^2] bound on the second derivative of the momentum
    # rate, in place of the one estimated from the samples
    longest_step: Positive = 0.0015  # [s]; a longer one is a gap, which ends the window

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of('quadrature', self.quadrature, ('trapezoid', 'euler'))
        _one_of('torque_signal', self.torque_signal, tuple(TORQUE_SIGNALS))
        if self.curvature is not None and self.quadrature != 'trapezoid':
            raise ConfigError('curvature bounds the trapezoid rule, but quadrature is euler')

    def error_bounds(self, n: int) -> ErrorBounds:
        """Error bounds of n joints."""
        return ErrorBounds(
            per_joint('position_error', self.position_error, n),
            per_joint('velocity_error', self.velocity_error, n),
            per_joint('torque_ratio', self.torque_ratio, n),
            per_joint('torque_error', self.torque_error, n),
        )


def per_joint(name: str, values: PerJoint, n: int) -> Array:
    """Array of n entries from one entry for all joints, or one each."""
    if len(values) not in (1, n):
        raise ConfigError(f'{name} has {len(values)} entries; 1 or {n} (one per joint) are needed')
    array: Array = np.broadcast_to(np.array(values, dtype=float), (n,)).copy()
    return array


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} is '{value}', allowed are {', '.join(allowed)}")


class StampError(MeasurementError):
    """Samples come at times of which no rows can be made."""


class BackwardStampError(StampError):
    """A sample is older than the one that came before it."""


class SparseStampsError(StampError):
    """Samples are so far apart that every step counts as a gap."""


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
        self._bounds = settings.error_bounds(model.n)
        self._rule = Rule(
            settings.quadrature == 'trapezoid',
            TORQUE_SIGNALS[settings.torque_signal],
            settings.safety_factor,
        )
        self._curvature = (
            np.zeros(0)
            if settings.curvature is None
            else per_joint('curvature', settings.curvature, model.n)
        )
        layout = model.layout
        columns = np.arange(layout.size)
        self._knowns = Knowns(
            np.concatenate([columns[layout.end_effector], columns[layout.rest]]),
            layout.joint_entries('Ia').start,
            self._bounds.velocity,
            largest,
        )
        self._joints = np.arange(model.n)
        self._sums = empty_sums(model.n)
        self._origin: int | None = None  # [ns] stamp that row times are counted from
        self._start = 0  # [ns]
        self._last = 0  # [ns]
        self._gaps = 0  # in a row

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
        if elapsed * 1e-9 > self._settings.longest_step:
            self._count_gap(elapsed * 1e-9)
            return self._close_and_begin(measurement.stamp, sample)
        add_sample(self._model.tree, self._sums, sample, elapsed * 1e-9, self._bounds, self._rule)
        self._last = measurement.stamp
        if self._sums.clock[0] <= self._settings.window:
            return None
        return self._close_and_begin(measurement.stamp, sample)

    def _count_gap(self, seconds: float) -> None:
        """Refuse samples that are always too far apart; a few gaps in a row happen."""
        self._gaps = self._gaps + 1 if self._sums.clock[0] < 3 else 0
        if self._gaps > MOST_GAPS:
            raise SparseStampsError(
                f'samples come {seconds:.4g} s apart and steps above longest_step = '
                f'{self._settings.longest_step} s count as gaps, so there is nothing to learn '
                'from; set longest_step above the sample time'
            )

    def finish(self) -> Observation | None:
        """Rows of the window that has begun, if it has enough samples."""
        try:
            return self._close()
        finally:
            self._origin = None

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
                begin_again(self._sums)
                self._start = stamp
            else:
                self._begin(stamp, sample)

    def _begin(self, stamp: int, sample: Array) -> None:
        for array in self._sums:
            array.fill(0.0)
        self._start = self._last = stamp
        add_sample(self._model.tree, self._sums, sample, 0.0, self._bounds, self._rule)

    def _close(self) -> Observation | None:
        """Rows of the window so far; three samples are needed to see how much terms bend."""
        if self._origin is None or self._sums.clock[0] < 3:
            return None
        n = self._model.n
        table = np.empty((n, 14 * n + 2))
        close_window(self._sums, self._knowns, self._curvature, table)
        start, end = ((stamp - self._origin) * 1e-9 for stamp in (self._start, self._last))
        return Observation(
            Y_e=table[:, :10],
            Y_r=table[:, 10:-2],
            b=table[:, -2],
            delta=table[:, -1],
            joint=self._joints,
            start=np.full(n, start),
            end=np.full(n, end),
        )


def observe(
    model: RobotModel, bounds: Interval, settings: ObservationSettings, log: JointLog
) -> Observation:
    """All rows of a recording."""
    observer = MomentumObserver(model, bounds, settings)
    parts = [observer.add(log[i]) for i in range(len(log))]
    parts.append(observer.finish())
    rows = [part for part in parts if part is not None]
    if not rows:
        raise MeasurementError(
            f'the recording has no window of 3 samples less than {settings.longest_step} s apart; '
            'set longest_step above its sample time'
        )
    return stacked(rows)
