"""What is held out of a fit has samples, and torques to predict."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.held_out import fits, held_out
from safe_sysid.measure.smooth_log import SmoothLog
from safe_sysid.model.dynamics.felt_regressor import felt_regressor
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, measured_torque, within_limits

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


@pytest.mark.parametrize('seed', [0, 2])
def test_no_parameters_within_what_is_known_fit_better(seed):
    """Of an arm whose friction and payload nobody knows, its rotors most of the torque."""
    rng, model = np.random.default_rng(seed), RobotModel.named('kinova_gen3')
    truth = model.with_payload(read_payload('dumbbell_8lb'))
    motion = within_limits(fourier_motion(rng, model.n, 10.0, 0.01), model.limits)
    exact = measured_torque(truth, motion)
    torque = exact * (1.0 + 0.02 * rng.uniform(-1.0, 1.0, exact.shape))
    part = SmoothLog(motion.t, motion.q, motion.qd, motion.qdd, torque, torque)
    lower, upper = (
        model.theta - 0.05 * np.abs(model.theta),
        model.theta + 0.05 * np.abs(model.theta),
    )
    coulomb, offset = (model.layout.joint_entries(kind) for kind in ('Fc', 'beta'))
    lower[coulomb], upper[coulomb] = 0.0, 17.0
    lower[offset], upper[offset] = -6.0, 6.0
    end = model.layout.end_effector
    lower[end] = [0.0, -5.0, -5.0, -5.0, 0.0, -1.25, 0.0, -1.25, -1.25, 0.0]
    upper[end] = [10.0, 5.0, 5.0, 5.0, 2.5, 1.25, 2.5, 1.25, 1.25, 2.5]
    known = Interval(lower, upper)
    fitted, _ = fits(model, known, part)
    W = felt_regressor(model, part.q, part.qd, part.qdd)
    weight = 1.0 / np.std(torque - W @ truth.theta, axis=0)
    errors = [np.linalg.norm((torque - W @ x) * weight) for x in (fitted, truth.theta)]
    assert errors[0] < 1.02 * errors[1]
    assert np.all(np.abs(fitted - known.center) <= known.radius * (1.0 + 1e-12))


@pytest.mark.parametrize(('split', 'side'), [(-1.0, 'before'), (10.0, 'after')])
def test_a_part_without_samples_is_named(model, split, side):
    with pytest.raises(MeasurementError, match=f'left {side} .* from 0.000 to 10.000 s'):
        held_out(model, WIDE, motion(1.0), split, 5.0).validation(model.theta)
