"""The observer of r contains the truth for the worst motions and readings, and not by much."""

from typing import NamedTuple

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.track.error_observer import (
    COARSE,
    SEEN,
    UNSEEN,
    ObserverBounds,
    Together,
    forget,
    history_for,
    observation_bound,
    observe_into,
    record_error,
    record_rate,
)

RUNS = 150


class Motion(NamedTuple):
    """Error and r at the readings of one joint, exactly, and what acted."""

    t: np.ndarray
    e: np.ndarray
    r: np.ndarray
    starts: np.ndarray  # of known parts
    rates: np.ndarray


def moved(K, breaks, accelerations, t, e0=0.01, r0=0.3):
    """Integrate de/dt = r - K e, dr/dt piecewise constant, from one break to the next."""
    out_e, out_r = np.empty_like(t), np.empty_like(t)
    begin, e, r, i = breaks[0], e0, r0, 0
    for a, end in zip(accelerations, [*breaks[1:], np.inf], strict=True):
        while i < len(t) and t[i] <= end:
            out_e[i], out_r[i] = stepped(K, e, r, a, t[i] - begin)
            i += 1
        if i == len(t):
            return out_e, out_r
        e, r = stepped(K, e, r, a, end - begin)
        begin = end
    raise AssertionError('no motion at the last readings')


def stepped(K, e, r, a, dt):
    """Exact step; e decays towards (r - a / K) / K."""
    g = -np.expm1(-K * dt) / K
    return e * np.exp(-K * dt) + r * g + a * (dt - g) / K, r + a * dt


def random_motion(rng, K, A, h, count, known=0.0, jitter=0.0, worst=True):
    """Bang-bang unknown parts on top of known ones that change at every reading."""
    t = h * np.arange(count)
    starts = t + jitter + rng.uniform(0.0, 2.0 * h)
    rates = known * A * rng.uniform(-1.0, 1.0, count)
    if rng.random() < 0.5:
        rates = known * A * np.sign(np.sin(np.arange(count) * rng.uniform(0.01, 2.0)))
    acting = np.maximum.accumulate(starts + jitter * rng.choice([-1.0, 1.0], count))
    switches = np.sort(rng.uniform(0.0, t[-1], rng.integers(0, 8)))
    signs = rng.choice([-1.0, 1.0]) * (-1.0) ** np.arange(len(switches) + 1)
    unknown = A * signs * (1.0 if worst else rng.random())
    breaks = np.unique(np.concatenate([[-10.0 * h], acting, switches]))
    middle = breaks + 1e-12
    at = np.searchsorted(acting, middle, side='right') - 1
    total = np.where(at >= 0, rates[np.maximum(at, 0)], 0.0)
    total = total + unknown[np.searchsorted(switches, middle, side='right')]
    e, r = moved(K, breaks, total, t)
    return Motion(t, e, r, starts, rates)


def observed(motion, readings, bounds, kept=None):
    """Run the observer over a motion: r_hat, half width and truth at every reading with both."""
    history, r, half = history_for(1), np.zeros((2, 1)), np.zeros(1)
    rows = []
    record_rate(history, -1e3, np.zeros(1))
    for i in range(len(motion.t)):
        if kept is None or kept[i]:
            record_error(history, motion.t[i], readings[i : i + 1])
            found = observe_into(history, bounds, r, half)
            assert found in (SEEN, UNSEEN)
            if found == SEEN:
                rows.append((r[0, 0], half[0], motion.r[i]))
        record_rate(history, motion.starts[i], motion.rates[i : i + 1])
    return np.array(rows).T


def read(rng, e, step):
    """Quantised, with a random or adversarial choice at the ends of half a step."""
    if step == 0.0:
        return e
    if rng.random() < 0.5:
        return np.round(e / step) * step
    return e + 0.5 * step * rng.choice([-1.0, 1.0], len(e))


