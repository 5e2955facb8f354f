"""What a recording shows of its own errors, on motions that are known."""

import numpy as np
import pytest

from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.reading_errors import departures, difference_errors, smallest_steps


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
