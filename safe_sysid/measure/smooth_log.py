"""SmoothLog: a recording without noise and without delay, at even times, with accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.filters import ORDER, derivative, zero_phase
from safe_sysid.measure.joint_log import JointLog

FILTER = (
    f'Butterworth of order {ORDER}, forwards and backwards, derivatives by central differences'
)

MOST = 15_000  # samples that are kept, twice that at most: a recording may have millions


@dataclass(frozen=True, eq=False)
class SmoothLog:
    """Samples at even times; those within one period of the filter of an end are left out."""

    seconds: Array  # (N,) since the first sample of the recording
    q: Array  # (N, n) [rad]
    qd: Array  # (N, n) [rad/s]
    qdd: Array  # (N, n) [rad/s^2]
    torque: Array  # (N, n) [N m] through the same filter
    recorded: Array  # (N, n) [N m] as measured

    def rows(self, chosen: AnyArray | slice) -> SmoothLog:
        """Return some of the samples."""
        parts = (self.seconds, self.q, self.qd, self.qdd, self.torque, self.recorded)
        return SmoothLog(*(part[chosen] for part in parts))


def smooth(log: JointLog, filter_hz: float) -> SmoothLog:
    """Everything through a low-pass filter of this cut-off."""
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    rate = 1.0 / float(np.median(np.diff(seconds)))
    if not 0.0 < filter_hz < 0.5 * rate:
        raise MeasurementError(
            f'the filter is at {filter_hz:g} Hz; with {rate:.4g} samples per second it has to be '
            f'above 0 and below {0.5 * rate:.4g} Hz'
        )
    even = np.arange(round(seconds[-1] * rate) + 1) / rate
    inside = np.flatnonzero((even >= 1.0 / filter_hz) & (even <= even[-1] - 1.0 / filter_hz))
    if not inside.size:
        raise MeasurementError(
            f'{seconds[-1]:.3f} s are too short for a filter at {filter_hz:g} Hz'
        )
    kept = inside[:: max(1, len(inside) // MOST)]
    q = zero_phase(_at(even, seconds, log.position), rate, filter_hz)
    qd = derivative(q, rate)
    qdd = derivative(qd, rate)[kept]
    q, qd = q[kept], qd[kept]
    recorded = _at(even, seconds, log.torque)
    torque = zero_phase(recorded, rate, filter_hz)[kept]
    return SmoothLog(even[kept], q, qd, qdd, torque, recorded[kept])


def _at(even: Array, seconds: Array, values: Array) -> Array:
    return np.column_stack([np.interp(even, seconds, column) for column in values.T])
