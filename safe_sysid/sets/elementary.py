"""Sine, cosine and square root of intervals, widened by what the library functions may be off.

The square root is correctly rounded by IEEE 754, so one float outward is enough. Sine and cosine
are not: the C library and the vector versions numpy uses promise errors up to 4 units in the last
place for arguments of ordinary size. SINE_MARGIN is at least 8 of them for every result; beyond
LARGEST_ARGUMENT no promise is used and the answer is [-1, 1]. Squares and reciprocals are
`Interval.square` and `1.0 / x`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import EPS, Interval, IntervalLike

SINE_MARGIN = 4 * EPS  # absolute; results in [0.5, 1] are EPS / 2 apart, smaller ones closer
LARGEST_ARGUMENT = 1e5


def sin(x: IntervalLike) -> Interval:
    """Encloses the sine of every number in x."""
    x = Interval.of(x)
    return _wave(np.sin, x, crest=0.25)


def cos(x: IntervalLike) -> Interval:
    """Encloses the cosine of every number in x."""
    x = Interval.of(x)
    return _wave(np.cos, x, crest=0.0)


def sqrt(x: IntervalLike) -> Interval:
    """Encloses the square root of every number in x."""
    x = Interval.of(x)
    if np.any(x.lower < 0.0):
        raise BoundError(f'square root of {x}, which contains negative numbers')
    lower, upper = np.sqrt(x.lower), np.sqrt(x.upper)
    return Interval(np.maximum(np.nextafter(lower, -np.inf), 0.0), np.nextafter(upper, np.inf))


def _wave(function: np.ufunc, x: Interval, crest: float) -> Interval:
    """Range of a wave of period 2 pi with maxima at (n + crest) 2 pi, minima half way between."""
    large = np.asarray(x.magnitude > LARGEST_ARGUMENT)
    lower, upper = np.where(large, 0.0, x.lower), np.where(large, 0.0, x.upper)
    ends = np.stack([function(lower), function(upper)])
    smallest = np.where(
        large | _meets(lower, upper, crest + 0.5), -1.0, ends.min(axis=0) - SINE_MARGIN
    )
    largest = np.where(large | _meets(lower, upper, crest), 1.0, ends.max(axis=0) + SINE_MARGIN)
    return Interval(np.maximum(smallest, -1.0), np.minimum(largest, 1.0))


def _meets(lower: Array, upper: Array, phase: float) -> npt.NDArray[np.bool_]:
    """Whether (n + phase) 2 pi is, or may be, in [lower, upper] for some whole n.

    A turn count is off by less than 4 EPS (|turns| + 1): pi, division and subtraction. A false
    alarm is harmless, because next to a crest the wave is its crest to within rounding.
    """
    first, last = (np.asarray(end / (2 * np.pi) - phase) for end in (lower, upper))
    return np.asarray(
        np.floor(last + 4 * EPS * (np.abs(last) + 1))
        >= np.ceil(first - 4 * EPS * (np.abs(first) + 1))
    )
