"""Adaptive robust law: learns inside its bounds, and withstands what it can't learn."""

import numpy as np
import pytest
from track.baselines.follow import arm_at, certain, exciting_plans, follow, resting_plan
from track.law_states import CLOCK, estimate_of

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.baselines.adaptation import Adaptation, rates_of_all
from safe_sysid.track.baselines.adaptive_robust import (
    AdaptiveRobustController,
    AdaptiveRobustSettings,
)


def controller_of(model, rho, rates):
    estimate = estimate_of(model)
    adaptation = Adaptation(rates, model.theta, estimate.bounds)
    settings = AdaptiveRobustSettings(rho=rho)
    return AdaptiveRobustController(model, settings, CLOCK, adaptation), adaptation


def test_robust_term_is_rho_outside_the_layer_and_linear_inside():
    arm = RobotModel.named('two_link')
    nothing = np.zeros(arm.layout.size)
    plan = resting_plan(np.array([0.2, 0.4]))
    for r, share in ((0.5, 1.0), (0.0125, 0.25), (0.0, 0.0), (-0.5, -1.0)):
        measured = arm_at(arm, plan.curve.q0 - r / 5.0).measure()
        with_term, without = (
            controller_of(arm, rho, nothing)[0].step(measured, plan, certain(arm))
            for rho in ((3.0, 2.0), (0.0,))
        )
        assert np.allclose(with_term - without, share * np.array([3.0, 2.0]))


@pytest.mark.slow
def test_it_learns_inside_its_bounds_and_follows_an_arm_outside_of_them(rng):
    """A constant load of 3 N m that no entry of [theta] explains."""
    known = RobotModel.named('two_link')
    theta = known.theta.copy()
    theta[known.layout.joint_entries('beta')] += 3.0
    truth = known.with_parameters(theta)
    q = np.array([0.4, -0.8])
    plans = exciting_plans(rng, q, 4)
    worst = {}
    for rho in (0.0, 4.0):
        controller, adaptation = controller_of(known, (rho,), rates_of_all(known.layout))
        errors = follow(controller, arm_at(truth, q), plans, certain(known), 6.0)
        assert estimate_of(known).bounds.contains(adaptation.theta)
        assert not np.array_equal(adaptation.theta, known.theta)
        worst[rho] = np.max(np.abs(errors[3000:]))
    assert worst[4.0] < 0.3 * worst[0.0]
