"""What is held out of a fit has samples, and torques to predict."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.held_out import held_out
from safe_sysid.measure.smooth_log import SmoothLog
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

WIDE = Interval(np.full(28, -100.0), np.full(28, 100.0))


@pytest.fixture
def model():
    """Two links."""
    return RobotModel.named('two_link')


def motion(torque):
    """Ten seconds of two joints."""
    seconds = np.linspace(0.0, 10.0, 101)
    q = np.sin(seconds[:, None] * [1.0, 1.3])
    return SmoothLog(seconds, q, q, -q, torque * q, torque * q)


def test_nothing_is_divided_by_torques_of_zero(model):
    with pytest.raises(MeasurementError, match=r'all efforts after 6\.000 s are 0'):
        held_out(model, WIDE, motion(0.0), 6.0, 5.0).validation(model.theta)
    assert np.isfinite(
        held_out(model, WIDE, motion(1.0), 6.0, 5.0).validation(model.theta).identified.filtered
    )


@pytest.mark.parametrize(('split', 'side'), [(-1.0, 'before'), (10.0, 'after')])
def test_a_part_without_samples_is_named(model, split, side):
    with pytest.raises(MeasurementError, match=f'left {side} .* from 0.000 to 10.000 s'):
        held_out(model, WIDE, motion(1.0), split, 5.0).validation(model.theta)
