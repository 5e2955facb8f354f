"""What a recording shows of its own errors, on motions that are known."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.reading_errors import departures, difference_errors, smallest_steps
from safe_sysid.measure.recording import Samples, recording_of


def log_of(q, qd):
    stamp = np.arange(len(q)) * 1_000_000
    return JointLog(stamp, q, qd, np.zeros_like(q))


def motion():
    t = 0.001 * np.arange(2000)[:, None]
    w = np.array([3.0, 7.0])
    return np.sin(w * t), w * np.cos(w * t)


def test_steps_of_an_encoder_are_seen():
    q, _ = motion()
    np.testing.assert_allclose(smallest_steps(2e-4 * np.round(q / 2e-4)), 2e-4)
    assert (smallest_steps(np.zeros((5, 2))) > 0.0).all()


def test_velocities_that_are_off_depart_from_the_positions():
    q, qd = motion()
    assert (departures(log_of(q, qd), 5) < 0.002).all()
    np.testing.assert_allclose(departures(log_of(q, qd + 0.1), 5), 0.1, atol=0.002)
    lagging = np.roll(qd, 4, axis=0)[10:]  # 4 ms late
    late = departures(log_of(q[10:], lagging), 5)
    np.testing.assert_allclose(late, 0.004 * np.array([9.0, 49.0]), rtol=0.1)


def test_differences_are_better_than_what_their_bend_shows():
    q, qd = motion()
    slope = (q[10:] - q[:-10]) / 0.01
    found = difference_errors(log_of(q[5:-5], slope), 5)
    assert (np.abs(slope - qd[5:-5]).max(axis=0) <= found).all()
    assert found.max() == pytest.approx(2 * 7.0**3 * 0.005**2 / 6, rel=0.05)


def with_lost(lost, seconds=4.0):
    """A recording without velocities of which some samples are lost, and the true velocities."""
    t = np.arange(0.0, seconds, 0.002)
    kept = np.setdiff1d(np.arange(len(t)), lost)
    w = np.array([3.0, 7.0])
    q, qd = np.sin(w * t[kept, None]), w * np.cos(w * t[kept, None])
    stamp = np.round(t[kept] * 1e9).astype(np.int64)
    samples = Samples(stamp, q, None, np.zeros_like(q))
    return recording_of('lossy.csv', ('a', 'b'), samples, ()), qd


@pytest.mark.parametrize(
    'lost',
    [[], [701], [701, 702], [701, 703, 704], range(500, 900), 'two of a hundred'],
    ids=str,
)
def test_velocities_of_positions_are_right_where_samples_are_lost(lost, rng):
    if lost == 'two of a hundred':
        lost = np.flatnonzero(rng.random(2000) < 0.02)
    recording, qd = with_lost(lost)
    log = recording.log(np.ones(2), np.ones(2))
    error = np.abs(log.velocity - qd[np.searchsorted(recording.stamp, log.stamp)]).max(axis=0)
    found = difference_errors(log, recording.stride)
    assert (error <= found).all()
    whole = difference_errors(with_lost([])[0].log(np.ones(2), np.ones(2)), 2)
    assert (found <= 3.0 * whole).all()


def test_a_gap_makes_good_velocities_no_worse():
    q, qd = motion()
    whole, kept = log_of(q, qd), np.r_[0:700, 701:900, 1400:2000]
    lossy = JointLog(whole.stamp[kept], q[kept], qd[kept], np.zeros((len(kept), 2)))
    assert (departures(lossy, 5) <= 1.5 * departures(whole, 5)).all()
    assert (difference_errors(lossy, 5) <= 1.5 * difference_errors(whole, 5)).all()


def test_errors_of_positions_come_with_velocities_by_the_gain(rng):
    recording, _ = with_lost([701, 1203, 1204, 1302])
    off = 1e-3 * rng.choice([-1.0, 1.0], recording.position.shape)
    wrong = replace(recording, position=recording.position + off)
    logs = [each.log(np.ones(2), np.ones(2)) for each in (recording, wrong)]
    moved = np.abs(logs[1].velocity - logs[0].velocity).max()
    assert 0.5e-3 * recording.difference_gain < moved < 1.001e-3 * recording.difference_gain


def test_velocities_of_positions_are_right_where_stamps_come_in_bursts():
    stamp = np.cumsum(np.resize([2, 20], 200)) * 1_000_000
    q, qd = np.sin(3e-9 * stamp)[:, None], 3.0 * np.cos(3e-9 * stamp)
    recording = recording_of('bursts.csv', ('a',), Samples(stamp, q, None, np.zeros_like(q)), ())
    log = recording.log(np.ones(1), np.ones(1))
    error = np.abs(log.velocity[:, 0] - qd[np.searchsorted(stamp, log.stamp)]).max()
    assert len(log) > 190
    assert error <= difference_errors(log, recording.stride)[0]
