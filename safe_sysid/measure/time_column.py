"""Times of a table: which column has them, what they count, and stamps to the nanosecond.

Seconds since 1970 have more digits than a float holds. What a column counts stands in its name
(`time_ms`, `stamp [us]`); where it does not it counts seconds, or nanoseconds if there are too
many for seconds.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import chain
import re

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError

NAMES = (
    *('time', 't', 'timestamp', 'stamp', '__time'),
    *(f'{name}_{unit}' for name in ('time', 'stamp', 'timestamp') for unit in ('s', 'ns')),
    *(f'{name}_{unit}' for name in ('time', 'stamp', 'timestamp') for unit in ('us', 'ms')),
)
UNITS = {'s': 10**9, 'sec': 10**9, 'ms': 10**6, 'us': 10**3, 'µs': 10**3, 'μs': 10**3, 'ns': 1}
NANOSECONDS = 10**15  # a time beyond this is counted in nanoseconds: seconds would be 31 Myr
SHORT = 2.0**20  # [s] below which a float is nearer to a time than a quarter of a nanosecond
LATEST = 9 * 10**18  # [ns] that a stamp can hold
SHORTEST_STEP, LONGEST_STEP = 2e-5, 1.0  # [s] from sample to sample, of an arm that moves
OTHERS = {'milliseconds': 1e-3, 'microseconds': 1e-6, 'nanoseconds': 1e-9}


def unit_of(name: str) -> int | None:
    """Return how many nanoseconds one of a column is, as its name says; None: it does not."""
    found = re.search(r'[\W_]([^\W_]+)\W*$', name)
    return UNITS.get(found.group(1).lower()) if found else None


def stamps_of(times: list[Array | list[str]], unit: int | None) -> tuple[IntArray, list[int]]:
    """Return stamps [ns], and rows whose time is none, for numbers and, where long, for text."""
    short = _short_times(times, unit)
    if short is not None:
        return short, []
    told = (map(repr, x.tolist()) if isinstance(x, np.ndarray) else x for x in times)
    counted = [_counted(text) for text in chain.from_iterable(told)]
    first = next((t for t in counted if _is_stamp(t, 1)), Decimal(0))
    scale = unit or (1 if abs(first) > NANOSECONDS else 10**9)
    torn = [i for i, t in enumerate(counted) if not _is_stamp(t, scale)]
    for i in torn:
        counted[i] = first if _is_stamp(first, scale) else Decimal(0)
    return np.array([round(time * scale) for time in counted], dtype=np.int64), torn


def _counted(text: str) -> Decimal:
    """Return a number; one that is none, or has more digits than any, is not a number."""
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return Decimal('nan')


def _is_stamp(time: Decimal, scale: int) -> bool:
    """Whether a stamp can hold a time of so many nanoseconds each; no product overflows here."""
    return time.is_finite() and time.copy_abs() < Decimal(LATEST) / scale


def check_steps(source: str, name: str, stamp: IntArray) -> None:
    """Refuse times that count something else than is thought."""
    steps = np.diff(stamp)
    steps = steps[steps > 0]
    if not len(steps):
        return
    usual = float(np.median(steps)) * 1e-9
    if not SHORTEST_STEP <= usual <= LONGEST_STEP:
        likely = [name for name, factor in OTHERS.items() if SHORTEST_STEP <= factor * usual < 0.2]
        raise MeasurementError(
            f'{source}: by its column {name} a sample comes every {usual:.3g} s'
            + (f'; in {likely[0]} it would be {OTHERS[likely[0]] * usual:.3g} s' if likely else '')
            + '. Say in its name what it counts: time_s, time_ms, time_us or time_ns'
        )


def _short_times(times: list[Array | list[str]], unit: int | None) -> IntArray | None:
    """Stamps of times that a float tells to the nanosecond; None if any are others."""
    try:
        counted = np.concatenate([np.zeros(0), *(np.asarray(each, dtype=float) for each in times)])
    except ValueError:
        return None
    if not (np.abs(counted) < SHORT).all():  # long, torn, or counted in nanoseconds
        return None
    stamps: IntArray = np.rint((unit or 10**9) * counted).astype(np.int64)
    return stamps
