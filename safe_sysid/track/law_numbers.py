"""A law for a plan as numbers and back, for messages; two arms agree on it if they do on these."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError
from safe_sysid.track.error_observer import ObserverBounds
from safe_sysid.track.invariance import LawBounds, Rates, Shell
from safe_sysid.track.seen_law import Pace, Sampling, SeenLaw

NUMBERS = 24  # that a law has whatever the arm
ROWS = 19  # numbers it has for each joint


def numbers_of(law: SeenLaw) -> Array:
    """All numbers of a law, (NUMBERS + ROWS n,)."""
    s, shell, own, first = law.sampling, law.shell, law.pace, law.first_pace
    n = len(law.room)
    alone = (
        *(s.period, s.delay, s.jitter, s.window, s.stamp, s.tilt, s.slow),
        *(shell.V_M, shell.mu, shell.kappa),
        *law.bounds,
        *(law.observer.window, law.observer.jitter, law.observer.reach),
        law.sign_speed,
        *law.pace.length,
        *law.first_pace.length,
    )
    rows = (
        *(s.step, s.zero, s.older),
        *(law.observer.K_r, law.observer.step, law.observer.drift, law.observer.lagged),
        *(law.half_width, law.room),
        *(own.unknown, own.moved, own.lagged, own.rate, own.jerk),
        *(first.unknown, first.moved, first.lagged, first.rate, first.jerk),
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
    alone = [float(x) for x in numbers[:NUMBERS]]
    rows = numbers[NUMBERS:].reshape(ROWS, n).copy()
    period, delay, jitter, window, stamp, tilt, slow = alone[:7]
    own, first = rows[9:14], rows[14:19]
    return SeenLaw(
        Sampling(rows[0], period, delay, jitter, window, stamp, rows[1], tilt, slow, rows[2]),
        Shell(*alone[7:10]),
        LawBounds(*alone[10:16]),
        ObserverBounds(rows[3], rows[4], rows[5], alone[16], alone[17], alone[18], rows[6]),
        rows[7],
        rows[8],
        alone[19],
        Pace(own[0], own[1], own[2], own[3], Rates(*alone[20:22]), own[4]),
        Pace(first[0], first[1], first[2], first[3], Rates(*alone[22:24]), first[4]),
    )
