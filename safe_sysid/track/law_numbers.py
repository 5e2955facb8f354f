"""A law for a plan as numbers and back, for messages; two arms agree on it if they do on these."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError
from safe_sysid.track.error_observer import ObserverBounds
from safe_sysid.track.invariance import LawBounds, Shell
from safe_sysid.track.seen_law import Pace, Sampling, SeenLaw

NUMBERS = 20  # that a law has whatever the arm
ROWS = 15  # numbers it has for each joint


def numbers_of(law: SeenLaw) -> Array:
    """All numbers of a law, (NUMBERS + ROWS n,)."""
    s, shell, own, first = law.sampling, law.shell, law.pace, law.first_pace
    n = len(law.room)
    alone = (
        *(s.period, s.delay, s.jitter, s.window, s.stamp, s.tilt),
        *(shell.V_M, shell.mu, shell.kappa),
        *law.bounds,
        *(law.observer.window, law.observer.jitter),
        law.sign_speed,
        law.pace.length,
    )
    rows = (
        *(s.step, s.zero),
        *law.observer[:3],
        *(law.half_width, law.room),
        *(own.unknown, own.moved, own.rate, own.jerk),
        *(first.unknown, first.moved, first.rate, first.jerk),
    )
    each = [np.broadcast_to(row, (n,)) for row in rows]
    return np.concatenate([alone, [first.length], *each])


def law_of(numbers: Array, n: int) -> SeenLaw:
    """Law that these are the numbers of, for n joints; anything else is refused."""
    if numbers.shape != (NUMBERS + ROWS * n,) or not np.isfinite(numbers).all():
        raise MessageError(
            f'the law of a plan has {numbers.size} numbers, {NUMBERS + ROWS * n} finite ones are '
            f'needed for {n} joints'
        )
    alone = [float(x) for x in numbers[:NUMBERS]]
    rows = numbers[NUMBERS:].reshape(ROWS, n).copy()
    period, delay, jitter, window, stamp, tilt = alone[:6]
    own, first = rows[7:11], rows[11:15]
    return SeenLaw(
        Sampling(rows[0], period, delay, jitter, window, stamp, rows[1], tilt),
        Shell(*alone[6:9]),
        LawBounds(*alone[9:15]),
        ObserverBounds(rows[2], rows[3], rows[4], *alone[15:17]),
        rows[5],
        rows[6],
        alone[17],
        Pace(own[0], own[1], own[2], alone[18], own[3]),
        Pace(first[0], first[1], first[2], alone[19], first[3]),
    )