def random_case(rng, known=0.0, jitter=0.0):
    K, A = rng.uniform(2.0, 20.0), 10.0 ** rng.uniform(-1.0, 1.3)
    step, h = 10.0 ** rng.uniform(-5.0, -3.4), 10.0 ** rng.uniform(-3.0, -2.0)
    late = jitter * h
    motion = random_motion(rng, K, A, h, 60, known, late)
    bounds = ObserverBounds(
        np.array([K]), np.array([step]), np.array([A]), 40 * h, late, late, np.zeros(1)
    )
    return motion, bounds, read(rng, motion.e, step), h


@pytest.mark.parametrize('jitter', [0.0, 0.4, 1.3])
def test_r_is_in_the_interval_for_bang_bang_motions(rng, jitter):
    shares = []
    for _ in range(RUNS):
        motion, bounds, readings, h = random_case(rng, rng.choice([0.0, 5.0]), jitter)
        r, half, truth = observed(motion, readings, bounds)
        assert np.all(np.abs(r - truth) <= half)
        if jitter == 0.0:
            assert np.all(half[45:] <= observation_bound(bounds, h)[0])
            shares.append(half[45:] / observation_bound(bounds, h)[0])
    if shares:
        assert 0.3 < np.median(np.concatenate(shares)) < 0.95  # intersecting is worth it


def shifted(rng, jitter, d):
    """Readings of a motion whose torques all act d later than said, or earlier, and bounds."""
    K, A, h = rng.uniform(2.0, 20.0), 10.0 ** rng.uniform(-1.0, 1.3), 10.0 ** rng.uniform(-3.0, -2)
    late, known = jitter * h, 5.0
    motion = random_motion(rng, K, A, h, 60, known, late)
    told = motion._replace(starts=motion.starts - d * h)
    lagged = np.array([2.0 * abs(d) * h * known * A])
    bounds = ObserverBounds(
        np.array([K]), np.zeros(1), np.array([A]), 40 * h, late, late + abs(d) * h, lagged
    )
    return told, bounds


