"""Gains that promise nothing are refused."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.track.gains import Gains

GAINS = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)


@pytest.mark.parametrize(
    ('change', 'complaint'),
    [
        ({'K_r': np.array([5.0, 0.0])}, 'one positive number per joint'),
        ({'K_r': np.array([5.0, np.nan])}, 'one positive number per joint'),
        ({'K_r': np.array(5.0)}, 'one positive number per joint'),
        ({'V_M': 0.0}, 'V_M is 0.0, it has to be above 0'),
        ({'V_M': np.nan}, 'V_M is nan'),
        ({'alpha': -1.0}, 'alpha is -1.0'),
        ({'coulomb_speed': np.inf}, 'coulomb_speed is inf'),
        ({'sign_speed': -1e-9}, 'sign_speed is -1e-09, it has to be 0 or more'),
        ({'torque_error': np.inf}, 'torque_error is inf, it has to be 0 or more and finite'),
        ({'sign_speed': np.nan}, 'sign_speed is nan'),
        ({'torque_ratio': -0.1}, 'torque_ratio is -0.1, it has to be 0 or more'),
        ({'torque_ratio': 1.0}, 'cannot be made up for by more torque'),
    ],
)
def test_a_gain_out_of_range_is_refused(change, complaint):
    with pytest.raises(ConfigError, match=complaint):
        replace(GAINS, **change)


def test_errors_of_the_torque_are_numbers_for_every_joint():
    gains = replace(GAINS, torque_error=0.3, torque_ratio=np.linspace(0.0, 0.1, 7))
    np.testing.assert_array_equal(gains.torque_error, np.full(7, 0.3))
    np.testing.assert_array_equal(gains.torque_ratio, np.linspace(0.0, 0.1, 7))


def test_gains_cannot_be_changed_afterwards():
    with pytest.raises(ValueError, match='read-only'):
        GAINS.K_r[0] = 0.0
