"""Observer of r = de/dt + K e from readings of e alone, with a proven bound; compiled.

As d(e^Kt e)/dt = e^Kt r, two readings that are D apart say, with g = (1 - e^-KD) / K,

    r = (e(t) - e^-KD e(t - D)) / g + integral over ages b in [0, D] of W(b) dr/dt(t - b),
    W(b) = (e^-Kb - e^-KD) / (K g), which falls from 1 to 0 and whose integral is at most D / 2.

Of dr/dt a part is known, -M^-1 v = -lambda r_hat of the torques that acted; the rest is within
`drift` A. Readings are within half a step s / 2, so r_hat from these two is within

    (s K / 2) coth(K D / 2) + A (g - D e^-KD) / (K g)   <=   about s / D + A D / 2

of r, and best, sqrt(2 s A), for D = sqrt(2 s / A). No causal observer does better in the worst
case (Landau). Every D of the window gives an interval that contains r; they are intersected, so
the half width that is found is smaller most of the time. Where the intersection is empty, an
assumption is false.

All joints together. The rest of dr/dt, as a vector, is within `unknown` U in the norm of a mass
matrix M, and half steps are within `reading` R. With one D and one K for all joints so is r of

    R K coth(K D / 2) + U D / 2 + fixed,

which for n joints is about sqrt(n) times less than what boxes of their own say. So there is a
second r_hat, that of the D up to `far` for which this is least; it has to be `within` what is
promised. Without such a promise it is the first one.

A torque whose beginning is known to `jitter` J only adds J |difference to the one before| W(b).
If in truth all torques act earlier or later together, by d or by an average over such d, the
integral is off by at most 2 |d|, or its average, times the largest known part, as W falls from 1
to 0: that is `lagged`. Torques count as weighty as they are at the nearest instant within `reach`,
J and the largest |d|.
What is known already acts on r after its reading, too, until the next torque does: `foresee_into`.
Windows go by the stamps of the readings: one that was lost makes none of them wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS

SEEN = -1  # what `observe_into` returns when there is an interval for every joint
UNSEEN = -2  # when there are not two readings in a window
COARSE = -3  # when they are too far apart for what is promised of all joints together
LENGTH = 128  # readings and torques that are kept
SPARE = 8  # of these, beside those of a window and those that have yet to begin
SLACK = 1e-9  # of a bound on half widths, more than the rounding of each
LARGEST = 1e100  # number of a law that a message holds; as good as infinite
NEARLY = 1e-6  # of a time between readings, that stamps are rounded by
ROUNDING = 1e-14  # [rad] of what readings and desired positions are computed to


class InWindow(NamedTuple):
    """Bounds of dr/dt before [J^1/2 / s], in the norm of M of that instant or of a later one."""

    unknown: float  # but for -M^-1 v
    known: float  # -M^-1 v

    def times(self, factor: float) -> InWindow:
        """Return the same in another norm, at most a number that a message can hold."""
        return InWindow(*(min(factor * x, LARGEST) for x in self))

    def or_else(self, other: InWindow) -> InWindow:
        """Return bounds of both."""
        return InWindow(*map(max, self, other))


class Together(NamedTuple):
    """What is promised of all joints, in the norm of a mass matrix [J^1/2]; far 0: nothing is."""

    reading: float = 0.0  # [J^1/2 s], of half steps
    unknown: float = 0.0  # [J^1/2 / s] of dr/dt but for its known part
    fixed: float = 0.0  # of what torques change that begin early or late
    far: float = 0.0  # [s] of the oldest reading that is used
    within: float = 0.0  # of r
    before: InWindow = InWindow(0.0, 0.0)  # as it is taken to be where the plan begins


class ObserverBounds(NamedTuple):
    """What is promised of readings and motion, (n,) each."""

    K_r: Array  # [1/s]
    step: Array  # [rad] of the encoder: readings are within half of it, and ROUNDING
    drift: Array  # [rad/s^2] of dr/dt but for its known part
    window: float  # [s] of the oldest reading that is used
    jitter: float  # [s] by which a torque may begin earlier or later than others
    reach: float  # [s] by which it may begin earlier or later than said
    lagged: Array  # [rad/s] that all of them together may change by that
    together: Together = Together()

    def at(self, distance: Array | float) -> Array:
        """Half width for readings that are so far apart, (n,) or (m, n) of (m, 1) [rad/s]."""
        readings = (0.5 * self.step + ROUNDING) * self.K_r / np.tanh(0.5 * self.K_r * distance)
        drift = self.drift * 0.5 * distance  # at least A (g - D e^-KD) / (K g)
        return np.asarray((readings + drift + self.lagged) * (1.0 + SLACK))


def distances(bounds: ObserverBounds, period: float) -> Array:
    """Return times [s] between readings every `period` of a window."""
    count = int(bounds.window / period * (1.0 + 1e-9))
    if count < 1:
        raise BoundError(f'a window of {bounds.window} s has no two readings {period} s apart')
    return np.asarray(period * np.arange(1, count + 1), dtype=float)


class History(NamedTuple):
    """The last readings and known parts, in rings; counts say how many there were."""

    time: Array  # (L,) [s]
    error: Array  # (L, n) [rad]
    start: Array  # (L,) [s] from when a known part acts
    rate: Array  # (L, n) [rad/s^2]
    counts: IntArray  # (2,) readings, known parts


def history_for(n: int, length: int = LENGTH) -> History:
    """Rings for n joints."""
    times, values = np.zeros((2, length)), np.zeros((2, length, n))
    return History(times[0], values[0], times[1], values[1], np.zeros(2, dtype=np.int64))


def observation_bound(bounds: ObserverBounds, period: float) -> Array:
    """Largest half width for readings every `period` [s], each joint by itself, (n,) [rad/s]."""
    return np.asarray(bounds.at(distances(bounds, period)[:, None]).min(axis=0))


def newest(history: History) -> float:
    """Time of the last reading [s]."""
    count = int(history.counts[0])
    return float(history.time[(count - 1) % len(history.time)]) if count > 0 else -np.inf


@jit
def forget(history: History) -> None:
    """Begin anew."""
    history.counts[:] = 0


@jit
def shift(history: History, by: Array) -> None:
    """Add a constant to all readings of e: they count from another desired position at rest."""
    for i in range(len(history.time)):
        for j in range(len(by)):
            history.error[i, j] += by[j]


@jit
def record_error(history: History, t: float, e: Array) -> None:
    """Add a reading, later than all before."""
    at = history.counts[0] % len(history.time)
    history.time[at] = t
    for j in range(len(e)):
        history.error[at, j] = e[j]
    history.counts[0] += 1


@jit
def record_rate(history: History, start: float, rate: Array) -> None:
    """Add a known part of dr/dt that acts from `start` until the next one does."""
    at = history.counts[1] % len(history.start)
    history.start[at] = start
    for j in range(len(rate)):
        history.rate[at, j] = rate[j]
    history.counts[1] += 1


@jit
def observe_into(history: History, bounds: ObserverBounds, r: Array, half: Array) -> int:
    """Middle and half width of what r can be at the newest reading; first joint with nothing.

    r is (2, n): of each joint by itself, and of all together.
    """
    if history.counts[0] < 2:
        r[:] = 0.0
        half[:] = np.inf
        return UNSEEN
    which, length = _best_for_all(history, bounds)
    for j in range(len(half)):
        low, high, one = _interval_of(history, bounds, j, which)
        if not low <= high:
            return j
        if high == np.inf:  # all readings but the newest are older than the window
            r[:] = 0.0
            half[:] = np.inf
            return UNSEEN
        r[:, j], half[j] = 0.5 * (low + high), 0.5 * (high - low) * (1.0 + 8.0 * EPS)
        if which > 0:
            r[1, j] = one
    if bounds.together.far > 0.0 and not length <= bounds.together.within:
        return COARSE
    return SEEN


@jit
def foresee_into(history: History, ahead: float, r: Array, expected: Array) -> None:
    """Add to r (2, n) what known parts change from the newest reading on, for so long [s]."""
    length, parts = len(history.start), history.counts[1]
    now = history.time[(history.counts[0] - 1) % len(history.time)]
    end, part = now + ahead, parts - 1
    expected[:] = r
    while part >= max(0, parts - length + 1) and end > now:
        begin = max(now, history.start[part % length])
        if begin < end:
            for j in range(r.shape[1]):
                expected[:, j] += history.rate[part % length, j] * (end - begin)
            end = begin
        part -= 1


@jit
def _best_for_all(history: History, bounds: ObserverBounds) -> tuple[int, float]:
    """How many readings ago says most of all joints together, 0: none does; and how much."""
    t, K = bounds.together, bounds.K_r[0]
    length, readings = len(history.time), history.counts[0]
    newest, best, least = (readings - 1) % length, 0, np.inf
    known = _known(history, history.time[newest])
    for back in range(1, min(readings, length)):
        D = history.time[newest] - history.time[(newest - back) % length]
        if min(t.far * (1.0 + NEARLY), bounds.window) < D or known < D:
            break
        size = t.reading * K / np.tanh(0.5 * K * D) + t.unknown * 0.5 * D + t.fixed
        if size < least:
            best, least = back, size
    return best, least


@part_jit
def _known(history: History, now: float) -> float:
    """Age up to which all known parts are kept [s]."""
    length, parts = len(history.start), history.counts[1]
    return np.inf if parts == 0 else now - history.start[max(0, parts - length + 1) % length]


@part_jit
def _interval_of(
    history: History, bounds: ObserverBounds, j: int, which: int
) -> tuple[float, float, float]:
    """Range of r_j that all windows leave over, and the middle of one of them."""
    length, (readings, parts) = len(history.time), history.counts
    newest, K = (readings - 1) % length, bounds.K_r[j]
    now, e = history.time[newest], history.error[newest, j]
    low, high, one = -np.inf, np.inf, 0.0
    age = decayed = plain = 0.0  # integrals of e^-Kb rate and of rate over ages up to `age`
    moved = np.zeros(2)  # the same of what may begin early or late
    part = parts - 1
    oldest = max(0, parts - length + 1)
    for back in range(1, min(readings, length)):
        at = (newest - back) % length
        D = now - history.time[at]
        if bounds.window * (1.0 + 1e-9) < D:
            break
        while part >= oldest and age < D:
            begin, rate = now - history.start[part % length], history.rate[part % length, j]
            until = min(begin, D)
            if until > age:
                plain += rate * (until - age)
                decayed += rate * (np.exp(-K * age) - np.exp(-K * until)) / K
                age = until
            if begin > D:
                break
            _move(history, bounds, (part, j), now, moved)
            part -= 1
        if parts > 0 and age < D:
            break  # nobody said what acted then
        fading, g = np.exp(-K * D), -np.expm1(-K * D) / K
        late = moved[0] - fading * moved[1]
        late += _about_to_end(history, bounds, (part, j), now - D, now)
        middle = (e - fading * history.error[at, j]) / g
        middle += (decayed - fading * plain) / (K * g)
        radius = (0.5 * bounds.step[j] + ROUNDING) * (1.0 + fading) / g
        radius += bounds.drift[j] * 0.5 * D + late / (K * g) + bounds.lagged[j]
        radius += 16.0 * EPS * (abs(middle) + (abs(decayed) + abs(plain)) / (K * g))
        radius *= 1.0 + 64.0 * EPS
        low, high = max(low, middle - radius), min(high, middle + radius)
        if back == which:
            one = middle
    return low, high, one


@jit
def _change(history: History, part: int, j: int) -> float:
    """How much a known part differs from the one before; before the first there is none."""
    length = len(history.start)
    before = history.rate[(part - 1) % length, j] if part > 0 else 0.0
    return abs(history.rate[part % length, j] - before)  # type: ignore[no-any-return]


@jit
def _move(
    history: History, bounds: ObserverBounds, which: tuple[int, int], now: float, moved: Array
) -> None:
    """Add what the beginning of a known part within the window may be off."""
    begin = now - history.start[which[0] % len(history.start)]
    if begin > -bounds.reach:
        size = _change(history, which[0], which[1]) * bounds.jitter
        moved[0] += size * np.exp(-bounds.K_r[which[1]] * max(0.0, begin - bounds.reach))
        moved[1] += size


@jit
def _about_to_end(
    history: History, bounds: ObserverBounds, which: tuple[int, int], first: float, now: float
) -> float:
    """Return the same of parts that said to begin before the window, and may in it."""
    part, K, total = which[0], bounds.K_r[which[1]], 0.0
    while part >= max(0, history.counts[1] - len(history.start) + 1):
        start = history.start[part % len(history.start)]
        if start <= first - bounds.reach:
            break
        size = _change(history, part, which[1]) * bounds.jitter
        weight = np.exp(-K * max(0.0, now - start - bounds.reach)) - np.exp(-K * (now - first))
        total += size * max(0.0, weight)
        part -= 1
    return total
