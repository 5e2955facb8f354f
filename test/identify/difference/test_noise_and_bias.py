"""Intervals cover every bias within its bound, and no wider than that needs."""

import numpy as np
import pytest
from scipy.stats import norm

from safe_sysid.identify.difference.noise_and_bias import half_width

CONFIDENCE = 0.95
TAIL = norm.ppf(0.975)


def covered(half, deviation, bias):
    return norm.cdf((half - bias) / deviation) - norm.cdf((-half - bias) / deviation)


@pytest.mark.parametrize('bound', [0.0, 0.1, 0.5, 1.0, 3.0, 30.0])
def test_the_worst_bias_is_covered_as_often_as_promised(bound):
    half = float(half_width(TAIL, bound, CONFIDENCE))
    of_bias = [covered(half, 1.0, bias) for bias in np.linspace(-bound, bound, 21)]
    assert min(of_bias) == pytest.approx(CONFIDENCE, abs=1e-6)


def test_quadrature_would_cover_the_worst_bias_too_seldom():
    """All drives off by the same share, one way: what a heavy load shows."""
    assert covered(np.hypot(TAIL, 2.0), 1.0, 2.0) < 0.8
    assert covered(float(half_width(TAIL, 2.0, CONFIDENCE)), 1.0, 2.0) > 0.949


def test_without_noise_the_bias_is_all_and_the_sum_is_never_exceeded():
    noise, bias = np.array([0.0, 1.0, 1.0]), np.array([0.3, 0.0, 0.4])
    half = half_width(noise, bias, CONFIDENCE)
    assert half[0] == 0.3
    assert half[1] == pytest.approx(1.0)
    assert 0.4 + norm.ppf(0.95) / TAIL <= half[2] <= 1.4
