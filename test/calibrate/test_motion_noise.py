"""Positions are kept up to where they are noise, and wholly where they never are."""

import numpy as np
import pytest

from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.motion_noise import KEPT, kept_of_motion
from safe_sysid.measure.filters import derivative, zero_phase

RATE, MOST = 1000.0, 20.0


def log_of(rng, top, noise, rate=RATE, seconds=20.0):
    """Two joints that move at up to `top` Hz, beside white errors of their encoders."""
    t = np.arange(round(seconds * rate)) / rate
    phase = rng.uniform(0.0, 6.0, (2, 1))
    frequency = top * np.array([[0.3], [1.0]])
    q = 0.3 * np.sin(2.0 * np.pi * frequency * t + phase) / frequency
    return EvenLog(rate, q.T + noise * rng.normal(size=(len(t), 2)), np.zeros((len(t), 2)))


@pytest.mark.parametrize('top', [0.4, 1.0, 2.0])
def test_a_motion_ends_where_its_noise_begins(rng, top):
    kept = kept_of_motion(log_of(rng, top, 1e-4), MOST)
    assert KEPT * top <= kept <= KEPT * (top + 2.5)


def test_positions_without_noise_are_kept(rng):
    assert kept_of_motion(log_of(rng, 1.0, 0.0), MOST) == MOST


def test_positions_that_a_driver_has_filtered_are_kept(rng):
    log = log_of(rng, 1.0, 1e-4)
    filtered = EvenLog(log.rate, zero_phase(log.q, log.rate, 4.0), log.tau)
    assert kept_of_motion(filtered, MOST) == MOST


def test_vibration_above_the_motion_is_motion(rng):
    log = log_of(rng, 1.0, 1e-4)
    t = np.arange(len(log.q)) / log.rate
    shaken = EvenLog(log.rate, log.q.copy(), log.tau)
    shaken.q[:, 0] += 2e-3 * np.sin(2.0 * np.pi * 7.0 * t)
    assert kept_of_motion(log, MOST) < 7.0
    assert kept_of_motion(shaken, MOST) >= 7.0


def test_slow_samples_have_no_noise_to_see(rng):
    assert kept_of_motion(log_of(rng, 1.0, 1e-4, rate=15.0, seconds=60.0), MOST) == MOST


def test_accelerations_lose_noise_and_no_motion():
    exact, noisy = (log_of(np.random.default_rng(3), 0.8, x) for x in (0.0, 1e-4))

    def acceleration(log, cutoff):
        q = zero_phase(log.q, log.rate, cutoff)
        return derivative(derivative(q, log.rate), log.rate)[2000:-2000]

    truth = acceleration(exact, MOST)
    errors = [
        np.std(acceleration(noisy, cutoff) - truth)
        for cutoff in (kept_of_motion(noisy, MOST), MOST)
    ]
    assert errors[0] < 0.2 * errors[1]
