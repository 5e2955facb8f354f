"""Times of a sampling: what acts of a command that drives follow slowly, and when."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.track.error_observer import (
    foresee_into,
    history_for,
    record_error,
    record_rate,
)
from safe_sysid.track.seen_law import LONGER, OLDER, Sampling


def sampled(slow):
    return Sampling(np.full(2, 1e-5), 1e-3, 1e-3, slow=slow)


@pytest.mark.parametrize('share', [0.0, 1e-3, 0.1, 0.3, 0.5, 0.8, 1.0])
def test_torques_are_off_by_no_more_than_said_on_average(share):
    """Lags of first order with any time constant up to the one stated; attained at its ends."""
    s = sampled(2e-3)
    off, actual = s.begins - sampled(0.0).begins, share * s.slow
    lags = -actual * np.log(np.linspace(0.0, 1.0, 200_001)[1:] - 2.5e-6)
    mean = np.abs(lags - off).mean()
    assert mean <= s.shifted * (1.0 + 1e-3)
    if share in (0.0, 1.0):
        assert mean >= s.shifted * (1.0 - 1e-3)


def test_what_is_older_than_the_lag_has_the_share_said():
    s = sampled(2e-3)
    assert np.exp(-s.lag / s.slow) == pytest.approx(OLDER)
    assert s.age == pytest.approx(sampled(0.0).age + s.lag)
    assert s.reach >= s.shifted  # earlier, too


def test_of_drives_that_follow_slowly_nothing_is_foreseen():
    """What acts is an average, which changes r all the time by all of it."""
    s = sampled(2e-3)
    assert s.waiting == s.unforeseen == s.age
    assert s.held == s.foreseen == 0.0
    at_once = sampled(0.0)
    assert at_once.unforeseen == 0.0 < at_once.waiting
    assert at_once.foreseen == at_once.delay


@pytest.mark.parametrize('delay', [1e-3, 2.4e-3, 5e-3])
@pytest.mark.parametrize(
    ('share', 'bias'), [(0.1, 0.0), (0.2, 0.0), (0.0, 0.3), (0.0, 0.45), (0.1, 0.2)]
)
def test_torques_under_way_do_what_is_foreseen_but_for_what_is_said(rng, delay, share, bias):
    """Each begins early or late by as much as it may, in turn; r changes by 1 a second at most."""
    errors = {'jitter': share * 1e-3, 'stamp': 0.1 * share * 1e-3, 'bias': bias * 1e-3}
    s = Sampling(np.zeros(1), 1e-3, delay, **errors)
    assert s.foreseen > 0.0 < s.unforeseen
    largest = 0.0
    for _ in range(200):
        history, expected = history_for(1), np.zeros((2, 1))
        count = 40
        rates = rng.choice([-1.0, 1.0], count) * rng.choice([1.0, rng.random()], count)
        late = rng.choice([-1.0, 1.0], count + 1) * (s.jitter + s.stamp)
        t = s.period * np.arange(count)
        record_rate(history, -np.inf, np.zeros(1))
        for i in range(count):
            record_error(history, t[i], np.zeros(1))
            if i == count - 1:
                foresee_into(history, s.foreseen, np.zeros((2, 1)), expected)
            record_rate(history, t[i] + s.begins, rates[i : i + 1])
        alike = rng.choice([-1.0, 1.0]) * s.bias
        begins = t + s.begins + late[:count] + alike
        own = begins[-1]
        actual = 0.0
        for i in range(count - 1):
            begin, end = max(begins[i], t[-1]), min(begins[i + 1], own)
            actual += max(0.0, end - begin) * rates[i]
        off = abs(expected[1, 0] - actual)
        largest = max(largest, off / s.unforeseen)
        assert own - t[-1] <= s.waiting * (1.0 + 1e-9)
    assert 0.1 < largest <= 1.0 + 1e-12


def test_torques_that_are_all_early_or_late_are_where_they_are_said_to_be():
    s = Sampling(np.zeros(1), 1e-3, 3e-3, jitter=1e-4, bias=5e-4, stamp=2e-5)
    earliest, latest = 1.8e-3 - s.stamp, s.delay + s.stamp
    assert s.begins == pytest.approx(2.4e-3)
    assert s.begins - s.reach <= earliest * (1.0 + 1e-12)
    assert s.begins + s.reach >= latest * (1.0 - 1e-12)
    assert s.middle - s.half <= earliest * (1.0 + 1e-12)
    assert s.middle + s.half >= (latest + s.period) * (1.0 - 1e-12)
    assert s.shifted == s.bias
    with pytest.raises(ConfigError, match='cannot be off'):
        replace(s, bias=1.5e-3)


def test_torques_act_within_the_times_said_where_periods_are_a_little_longer_or_shorter(rng):
    """Age, time for which a torque acts, and its middle, attained to a hundredth of a period."""
    s = Sampling(np.zeros(1), 1e-3, 2e-3, jitter=1e-4, stamp=5e-5, bias=3e-4)
    most = np.zeros(3)
    for _ in range(300):
        alike = rng.choice([-1.0, 1.0]) * s.bias
        times = np.cumsum(s.period * (1.0 + rng.choice([1.0 - LONGER, LONGER - 1.0], 20)))
        begins = times + s.delay - s.jitter - s.bias + alike
        begins += rng.choice([-1.0, 1.0], 20) * s.jitter
        stamps = times + rng.choice([-1.0, 1.0], 20) * s.stamp
        begin, end, stamp = begins[:-1], begins[1:], stamps[:-1]
        off = np.maximum(np.abs(begin - stamp - s.middle), np.abs(end - stamp - s.middle))
        found = (end - stamp).max(), (end - begin).max(), off.max()
        most = np.maximum(most, found)
    said = np.array([s.age, s.held, s.half])
    assert np.all(most <= said + 1e-12)
    assert np.all(most > said - 0.01 * s.period - 2.0 * s.stamp)


@pytest.mark.parametrize('late', [0.899e-3, 1.899e-3])
def test_a_torque_that_is_foreseen_too_early_for_its_stamp_counts(late):
    """Stamps that are off by more than the jitter: one more begin may be on the wrong side."""
    s = Sampling(np.zeros(1), 1e-3, late, stamp=1e-4)
    changes = round(late / 1e-3) + 1
    assert s.unforeseen == pytest.approx(2.0 * changes * 1e-4)
