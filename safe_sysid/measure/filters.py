"""Filters for recordings (zero phase, harmonics) and a causal differentiator for the loop."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.butterworth import filtered_both_ways

ORDER = 4  # of the Butterworth filter, which runs forwards and backwards
TOGETHER = 32  # samples that are filtered by one product


def zero_phase(values: Array, rate: float, cutoff: float) -> Array:
    """Low-pass without delay: Butterworth, once forwards and once backwards, along the first axis.

    The gain is 1/2 (-6 dB) at `cutoff` [Hz]. At half the sampling rate [Hz] and above nothing is
    left to take away, and the values come back as they are.
    """
    _check_frequencies(rate, cutoff)
    if 2.0 * cutoff >= rate:
        untouched: Array = values.copy()
        return untouched
    padding = min(len(values) - 1, round(3.0 * rate / cutoff))
    return filtered_both_ways(values, ORDER, 2.0 * cutoff / rate, padding)


def low_pass_at(values: Array, rate: float, cutoff: float, kept: slice) -> Array:
    """Low-pass without delay at some samples only, from those that are `kept.start` near.

    Its weights are the response of `zero_phase` to one sample, cut off there; a sum of few is
    cheaper than a recursion over all of them.
    """
    half = int(kept.start)
    impulse = np.zeros((4 * half + 1, 1))
    impulse[2 * half] = 1.0
    weights = zero_phase(impulse, rate, cutoff)[half : 3 * half + 1, 0]
    places = np.arange(len(values))[kept]
    step = int(kept.step or 1)
    table = np.zeros((TOGETHER, (TOGETHER - 1) * step + len(weights)))
    for row in range(TOGETHER):
        table[row, row * step : row * step + len(weights)] = weights
    flat = np.ascontiguousarray(values.reshape(len(values), -1))
    found = np.empty((len(places), flat.shape[1]))
    for first in range(0, len(places), TOGETHER):
        count = min(TOGETHER, len(places) - first)
        begin = places[first] - half
        width = (count - 1) * step + len(weights)
        found[first : first + count] = table[:count, :width] @ flat[begin : begin + width]
    return found.reshape(len(places), *values.shape[1:])


def derivative(values: Array, rate: float) -> Array:
    """Time derivative by central differences of fourth order, one-sided at the two ends."""
    if len(values) < 5:
        raise MeasurementError(f'{len(values)} samples, a derivative needs at least 5')
    slope = np.empty_like(values)
    slope[2:-2] = (values[:-4] - 8.0 * values[1:-3] + 8.0 * values[3:-1] - values[4:]) / 12.0
    ahead = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0
    for i in (0, 1):
        slope[i] = ahead @ values[i : i + 5].reshape(5, -1)
        slope[-1 - i] = -ahead @ values[len(values) - 5 - i : len(values) - i][::-1].reshape(5, -1)
    return slope * rate


def harmonic_motion(
    t: Array, q: Array, period: float, harmonics: int
) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the Fourier series nearest to a periodic motion.

    Least squares over all samples; derivatives are those of the series, so they are exact for a
    motion that has no more harmonics.
    """
    count = 2 * harmonics + 1
    if not (period > 0.0 and harmonics >= 1 and count <= len(t)):
        raise MeasurementError(
            f'period {period} s and {harmonics} harmonics do not fit {len(t)} samples; the period '
            f'has to be more than 0 and {count} numbers need at least as many samples'
        )
    omega = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(np.outer(t, omega)), np.cos(np.outer(t, omega))
    still = np.zeros((len(t), 1))
    basis = np.hstack([still + 1.0, s, c])
    slope = np.hstack([still, c * omega, -s * omega])
    bend = np.hstack([still, -s * omega**2, -c * omega**2])
    weights, *_ = np.linalg.lstsq(basis, q, rcond=None)
    return basis @ weights, slope @ weights, bend @ weights


class TrackingDifferentiator:
    """Han's tracking differentiator: a smoothed copy of a signal and its derivative, causal.

    It lags, so it is for the loop; recordings are better served by the filters above. `limit`
    bounds the second derivative of the copy, `smoothing` (at least one period) how far a
    measurement is mistrusted.
    """

    def __init__(self, period: float, limit: float, smoothing: float, start: Array) -> None:
        if not (period > 0.0 and limit > 0.0 and smoothing >= period):
            raise MeasurementError(
                f'period {period} s, limit {limit} and smoothing {smoothing} s: all have to be '
                'more than 0, and the smoothing not less than the period'
            )
        self._period, self._limit, self._smoothing = period, limit, smoothing
        self._copy = np.array(start, dtype=float)
        self._slope = np.zeros_like(self._copy)

    def step(self, measured: Array) -> tuple[Array, Array]:
        """Copy and derivative after one more sample."""
        pull = fhan(self._copy - measured, self._slope, self._limit, self._smoothing)
        self._copy = self._copy + self._period * self._slope
        self._slope = self._slope + self._period * pull
        return self._copy, self._slope


def fhan(x1: Array, x2: Array, limit: float, smoothing: float) -> Array:
    """Time-optimal acceleration that brings a double integrator to rest at 0, without chatter."""
    d = limit * smoothing**2
    a0 = smoothing * x2
    y = x1 + a0
    a1 = np.sqrt(d * (d + 8.0 * np.abs(y)))
    a2 = a0 + 0.5 * np.sign(y) * (a1 - d)
    near = 0.5 * (np.sign(y + d) - np.sign(y - d))
    a = (a0 + y - a2) * near + a2
    soft = 0.5 * (np.sign(a + d) - np.sign(a - d))
    pull: Array = -limit * (a / d - np.sign(a)) * soft - limit * np.sign(a)
    return pull


def _check_frequencies(rate: float, cutoff: float) -> None:
    if not (0.0 < rate < np.inf and cutoff > 0.0):
        raise MeasurementError(f'rate {rate} Hz and cut-off {cutoff} Hz have to be more than 0')