@pytest.mark.parametrize('d', [-2.5, -0.7, 0.8, 3.0])
@pytest.mark.parametrize('jitter', [0.0, 0.4])
def test_torques_that_all_act_later_or_earlier_are_allowed_for(rng, jitter, d):
    """Without `lagged` r would leave the interval."""
    missed = 0
    for _ in range(RUNS // 2):
        told, bounds = shifted(rng, jitter, d)
        r, half, truth = observed(told, told.e, bounds)
        assert np.all(np.abs(r - truth) <= half)
        missed += np.any(np.abs(r - truth) > half - 0.9 * bounds.lagged[0])
    assert missed > 3


def test_lost_readings_make_no_interval_wrong(rng):
    for _ in range(RUNS):
        motion, bounds, readings, _ = random_case(rng, 5.0)
        r, half, truth = observed(motion, readings, bounds, rng.random(60) < 0.6)
        assert np.all(np.abs(r - truth) <= half)


def worst_pair(K, A, s, D, sign=1.0):
    """Truth and what two readings D apart say of it, all errors the same way."""
    e0, r0 = 0.01, 0.2
    e1, r1 = stepped(K, e0, r0, sign * A, D)
    fading, g = np.exp(-K * D), -np.expm1(-K * D) / K
    first, last = e0 + 0.5 * sign * s, e1 - 0.5 * sign * s
    return r1 - (last - fading * first) / g


def test_the_bound_is_attained_and_nothing_smaller_would_do(rng):
    """Readings and accelerations that all err one way; s / (2 D) and A D / 4 are too small."""
    closest, too_small = 0.0, {'s / (2 D)': 0, 'A D / 4': 0}
    for _ in range(300):
        K, D = rng.uniform(2.0, 20.0), 10.0 ** rng.uniform(-3.0, -1.3)
        A, s = 10.0 ** rng.uniform(-1.0, 1.3), 10.0 ** rng.uniform(-5.0, -3.4)
        bounds = ObserverBounds(
            np.array([K]), np.array([s]), np.array([A]), D, 0.0, 0.0, np.zeros(1)
        )
        off, bound = abs(worst_pair(K, A, s, D)), observation_bound(bounds, D)[0]
        assert off <= bound
        closest = max(closest, off / bound)
        reading = 0.5 * s * K / np.tanh(0.5 * K * D)
        too_small['s / (2 D)'] += off > bound - 0.5 * reading
        too_small['A D / 4'] += off > bound - 0.25 * A * D
    assert closest > 0.95
    assert min(too_small.values()) > 50


def test_known_parts_count_by_their_age(rng):
    """With half of their plain mean in place of weights, r would leave the bound."""
    worst = 0.0
    for _ in range(RUNS):
        K, A, h = rng.uniform(2.0, 20.0), 1.0, 0.002
        motion = random_motion(rng, K, 0.0, h, 40)
        rates = 20.0 * A * np.sign(np.sin(np.arange(40) * rng.uniform(0.05, 1.0)))
        breaks = np.concatenate([[-1.0], motion.t])
        e, r = moved(K, breaks, np.concatenate([[0.0], rates]), motion.t)
        motion = Motion(motion.t, e, r, motion.t, rates)
        bounds = ObserverBounds(
            np.array([K]), np.zeros(1), np.array([A]), 20 * h, 0.0, 0.0, np.zeros(1)
        )
        found, half, truth = observed(motion, e, bounds)
        assert np.all(np.abs(found - truth) <= half)
        assert np.all(np.abs(found - truth)[25:] <= 1e-9)  # nothing is unknown but A
        D, at = 20 * h, 39
        g = -np.expm1(-K * D) / K
        plain = (e[at] - np.exp(-K * D) * e[at - 20]) / g + 0.5 * rates[at - 20 : at].mean() * D
        worst = max(worst, abs(plain - r[at]) / (0.5 * A * D))
    assert worst > 2.0


def test_an_empty_intersection_names_the_joint():
    """More acceleration than was promised, and readings that hide nothing."""
    bounds = ObserverBounds(
        np.full(2, 5.0), np.full(2, 1e-6), np.full(2, 0.1), 0.05, 0.0, 0.0, np.zeros(2)
    )
    history, r, half = history_for(2), np.zeros((2, 2)), np.zeros(2)
    found = SEEN
    for i in range(40):
        t = 0.001 * i
        record_error(history, t, np.array([0.0, 10.0 * t**2]))
        found = observe_into(history, bounds, r, half)
    assert found == 1


def test_a_sample_that_is_taken_twice_counts_once():
    """A node looks at a sample, and acts on the same one when its plan has come."""
    bounds = ObserverBounds(
        np.array([5.0]), np.array([1e-4]), np.array([1.0]), 0.05, 0.0, 0.0, np.zeros(1)
    )
    once, twice = history_for(1), history_for(1)
    found = []
    for history, times in ((once, (1,) * 4), (twice, (1, 2, 1, 3))):
        for i, count in enumerate(times):
            for _ in range(count):
                record_error(history, 0.001 * i, np.array([0.1 + 1e-4 * i]))
        r, half = np.zeros((2, 1)), np.zeros(1)
        assert observe_into(history, bounds, r, half) == SEEN
        found.append((r[0, 0], half[0]))
    assert np.all(np.isfinite(found))
    assert found[0] == found[1]


def test_readings_farther_apart_than_the_window_say_nothing():
    """As after a pause, when a plan may begin at once or the arm has to be braked."""
    bounds = ObserverBounds(
        np.full(2, 5.0), np.full(2, 1e-4), np.ones(2), 0.05, 0.0, 0.0, np.zeros(2)
    )
    history, r, half = history_for(2), np.ones((2, 2)), np.zeros(2)
    for t in (0.0, 0.001, 0.2):
        record_error(history, t, np.array([0.1, 0.2]))
        found = observe_into(history, bounds, r, half)
    assert found == UNSEEN
    assert np.all(r == 0.0)
    assert np.all(half == np.inf)


def test_one_reading_says_nothing_and_a_new_beginning_forgets():
    bounds = ObserverBounds(
        np.array([5.0]), np.array([1e-4]), np.array([1.0]), 0.05, 0.0, 0.0, np.zeros(1)
    )
    history, r, half = history_for(1), np.zeros((2, 1)), np.zeros(1)
    record_error(history, 0.0, np.array([0.1]))
    assert observe_into(history, bounds, r, half) == UNSEEN
    assert half[0] == np.inf
    record_error(history, 0.001, np.array([0.1]))
    assert observe_into(history, bounds, r, half) == SEEN
    forget(history)
    record_error(history, 0.002, np.array([0.1]))
    assert observe_into(history, bounds, r, half) == UNSEEN


def test_rings_that_are_full_go_on(rng):
    K, step = 5.0, 1e-4
    bounds = ObserverBounds(
        np.array([K]), np.array([step]), np.array([2.0]), 0.04, 0.0, 0.0, np.zeros(1)
    )
    motion = random_motion(rng, K, 2.0, 0.001, 600, 3.0)
    r, half, truth = observed(motion, read(rng, motion.e, step), bounds)
    assert len(r) > 500
    assert np.all(np.abs(r - truth) <= half)


def test_windows_as_of_the_table_of_the_theory():
    """Encoder of 3.5e-4 rad, A = 1 rad/s^2: 26.5 mrad/s at 1 kHz, 26.7 at 100 Hz."""
    bounds = ObserverBounds(
        np.array([0.01]), np.array([3.5e-4]), np.array([1.0]), 0.1, 0.0, 0.0, np.zeros(1)
    )
    assert observation_bound(bounds, 0.001)[0] == pytest.approx(0.0265, rel=0.01)
    assert observation_bound(bounds, 0.01)[0] == pytest.approx(0.0267, rel=0.01)
    plain = bounds._replace(window=0.001)
    assert observation_bound(plain, 0.001)[0] == pytest.approx(0.351, rel=0.01)
    with pytest.raises(BoundError, match='no two readings'):
        observation_bound(plain, 0.002)


class Swing(NamedTuple):
    """Joints whose r changes by a vector that is bounded in the norm of M."""

    M: np.ndarray
    K: float
    half: np.ndarray  # steps
    most: float  # |dr/dt|_M
    period: float

    @property
    def reading(self):
        return np.sqrt(self.half @ np.abs(self.M) @ self.half)

    def size(self, D):
        """Bound of |r - r_hat|_M for readings D apart."""
        return self.reading * self.K / np.tanh(0.5 * self.K * D) + 0.5 * D * self.most

    def bounds(self, far, factor=1.001):
        n, drift = len(self.half), self.most * np.sqrt(np.diag(np.linalg.inv(self.M)))
        together = Together(self.reading, self.most, 0.0, far, factor * self.size(far))
        told = np.full(n, self.K), 2.0 * self.half, drift, 60 * self.period, 0.0, 0.0
        return ObserverBounds(*told, np.zeros(n), together)

    def run(self, rng, far, bounds):
        """|r - r_hat|_M at the end; pushed one way all along `far`, readings off at its ends."""
        n, count = len(self.half), 80
        t = self.period * np.arange(count)
        turn = rng.normal(size=n)
        turn *= self.most / np.sqrt(turn @ self.M @ turn)
        if rng.random() < 0.5:  # what is read wrong adds to what is not known
            turn = np.abs(turn) * self.most / np.sqrt(np.abs(turn) @ self.M @ np.abs(turn))
        which = np.searchsorted(np.arange(0.0, t[-1], rng.uniform(0.2, 1.5) * far), t[-1] - far)
        history, r, half = history_for(n), np.zeros((2, n)), np.zeros(n)
        breaks = np.array([-1.0, t[-1] - far * rng.choice([1.0, 0.5])])
        parts = np.array([[-1.0], [1.0]]) * turn if which else np.array([[0.0], [1.0]]) * turn
        each = [moved(self.K, breaks, parts[:, j], t) for j in range(n)]
        e, true = (np.array([joint[i] for joint in each]).T for i in range(2))
        off = np.where(np.arange(count)[:, None] < count - 1, -1.0, 1.0) * self.half
        off = off * rng.choice([1.0, -1.0])
        record_rate(history, -1e3, np.zeros(n))
        for i in range(count):
            record_error(history, t[i], e[i] + off[i])
        found = observe_into(history, bounds, r, half)
        assert np.all(np.abs(r[0] - true[-1]) <= half)
        away = r[1] - true[-1]
        return found, np.sqrt(away @ self.M @ away)


def random_swing(rng):
    n = int(rng.integers(2, 5))
    M = np.diag(10.0 ** rng.uniform(-1.0, 1.0, n))
    mix = np.eye(n) + 0.3 * rng.normal(size=(n, n))
    M = mix @ M @ mix.T
    half = 10.0 ** rng.uniform(-6.0, -4.0, n)
    period = 10.0 ** rng.uniform(-3.0, -2.3)
    swing = Swing(M, rng.uniform(2.0, 15.0), half, 10.0 ** rng.uniform(-1.0, 0.7), period)
    D = period * np.arange(1, 50)
    return swing, float(D[np.argmin(swing.size(D))])


def test_joints_together_are_seen_as_well_as_the_norm_says(rng):
    """|r - r_hat|_M is within its bound, which is attained to a tenth."""
    largest = 0.0
    for _ in range(400):
        swing, far = random_swing(rng)
        found, away = swing.run(rng, far, swing.bounds(far))
        assert found == SEEN
        largest = max(largest, away / swing.size(far))
    assert 0.9 < largest <= 1.0


def test_joints_each_by_themselves_would_promise_less(rng):
    """The same in boxes, each joint with the readings that are best for it."""
    gained = []
    for _ in range(50):
        swing, far = random_swing(rng)
        alone = swing.bounds(far)._replace(together=Together())
        box = observation_bound(alone, swing.period)
        gained.append(np.sqrt(box @ np.abs(swing.M) @ box) / swing.size(far))
    assert np.median(gained) > 1.3


def test_readings_too_far_apart_for_a_promise_of_all_joints_are_said(rng):
    swing, far = random_swing(rng)
    bounds = swing.bounds(far, 0.99)
    assert swing.run(rng, far, bounds)[0] == COARSE


@pytest.mark.parametrize(('ahead', 'is_seen'), [(10, True), (60, False)])
def test_a_window_of_which_not_all_torques_are_kept_says_nothing_of_all_joints(ahead, is_seen):
    """Torques that have yet to begin take the places of those that acted in it."""
    h, K, rate, far = 0.001, 5.0, 2.0, 0.1
    unknown, reading = 1e-6, 1e-6  # the longest window is the best
    each = np.array([K]), np.array([2.0 * reading]), np.array([unknown]), far, 0.0, 0.0
    within = 1.1 * (reading * K / np.tanh(0.5 * K * far) + 0.5 * unknown * far)
    together = Together(reading, unknown, 0.0, far, within)
    bounds = ObserverBounds(*each, np.zeros(1), together)
    history, r, half, t = history_for(1), np.zeros((2, 1)), np.zeros(1), h * np.arange(300)
    e, truth = moved(K, np.array([-1.0]), np.array([rate]), t)
    for i, now in enumerate(t):
        record_rate(history, now + h * ahead, np.array([rate]))
        record_error(history, now, e[i : i + 1])
    found = observe_into(history, bounds, r, half)
    assert abs(r[0, 0] - truth[-1]) <= half[0]
    assert found == (SEEN if is_seen else COARSE)
    if is_seen:
        assert abs(r[1, 0] - truth[-1]) <= within
