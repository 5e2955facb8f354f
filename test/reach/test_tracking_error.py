"""Tracking errors that follow from V <= V_M, and arms for which nothing follows."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.tracking_error import TrackingError, tracking_error
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains

GAINS = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)


def estimate_of(model, ratio=0.05):
    return ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, ratio))


def largest_errors(rng, error, start, steps=4000, step=1e-3):
    """Largest |e| and |de/dt| when r jumps about within r_max, from |e| = start."""
    e, worst_e, worst_de = start.copy(), np.abs(start), np.zeros_like(start)
    r = -error.r_max
    for i in range(steps):
        if i % 500 == 499:
            r = error.r_max * rng.choice([-1.0, 1.0], len(e))
        worst_de = np.maximum(worst_de, np.abs(r - error.K_r * e))
        decay = np.exp(-error.K_r * step)
        e = decay * e + (1.0 - decay) * r / error.K_r
        worst_e = np.maximum(worst_e, np.abs(e))
    return worst_e, worst_de


@pytest.mark.parametrize('share', [0.0, 1.0, 3.0])
def test_errors_stay_within_their_bounds_and_come_near(share, rng):
    K_r, r_max = rng.uniform(2, 8, 3), rng.uniform(0.01, 0.2, 3)
    start = share * r_max / K_r
    error = TrackingError.of(K_r, r_max, start)
    worst_e, worst_de = largest_errors(rng, error, start)
    assert np.all(worst_e <= error.position * (1 + 1e-12))
    assert np.all(worst_de <= error.velocity * (1 + 1e-12))
    assert np.all(worst_e > 0.8 * error.position)
    assert np.all(worst_de > 0.7 * error.velocity)


def test_kinova_as_published():
    model = RobotModel.named('kinova_gen3')
    error = tracking_error(model, estimate_of(model), GAINS)
    Ia = 0.95 * model.theta[model.layout.joint_entries('Ia')]
    assert np.all(error.r_max <= np.sqrt(0.04 / Ia) * (1 + 1e-12))
    assert error.r_max == pytest.approx(np.sqrt(0.04 / Ia), rel=0.01)
    assert error.position == pytest.approx(error.r_max / 5.0)
    assert error.velocity == pytest.approx(2.0 * error.r_max)


def test_an_error_that_is_already_there_is_part_of_the_bound():
    model = RobotModel.named('kinova_gen3')
    start = np.array([0.5, 0, 0, 0, 0, 0, 0])
    error = tracking_error(model, estimate_of(model), GAINS, at_start=start)
    assert error.position[0] == 0.5
    assert error.velocity[0] >= error.r_max[0] + 2.5


def test_an_arm_without_armature_has_a_bound():
    model = RobotModel.named('lbr_med7')
    error = tracking_error(model, estimate_of(model), replace(GAINS, V_M=1e-5))
    assert np.all(error.r_max < 0.5)


def test_no_bound_says_what_to_change():
    model = RobotModel.named('lbr_med7')
    bounds = ratio_bounds(model.theta, 0.05)
    tip = model.layout.end_effector
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    lower[tip] -= 0.2
    upper[tip] += 0.2
    loose = ParameterEstimate(model.layout, model.theta, Interval(lower, upper))
    with pytest.raises(BoundError, match=r'of A7: its armature .* Give the joint its armature'):
        tracking_error(model, loose, GAINS)
    with pytest.raises(BoundError, match='V_M = 1e\\+308 J bounds no tracking error'):
        tracking_error(model, estimate_of(model), replace(GAINS, V_M=1e308))


def test_gains_of_another_arm_are_refused():
    model = RobotModel.named('two_link')
    with pytest.raises(BoundError, match='the arm has 2 joints, the gains have 7'):
        tracking_error(model, estimate_of(model), GAINS)
