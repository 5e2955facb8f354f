"""Logs on an even grid: curves are kept, gaps cut, nonsense refused."""

import numpy as np
import pytest

from safe_sysid.calibrate.even_log import EvenLog, even_logs, unwrapped
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointLog


def log_at(t):
    q = np.column_stack([np.sin(t), np.cos(2 * t)])
    stamp = np.round(np.asarray(t) * 1e9).astype(np.int64)
    return JointLog(stamp, q, np.zeros_like(q), 3.0 * q)


def test_an_even_log_is_taken_as_it_is():
    log = log_at(np.arange(500) * 0.01)
    (even,) = even_logs(log)
    assert even.rate == pytest.approx(100.0)
    assert np.array_equal(even.q, log.position)
    assert even.seconds == pytest.approx(5.0)


def test_jitter_and_repeated_stamps_are_ironed_out(rng):
    t = np.sort(np.arange(400) * 0.01 + rng.uniform(-0.003, 0.003, 400))
    (even,) = even_logs(log_at(np.insert(t, 200, t[200])))
    grid = np.arange(len(even.q)) / even.rate + t[0] - t[0]
    assert np.abs(even.q[:, 0] - np.sin(grid + t[0]))[5:-5].max() < 1e-6
    assert np.abs(even.tau - 3.0 * even.q).max() < 1e-12


def test_a_gap_begins_a_new_piece_and_short_pieces_are_dropped():
    t = np.concatenate(
        [np.arange(200) * 0.01, 3 + np.arange(50) * 0.01, 5 + np.arange(150) * 0.01]
    )
    first, second = even_logs(log_at(t))
    assert (len(first.q), len(second.q)) == (200, 150)


def test_what_is_no_recording_is_refused():
    with pytest.raises(MeasurementError, match='50 samples with stamps of their own'):
        even_logs(log_at(np.arange(50) * 0.01))
    t = np.concatenate([k + np.arange(60) * 0.01 for k in range(4)])
    with pytest.raises(MeasurementError, match='3 gaps, the longest of 0.41 s'):
        even_logs(log_at(t))
    with pytest.raises(MeasurementError, match='not finite'):
        EvenLog(100.0, np.full((200, 2), np.nan), np.zeros((200, 2)))
    with pytest.raises(MeasurementError, match=r'shape \(200, 2\) and torques \(200, 3\)'):
        EvenLog(100.0, np.zeros((200, 2)), np.zeros((200, 3)))


def test_parts_are_shares_of_the_length():
    (even,) = even_logs(log_at(np.arange(1000) * 0.01))
    assert np.array_equal(even.part(0.6, 1.0).q, even.q[600:])


def test_jumps_by_a_turn_are_taken_out_of_endless_joints_only():
    log = log_at(np.arange(500) * 0.01)
    turning = 4.0 * np.arange(500) * 0.01
    wrapped = np.column_stack([turning, turning])
    wrapped = (wrapped + np.pi) % (2 * np.pi) - np.pi
    log = JointLog(log.stamp, wrapped, log.velocity, log.torque)
    found = unwrapped(log, np.array([True, False])).position
    assert found[:, 0] == pytest.approx(turning)
    assert np.array_equal(found[:, 1], wrapped[:, 1])


@pytest.mark.parametrize('delay', [0.0, 0.013, -0.013, 0.2])
def test_torques_that_came_later_are_those_of_their_positions(delay):
    t = np.arange(400) / 200.0
    log = EvenLog(200.0, np.sin(t)[:, None], np.cos(3.0 * (t - delay))[:, None], 5.0)
    moved = log.in_time(delay)
    when = moved.begin - 5.0 + np.arange(len(moved.q)) / 200.0
    np.testing.assert_allclose(moved.q[:, 0], np.sin(when), atol=1e-12)
    np.testing.assert_allclose(moved.tau[:, 0], np.cos(3.0 * when), atol=1e-5)
    assert len(moved.q) == 400 - np.ceil(round(200.0 * abs(delay), 6))


def test_a_piece_without_enough_torques_of_its_positions_is_refused():
    log = EvenLog(200.0, np.zeros((120, 1)), np.zeros((120, 1)))
    with pytest.raises(MeasurementError, match='too short for torques that come 0.2 s after'):
        log.in_time(0.2)
