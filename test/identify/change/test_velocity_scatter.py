"""Where nobody said how velocities scatter it is measured, and the test then sees what it can."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.changing_payload import PERIOD, WINDOW, Event, random_motion
from safe_sysid.identify.change.change_kinds import Kind
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import LooksAtOnce
from safe_sysid.identify.change.velocity_scatter import ROOM, VelocityScatter
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

SEEN_BY_BOUNDS = ObservationSettings(window=WINDOW, torque_ratio=(0.025,), position_error=(0.0,))
NOISE = 0.003  # [rad/s]
PICKED = Event('picked', 1.0)
HALF = np.array([1.5, *(0.2,) * 3, *(0.05,) * 6])  # of bounds on the body


def known(motion):
    """Little more than what may be held: bounds on theta multiply errors of velocities."""
    bounds, place = motion.prior.bounds, motion.prior.layout.end_effector
    lower, upper, theta = bounds.lower.copy(), bounds.upper.copy(), motion.prior.theta.copy()
    theta[place] = motion.truth.theta[place]
    lower[place], upper[place] = theta[place] - HALF, theta[place] + HALF
    return ParameterEstimate(motion.prior.layout, theta, Interval(lower, upper))


def noticed(noise, settings, event=PICKED, gap=None):
    """What is noticed of something picked after 3 s of motion, and when that was [ns]."""
    rng = np.random.default_rng(4)
    motion = random_motion(rng, 'lbr_med7', 4.0, 0.05)
    nominal = RobotModel.named('lbr_med7')
    looks = LooksAtOnce(nominal, known(motion), SEEN_BY_BOUNDS, settings)
    k = round(3.0 / PERIOD)
    for first, last, what in ((0, k + 1, None), (k, None, event)):
        log = motion.log(first, what, last)
        velocity = log.velocity + noise * rng.normal(size=log.velocity.shape)
        torque = log.torque.copy()
        if gap is not None and what is None:
            torque[gap] = np.nan
        samples = np.stack([log.position, velocity, torque], axis=1)
        begin = 1 if first else 0
        looks.add((log.stamp[begin:], samples[begin:]))
        if what is None:
            assert looks.found() is None
    return looks.found(), int(motion.motion.stamp[k])


def test_the_scatter_of_a_smooth_motion_is_that_of_its_noise():
    rng, scatter = np.random.default_rng(1), VelocityScatter(3)
    unknown = np.full(3, 0.5)
    t = np.arange(51) * 0.001
    for window in range(60):
        smooth = np.stack([np.sin(2.0 * (t + 0.05 * window)), 0.5 + t, 0.0 * t], axis=1)
        noisy = smooth + NOISE * rng.normal(size=smooth.shape)
        scatter.take(noisy)
    found = scatter.deviation(unknown)
    np.testing.assert_allclose(found[:2], ROOM * NOISE, rtol=0.25)
    assert found[2] == 0.5  # a joint that stands hides what its encoder does in motion


def test_what_nobody_stated_is_measured_and_a_body_that_is_picked_is_noticed():
    measured = ChangeSettings(unmodelled_torque=0.05)
    change, at = noticed(0.001, measured)
    assert change is not None
    assert change.after <= at <= change.before
    assert Kind.PICKED in change.kinds


@pytest.mark.parametrize('noise', [0.0, 0.02])
def test_little_scatter_shows_little_and_much_scatter_is_no_change(noise):
    nothing = Event('picked', 0.0)
    assert noticed(noise, ChangeSettings(unmodelled_torque=0.05), nothing)[0] is None


def test_a_scatter_that_is_stated_too_small_would_be_an_alarm():
    """So the test above can fail."""
    wrong = ChangeSettings(unmodelled_torque=0.05, velocity_noise=1e-4)
    with pytest.raises(AssertionError):
        noticed(0.02, wrong, Event('picked', 0.0))


def test_stamps_of_a_change_are_right_after_a_sample_that_was_no_number():
    """Rows begin anew there; their times are still those of the samples."""
    stated = ChangeSettings(unmodelled_torque=0.05, velocity_noise=0.001)
    change, at = noticed(0.0, stated, gap=1500)
    assert change is not None
    assert change.after <= at <= change.before
