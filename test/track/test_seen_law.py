"""Times of a sampling: what acts of a command that drives follow slowly, and when."""

import numpy as np
import pytest

from safe_sysid.track.seen_law import OLDER, Sampling


def sampled(slow):
    return Sampling(np.full(2, 1e-5), 1e-3, 1e-3, slow=slow)


@pytest.mark.parametrize('share', [0.0, 1e-3, 0.1, 0.3, 0.5, 0.8, 1.0])
def test_torques_are_off_by_no_more_than_said_on_average(share):
    """Lags of first order with any time constant up to the one stated; attained at its ends."""
    s = sampled(2e-3)
    off, actual = s.begins - sampled(0.0).begins, share * s.slow
    lags = -actual * np.log(np.linspace(0.0, 1.0, 200_001)[1:] - 2.5e-6)
    mean = np.abs(lags - off).mean()
    assert mean <= s.shifted * (1.0 + 1e-3)
    if share in (0.0, 1.0):
        assert mean >= s.shifted * (1.0 - 1e-3)


def test_what_is_older_than_the_lag_has_the_share_said():
    s = sampled(2e-3)
    assert np.exp(-s.lag / s.slow) == pytest.approx(OLDER)
    assert s.age == pytest.approx(sampled(0.0).age + s.lag)
    assert s.reach >= s.shifted  # earlier, too
