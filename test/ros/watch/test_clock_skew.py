"""Stamps of another clock are noticed, a machine that is busy is not taken for one."""

import numpy as np
import pytest

from safe_sysid.ros.watch.clock_skew import ClockSkew

PERIOD = 0.002


def watched(slow=0.0, seconds=20.0, busy=0.0, after=0.0):
    """Samples of a clock that is `slow` by a share; each comes up to 5 ms late, or much later."""
    rng, skew = np.random.default_rng(3), ClockSkew()
    for i in range(round(seconds / PERIOD)):
        t = PERIOD * i
        late = 0.005 * rng.random() + (0.3 * rng.random() if rng.random() < busy else 0.0)
        skew.step(7_000_000_000 + round(1e9 * (1.0 - slow) * t), 40.0 + t + late + after * (t > 9))
    return skew


@pytest.mark.parametrize('slow', [0.0, 1e-4, -1e-4])
@pytest.mark.parametrize('busy', [0.0, 0.5])
def test_clocks_of_quartz_on_a_busy_machine_are_no_trouble(slow, busy):
    skew = watched(slow, busy=busy)
    assert skew.share == pytest.approx(slow, abs=1e-4)
    assert skew.trouble == ''


@pytest.mark.parametrize(('slow', 'words'), [(0.01, '1 % slow'), (-0.01, '0.99 % fast')])
def test_a_clock_that_is_one_per_cent_off_is_named(slow, words):
    said = watched(slow, busy=0.5).trouble
    assert said.startswith(f'the clock of samples is {words}: ')


def test_a_clock_that_is_set_meanwhile_is_named():
    assert 'slow' in watched(after=0.2).trouble


def test_samples_that_are_all_held_up_for_a_moment_are_no_trouble():
    skew = watched(seconds=12.5, after=0.015)
    assert skew.share > 1.1e-3
    assert skew.trouble == ''


def test_a_clock_of_quartz_is_no_trouble_however_long_it_runs():
    skew = watched(5e-4, seconds=80.0)
    assert skew.share == pytest.approx(5e-4, abs=5e-5)
    assert skew.trouble == ''


def test_nothing_is_said_before_it_can_be_told():
    skew = watched(0.01, seconds=8.0)
    assert skew.share == 0.0
    assert skew.trouble == ''
