"""Sums of shifted values and power spectra are those of numpy and scipy."""

import numpy as np
import pytest
from scipy import signal

from safe_sysid.measure.spectrum import convolved, power_spectrum


@pytest.mark.parametrize(('count', 'weights'), [(1, 1), (7, 3), (3, 7), (1000, 257)])
def test_sums_at_every_shift_are_those_of_numpy(count, weights, rng):
    x, w = rng.normal(size=(count, 2)), rng.normal(size=weights)
    expected = np.stack([np.convolve(column, w) for column in x.T], axis=1)
    np.testing.assert_allclose(convolved(x, w), expected, atol=1e-11)
    np.testing.assert_allclose(convolved(x[:, 0], w), expected[:, 0], atol=1e-11)


@pytest.mark.parametrize('count', [64, 65, 700])
@pytest.mark.parametrize('segment', [2, 33, 64])
def test_a_power_spectrum_is_that_of_welch(count, segment, rng):
    x = np.cumsum(rng.normal(size=(count, 3)), axis=0) + 4.0
    frequency, density = power_spectrum(x, 250.0, segment)
    theirs = signal.welch(x, 250.0, axis=0, nperseg=segment)
    np.testing.assert_allclose(frequency, theirs[0])
    np.testing.assert_allclose(density, theirs[1], rtol=1e-9, atol=1e-12)
