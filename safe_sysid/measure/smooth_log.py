"""SmoothLog: a recording without noise and without delay, at even times, with accelerations."""

from __future__ import annotations

from dataclasses import dataclass
import itertools

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.filters import ORDER, derivative, zero_phase
from safe_sysid.measure.joint_log import JointLog

FILTER = (
    f'Butterworth of order {ORDER}, forwards and backwards, derivatives by central differences'
)

MOST = 15_000  # samples that are kept, twice that at most: a recording may have millions
MOST_BRIDGED = 20.0  # even times per sample, where a median step is much shorter than others


@dataclass(frozen=True, eq=False)
class SmoothLog:
    """Samples at even times; those within a filter period of an end or a gap are left out."""

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
    """Everything through a low-pass filter of this cut-off, piece by piece between gaps.

    A gap is longer than one period of the filter; what is shorter, straight lines bridge.
    """
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    steps = np.diff(seconds)
    rate = 1.0 / float(np.median(steps))
    if not 0.0 < filter_hz < 0.5 * rate:
        raise MeasurementError(
            f'the filter is at {filter_hz:g} Hz; with {rate:.4g} samples per second it has to be '
            f'above 0 and below {0.5 * rate:.4g} Hz'
        )
    gaps = np.flatnonzero(steps > 1.0 / filter_hz) + 1
    _check_even(steps[steps <= 1.0 / filter_hz], rate)
    bounds = itertools.pairwise([0, *gaps.tolist(), len(seconds)])
    pieces = [_Piece.of(seconds[a:b], slice(a, b), rate, filter_hz) for a, b in bounds]
    pieces = [piece for piece in pieces if piece.inside.size]
    if not pieces:
        raise MeasurementError(
            f'the recording, or the part of it that counts, lasts {seconds[-1]:.3f} s, which is '
            f'too short for a filter at {filter_hz:g} Hz'
            if not gaps.size
            else f'no piece between its {gaps.size} gaps is long enough for a filter at '
            f'{filter_hz:g} Hz'
        )
    stride = max(1, sum(piece.inside.size for piece in pieces) // MOST)
    parts = [_smooth(piece, log, seconds, rate, filter_hz, stride) for piece in pieces]
    return SmoothLog(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class _Piece:
    """What lies between two gaps."""

    samples: slice  # of the recording
    even: Array  # (M,) [s]
    inside: IntArray  # of the even times, those that the filter knows both sides of

    @staticmethod
    def of(seconds: Array, samples: slice, rate: float, filter_hz: float) -> _Piece:
        """Even times from its first sample to its last."""
        since = np.arange(round((seconds[-1] - seconds[0]) * rate) + 1) / rate
        period = 1.0 / filter_hz
        inside = np.flatnonzero((since >= period) & (since <= since[-1] - period))
        return _Piece(samples, seconds[0] + since, inside)


def _check_even(bridged: Array, rate: float) -> None:
    """Refuse stamps so uneven that even times would be many more than samples."""
    if np.sum(bridged) * rate > MOST_BRIDGED * (len(bridged) + 1):
        raise MeasurementError(
            f'half of the samples are less than {1e3 / rate:.3g} ms apart and the others up to '
            f'{1e3 * np.max(bridged):.3g} ms; no even rate describes them'
        )


def _smooth(
    piece: _Piece, log: JointLog, seconds: Array, rate: float, filter_hz: float, stride: int
) -> tuple[Array, ...]:
    """Columns of a SmoothLog."""
    even, t, kept = piece.even, seconds[piece.samples], piece.inside[::stride]
    q = zero_phase(_at(even, t, log.position[piece.samples]), rate, filter_hz)
    qd = derivative(q, rate)
    qdd = derivative(qd, rate)[kept]
    q, qd = q[kept], qd[kept]
    recorded = _at(even, t, log.torque[piece.samples])
    torque = zero_phase(recorded, rate, filter_hz)[kept]
    return even[kept], q, qd, qdd, torque, recorded[kept]


def _at(even: Array, seconds: Array, values: Array) -> Array:
    return np.column_stack([np.interp(even, seconds, column) for column in values.T])
