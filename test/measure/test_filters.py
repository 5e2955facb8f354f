"""Filters keep phase and gain, derivatives are exact where they have to be, fhan has two forms."""

import numpy as np
import pytest
from scipy import signal

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.butterworth import filtered_both_ways, sections
from safe_sysid.measure.filters import (
    TrackingDifferentiator,
    derivative,
    fhan,
    harmonic_motion,
    low_pass_at,
    zero_phase,
)

RATE = 1000.0


def test_a_slow_sine_passes_without_delay():
    t = np.arange(4000) / RATE
    x = np.sin(2 * np.pi * 1.0 * t)
    assert np.abs(zero_phase(x, RATE, 20.0) - x)[500:-500].max() < 1e-9


@pytest.mark.parametrize('frequency', [5.0, 10.0, 15.0, 20.0])
def test_gain_is_that_of_a_butterworth_filter_run_twice(frequency):
    t = np.arange(8000) / RATE
    y = zero_phase(np.sin(2 * np.pi * frequency * t), RATE, 10.0)[2000:-2000]
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 10.0 / RATE)
    assert np.abs(y).max() == pytest.approx(1.0 / (1.0 + warped**8), rel=2e-3)


def test_columns_are_filtered_alone_and_a_cutoff_beyond_the_data_changes_nothing(rng):
    x = rng.normal(size=(400, 3))
    assert np.allclose(zero_phase(x, RATE, 30.0)[:, 1], zero_phase(x[:, 1], RATE, 30.0))
    assert np.array_equal(zero_phase(x, RATE, 600.0), x)
    with pytest.raises(MeasurementError, match=r'cut-off 0\.0 Hz have to be more than 0'):
        zero_phase(x, RATE, 0.0)


def test_derivative_of_a_quartic_is_exact_up_to_the_ends():
    t = np.arange(12) * 0.1
    q = np.column_stack([t**4 - 2 * t**3 + t, 3 * t**2 - 1])
    exact = np.column_stack([4 * t**3 - 6 * t**2 + 1, 6 * t])
    assert np.abs(derivative(q, 10.0) - exact).max() < 1e-12
    with pytest.raises(MeasurementError, match='4 samples'):
        derivative(q[:4], 10.0)


def test_harmonic_fit_has_exact_derivatives(rng):
    t = np.arange(500) / 50.0
    w = 2 * np.pi / 5.0
    q = (0.3 + np.sin(w * t) - 0.2 * np.cos(3 * w * t))[:, None]
    noisy = q + rng.normal(scale=1e-3, size=q.shape)
    _, qd, qdd = harmonic_motion(t, q, 5.0, 4)
    assert np.abs(qd[:, 0] - w * (np.cos(w * t) + 0.6 * np.sin(3 * w * t))).max() < 1e-9
    assert np.abs(qdd[:, 0] - w**2 * (1.8 * np.cos(3 * w * t) - np.sin(w * t))).max() < 1e-9
    assert np.abs(harmonic_motion(t, noisy, 5.0, 4)[2] - qdd).max() < 0.05
    with pytest.raises(MeasurementError, match='do not fit 5 samples'):
        harmonic_motion(t[:5], q[:5], 5.0, 4)


def test_both_published_forms_of_fhan_agree(rng):
    x1, x2 = rng.normal(size=(2, 2000)) * rng.uniform(0.001, 3, size=(2, 1))
    r, h = 7.0, 0.05
    d = r * h
    y = x1 + h * x2
    root = np.sqrt(d**2 + 8 * r * np.abs(y))
    a = np.where(np.abs(y) > d * h, x2 + 0.5 * (root - d) * np.sign(y), x2 + y / h)
    older = np.where(np.abs(a) > d, -r * np.sign(a), -r * a / d)
    assert np.abs(fhan(x1, x2, r, h) - older).max() < 1e-10


def test_tracking_differentiator_finds_the_slope_of_a_ramp_and_keeps_its_limit():
    tracker = TrackingDifferentiator(0.01, 20.0, 0.03, np.zeros(2))
    slopes = []
    for k in range(1, 400):
        copy, slope = tracker.step(np.array([0.5, -1.0]) * 0.01 * k)
        slopes.append(slope)
    assert slopes[-1] == pytest.approx([0.5, -1.0], abs=1e-6)
    lag = 2 * 0.03  # seconds: two smoothing times
    assert copy == pytest.approx(np.array([0.5, -1.0]) * (3.99 - lag), abs=0.01)
    assert np.abs(np.diff(slopes, axis=0)).max() <= 20.0 * 0.01 + 1e-12
    with pytest.raises(MeasurementError, match='not less than the period'):
        TrackingDifferentiator(0.01, 20.0, 0.001, np.zeros(1))


@pytest.mark.parametrize('step', [1, 8])
def test_a_low_pass_at_some_samples_is_the_one_of_all_of_them(rng, step):
    values = np.cumsum(rng.normal(size=(900, 2, 3)), axis=0)
    kept = slice(60, 840, step)
    whole = zero_phase(values, 100.0, 5.0)[kept]
    some = low_pass_at(values, 100.0, 5.0, kept)
    assert some.shape == whole.shape
    assert np.abs(some - whole).max() < 2e-3 * np.abs(values).max()


def test_a_low_pass_above_half_the_rate_takes_nothing_away(rng):
    values = rng.normal(size=(200, 2))
    np.testing.assert_allclose(low_pass_at(values, 8.0, 5.0, slice(5, 195, 2)), values[5:195:2])


@pytest.mark.parametrize('order', [2, 4, 6])
@pytest.mark.parametrize('share', [0.001, 0.01, 0.3, 0.99])
def test_the_filter_is_that_of_scipy(order, share, rng):
    """A drift, a step and noise, of one sample and of many, with and without padding."""
    theirs = signal.butter(order, share, output='sos')
    poles = np.concatenate([np.roots(row[3:]) for row in theirs])
    ours = np.concatenate([np.roots([1.0, a1, a2]) for _, a1, a2 in sections(order, share)])
    np.testing.assert_allclose(np.sort_complex(ours), np.sort_complex(poles), atol=1e-9)
    for count in (1, 2, 700):
        x = np.cumsum(rng.normal(size=(count, 2, 3)), axis=0) + 5.0
        x[count // 2 :] += 3.0
        for padding in {0, min(count - 1, 100)}:
            expected = signal.sosfiltfilt(theirs, x, axis=0, padlen=padding)
            found = filtered_both_ways(x, order, share, padding)
            np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(x).max())
