"""Quantiles are those of scipy.special, and of the plain exponential where they are known."""

import math

import numpy as np
import pytest
from scipy.special import chdtri

from safe_sysid.identify.change.chi_square import chi_square_quantile


@pytest.mark.parametrize('degrees', [1, 2, 3, 7, 10, 42, 210, 999, 13500])
@pytest.mark.parametrize('probability', [0.5, 0.1, 1e-3, 1e-12, 1e-100, 1e-290])
def test_quantiles_are_those_of_scipy(degrees, probability):
    expected = float(chdtri(degrees, probability))
    assert chi_square_quantile(degrees, probability) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize('degrees', [1, 2, 3, 6, 11])
def test_a_probability_near_one_has_a_small_quantile(degrees):
    expected = float(chdtri(degrees, 0.999))
    assert chi_square_quantile(degrees, 0.999) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize('probability', np.geomspace(1e-300, 0.9, 7))
def test_two_degrees_are_an_exponential(probability):
    expected = -2.0 * math.log(probability)
    assert chi_square_quantile(2, probability) == pytest.approx(expected, rel=1e-12)


def test_what_is_certain_or_never_happens():
    assert chi_square_quantile(10, 1.0) == chi_square_quantile(10, 3.0) == 0.0
    assert chi_square_quantile(10, 0.0) == math.inf
