"""A law for a plan as numbers and back, for messages; two arms agree on it if they do on these."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError
from safe_sysid.track.error_observer import InWindow, ObserverBounds, Together
from safe_sysid.track.invariance import LawBounds, Rates, Shell
from safe_sysid.track.seen_law import Pace, Sampling, SeenLaw, Turning

NUMBERS = 45  # that a law has whatever the arm
ROWS = 23  # numbers it has for each joint


def numbers_of(law: SeenLaw) -> Array:
    """All numbers of a law, (NUMBERS + ROWS n,)."""
    s, shell, own, first = law.sampling, law.shell, law.pace, law.first_pace
    n = len(law.room)
    alone = (
        *(s.period, s.delay, s.jitter, s.window, s.stamp, s.tilt, s.slow, s.bias),
        *(shell.V_M, shell.mu, shell.kappa),
        *law.bounds,
        *(law.observer.window, law.observer.jitter, law.observer.reach),
        *law.observer.together[:-1],
        *law.observer.together.before,
        law.sign_speed,
        float(law.goes_on),
        *(*own.length, *own.in_window, *own.turning),
        *(*first.length, *first.in_window, *first.turning),
    )
    rows = (
        *(s.step, s.zero, s.older),
        *(law.observer.K_r, law.observer.step, law.observer.drift, law.observer.lagged),
        *(law.half_width, law.room),
        *(own.unknown, own.moved, own.lagged, own.rate, own.speed, own.straying, own.jerk),
        *(
            first.unknown,
            first.moved,
            first.lagged,
            first.rate,
            first.speed,
            first.straying,
            first.jerk,
        ),
    )
    each = [np.broadcast_to(row, (n,)) for row in rows]
    return np.concatenate([alone, *each])


def law_of(numbers: Array, n: int) -> SeenLaw:
    """Law that these are the numbers of, for n joints; anything else is refused."""
    if numbers.shape != (NUMBERS + ROWS * n,) or not np.isfinite(numbers).all():
        raise MessageError(
            f'the law of a plan has {numbers.size} numbers, {NUMBERS + ROWS * n} finite ones are '
            f'needed for {n} joints'
        )
    alone = iter([float(x) for x in numbers[:NUMBERS]])
    rows = numbers[NUMBERS:].reshape(ROWS, n).copy()
    own, first = rows[9:16], rows[16:23]
    period, delay, jitter, window, stamp, tilt, slow, bias = _next(alone, 8)
    times = period, delay, jitter, window, stamp
    sampling = Sampling(rows[0], *times, rows[1], tilt, slow, rows[2], bias)
    shell, bounds = Shell(*_next(alone, 3)), LawBounds(*_next(alone, 6))
    window_of, jitter_of, reach = _next(alone, 3)
    reading, unknown, fixed, far, within = _next(alone, 5)
    before = InWindow(*_next(alone, 2))
    together = Together(reading, unknown, fixed, far, within, before)
    each = rows[3], rows[4], rows[5], window_of, jitter_of, reach, rows[6]
    observer = ObserverBounds(*each, together)
    sign_speed, goes_on = _next(alone, 2)
    pace, first_pace = (_pace(each, alone) for each in (own, first))
    state = rows[7], rows[8], sign_speed
    paces = pace, first_pace, goes_on != 0.0
    return SeenLaw(sampling, shell, bounds, observer, *state, *paces)


def _next(numbers: Iterator[float], count: int) -> list[float]:
    return list(islice(numbers, count))


def _pace(rows: Array, alone: Iterator[float]) -> Pace:
    unknown, moved, lagged, rate, speed, straying, jerk = rows
    length, in_window = Rates(*_next(alone, 4)), InWindow(*_next(alone, 2))
    turning = Turning(*_next(alone, 2))
    return Pace(unknown, moved, lagged, rate, speed, straying, length, in_window, turning, jerk)
