"""A refusal names the armature that would do, and with that armature it does."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibrated_arms import CalibratedArm
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.errors import BoundError
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, stand_still
from safe_sysid.reach.needed_inertia import needed_inertia, needed_sentence
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.track.gains import Gains

V_M = 0.002


def velocity_errors(armature):
    """Bounds of an LBR whose joints all have these armatures for certain."""
    model = RobotModel.named('lbr_med7')
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Ia')] = armature
    estimate = ParameterEstimate(model.layout, theta, ratio_bounds(theta, 0.0))
    gains = Gains(np.full(7, 10.0), V_M, 25.0)
    return tracking_error(model, estimate, gains).velocity, model.limits.velocity


def test_half_of_a_velocity_limit_is_left_to_plans():
    limit = RobotModel.named('lbr_med7').limits.velocity
    enough = np.array([needed_inertia(V_M, v) for v in limit])
    velocity, limit = velocity_errors(enough)
    assert np.all(velocity <= 0.5 * limit * (1.0 + 1e-9))
    velocity, limit = velocity_errors(0.2 * enough)
    assert velocity[6] > 0.5 * limit[6]  # bodies alone do not do it


def test_a_refused_start_names_the_figure():
    arm = CalibratedArm.without_armature('lbr_med7')
    problem = at_rest(arm.model, arm.estimate, np.full(7, 0.4), NO_OBSTACLES)
    problem = replace(problem, gains=arm.gains)
    said = str(stand_still(problem, Budget.of(60.0), SearchSettings()))
    speed = arm.model.limits.velocity[6]
    assert 'velocity of A7' in said
    assert needed_sentence('A7', V_M, speed, 0.0) in said


def test_so_does_an_error_without_any_bound():
    model = RobotModel.named('lbr_med7')
    estimate = ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, 0.9))
    with pytest.raises(BoundError, match=r'kg m\^2 for certain would do for V_M = 0.002 J'):
        tracking_error(model, estimate, Gains(np.full(7, 10.0), V_M, 25.0))


def test_a_joint_without_velocity_limit_has_no_figure():
    assert 'would do' not in needed_sentence('A7', V_M, np.inf, 0.0)
