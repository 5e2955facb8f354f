"""A smooth log has the motion and its derivatives, without delay, at even times."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure import smooth_log
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.smooth_log import smooth


def swing(rng, samples=4000, jitter=2e-4):
    """Two joints at 0.5 Hz, stamps that jitter, torque with noise."""
    t = np.arange(samples) * 0.002 + jitter * rng.uniform(size=samples)
    q = np.column_stack([np.sin(np.pi * t), 0.5 * np.cos(np.pi * t)])
    torque = 3.0 * q + rng.normal(size=q.shape)
    stamp = np.round(t * 1e9).astype(np.int64)
    return JointLog(stamp, q, np.zeros_like(q), torque), t[0]


def test_derivatives_are_those_of_the_motion(rng):
    log, begin = swing(rng)
    found = smooth(log, 5.0)
    phase = np.pi * (found.seconds + begin)
    np.testing.assert_allclose(found.q[:, 0], np.sin(phase), atol=2e-3)
    np.testing.assert_allclose(found.qd[:, 0], np.pi * np.cos(phase), atol=2e-2)
    np.testing.assert_allclose(found.qdd[:, 0], -(np.pi**2) * np.sin(phase), atol=0.5)
    assert found.seconds[0] >= 0.2 and found.seconds[-1] <= 7.8


def test_noise_goes_and_the_recorded_torque_stays(rng):
    log, _ = swing(rng)
    found = smooth(log, 5.0)
    assert np.std(found.torque - 3.0 * found.q) < 0.3
    assert np.std(found.recorded - 3.0 * found.q) > 0.8


def test_of_a_long_recording_some_samples_are_kept_with_the_same_values(rng, monkeypatch):
    log, _ = swing(rng)
    whole = smooth(log, 5.0)
    monkeypatch.setattr(smooth_log, 'MOST', 100)
    some = smooth(log, 5.0)
    assert 100 <= len(some.seconds) <= 200
    place = np.searchsorted(whole.seconds, some.seconds)
    for name in ('q', 'qd', 'qdd', 'torque', 'recorded'):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[place])


def test_a_filter_that_cannot_be_is_refused(rng):
    log, _ = swing(rng, 100)
    with pytest.raises(MeasurementError, match='below 2[0-9.]* Hz'):
        smooth(log, 300.0)
    with pytest.raises(MeasurementError, match='too short for a filter at 2 Hz'):
        smooth(log, 2.0)


def with_gap(log, gap):
    """A log whose second half is later [s]."""
    stamp = log.stamp.copy()
    stamp[len(stamp) // 2 :] += round(1e9 * gap)
    return JointLog(stamp, log.position, log.velocity, log.torque)


@pytest.mark.parametrize('gap', [86_400.0, 1e9])  # [s] a day, and a clock that was set
def test_nothing_is_computed_over_a_gap(rng, gap):
    log, _ = swing(rng)
    found = smooth(with_gap(log, gap), 5.0)
    late = found.seconds > 0.5 * gap
    whole = smooth(log, 5.0)
    assert 0.8 * len(whole.seconds) < len(found.seconds) <= len(whole.seconds)
    assert late.any() and not late.all()
    phase = np.pi * (found.seconds[~late] + log.stamp[0] * 1e-9)
    np.testing.assert_allclose(found.qd[~late, 0], np.pi * np.cos(phase), atol=2e-2)
    assert np.abs(found.qd[late, 0]).max() < 1.05 * np.pi


def test_a_row_with_a_time_far_away_is_left_out(rng):
    log, _ = swing(rng)
    stamp = log.stamp.copy()
    stamp[-1] += 10**18
    found = smooth(JointLog(stamp, log.position, log.velocity, log.torque), 5.0)
    assert found.seconds[-1] < 8.0


def test_stamps_that_no_even_rate_describes_are_refused(rng):
    log, _ = swing(rng)
    steps = np.where(np.arange(len(log.stamp)) % 3, 1_000, 100_000_000)
    stamp = np.cumsum(steps)
    with pytest.raises(MeasurementError, match='no even rate'):
        smooth(JointLog(stamp, log.position, log.velocity, log.torque), 5.0)
