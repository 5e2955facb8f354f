"""The robust controller: parameters change only where that is safe; bad input is refused."""

from dataclasses import replace

import numpy as np
import pytest
from track.law_states import CLOCK, estimate_of, gains_for, random_arm, random_plan

from safe_sysid.errors import BoundError, ConfigError, MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import minimum_jerk


def measured(plan, t, e, ed):
    stamp = CLOCK.stamp(t)
    q, qd, _ = plan.desired(CLOCK.seconds(stamp))
    return JointMeasurement(stamp, q - e, qd - ed, np.zeros_like(q))


def controller_for(model):
    return RobustPassivityController(model, gains_for(model.n), CLOCK)


@pytest.fixture
def arm():
    return RobotModel.named('kinova_gen3')


@pytest.fixture
def plan(arm, rng):
    return random_plan(rng, estimate_of(arm))


def test_bounds_never_widen(arm, plan, rng):
    """Whatever estimates come, [theta] in use stays inside the plan's, and changes with plans."""
    controller = controller_for(arm)
    certified = plan.theta_bounds
    estimates = [estimate_of(arm, ratio) for ratio in (0.1, 0.05, 0.01, 0.2, 0.001)]
    first = controller.step(measured(plan, 0.1, 0.01, 0.02), plan, estimates[0])
    assert controller.bounds is certified
    for t, estimate in zip((0.2, 0.3, 0.4, 0.5), estimates[1:], strict=True):
        controller.step(measured(plan, t, 0.01, 0.02), plan, estimate)
        assert controller.bounds is certified
    again = controller.step(measured(plan, 0.1, 0.01, 0.02), plan, estimates[4])
    assert np.array_equal(first, again)
    following = random_plan(rng, estimates[1])
    for estimate in estimates:
        controller.step(measured(following, 0.1, 0.01, 0.02), replace(following), estimate)
        assert following.theta_bounds.contains(controller.bounds)
        narrower = following.theta_bounds.contains(estimate.bounds)
        assert (controller.bounds is estimate.bounds) == narrower


def test_an_estimate_of_another_payload_is_not_taken_over(arm, plan):
    """As narrow as can be, but beside the bounds that the plan was certified for."""
    theta = arm.theta.copy()
    theta[arm.layout.end_effector] *= 1.2
    other = ParameterEstimate(arm.layout, theta, Interval.of(theta))
    controller = controller_for(arm)
    controller.step(measured(plan, 0.1, 0.01, 0.02), plan, other)
    assert controller.bounds is plan.theta_bounds


@pytest.mark.slow
def test_smaller_bounds_never_ask_for_more_robust_torque(rng):
    """So the torque stays in the set that was certified, even where theta_0 is outside of them."""
    smaller = 0
    for _ in range(200):
        model = random_arm(rng)
        estimate = estimate_of(model)
        plan = random_plan(rng, estimate)
        wide = estimate.bounds
        ends = np.sort(rng.uniform(wide.lower, wide.upper, size=(2, model.layout.size)), axis=0)
        inside = Interval(*ends)
        narrow = ParameterEstimate(model.layout, inside.center, inside)
        laws = []
        e, ed = 0.005 * rng.normal(size=(2, model.n))
        for given in (estimate, narrow):
            controller = controller_for(model)
            controller.step(measured(plan, 0.7, e, ed), plan, given)
            laws.append(controller.last)
        if laws[1].energy.lower > 0.02:
            continue  # a promise is broken, and the arm is led back
        assert np.array_equal(laws[0].nominal, laws[1].nominal)
        assert np.all(laws[1].disturbance <= laws[0].disturbance + 1e-12)
        assert laws[1].energy.upper <= laws[0].energy.upper
        assert np.all(np.abs(laws[1].robust) <= np.abs(laws[0].robust) + 1e-12)
        smaller += np.any(np.abs(laws[1].robust) < np.abs(laws[0].robust))
    assert smaller > 0


def test_the_arm_is_compared_with_the_plan_at_the_time_of_the_stamp(rng):
    for t in (0.0, 0.3, 1.5, 2.999999999, 3.0, 50.0):
        model = random_arm(rng)
        estimate = estimate_of(model)
        plan = random_plan(rng, estimate)
        controller = controller_for(model)
        e, ed = 0.01 * rng.normal(size=(2, model.n))
        controller.step(measured(plan, t, e, ed), plan, estimate)
        assert np.allclose(controller.last.e, e, rtol=0.0, atol=1e-13)
        assert np.allclose(controller.last.r, ed + 5.0 * e, rtol=0.0, atol=1e-13)


def test_a_plan_of_two_pieces_is_compared_piece_by_piece(rng):
    """At every time of both pieces and after them, with end states that are not rest between."""
    for _ in range(20):
        model = random_arm(rng)
        estimate = estimate_of(model)
        start, (via, goal) = rng.normal(size=(3, model.n)), rng.normal(size=(2, model.n))
        first, second = minimum_jerk(start, via, goal, (0.8, 1.3)).pieces
        theta = estimate.bounds, None, estimate.theta
        plan = Plan(0.0, 0.8, first.curve, first.k, *theta, then=(second,))
        controller = controller_for(model)
        for t in (0.0, 0.4, 0.799999999, 0.8, 0.800000001, 1.5, 2.099999999, 2.1, 9.0):
            e, ed = 0.01 * rng.normal(size=(2, model.n))
            controller.step(measured(plan, t, e, ed), plan, estimate)
            assert np.allclose(controller.last.e, e, rtol=0.0, atol=1e-12)
            assert np.allclose(controller.last.r, ed + 5.0 * e, rtol=0.0, atol=1e-12)


def test_energy_and_torque_have_no_jump_between_the_pieces(rng):
    """Nor do [theta] and theta_0 change there, whatever estimate comes."""
    for _ in range(20):
        model = random_arm(rng)
        estimate = estimate_of(model)
        start, (via, goal) = rng.normal(size=(3, model.n)), rng.normal(size=(2, model.n))
        first, second = minimum_jerk(start, via, goal).pieces
        theta = estimate.bounds, None, estimate.theta
        plan = Plan(0.0, 1.0, first.curve, first.k, *theta, then=(second,))
        controller, laws, torques, bounds = controller_for(model), [], [], []
        e, ed = 0.02 * rng.normal(size=(2, model.n))
        for nanoseconds, ratio in ((-1, 0.05), (0, 0.01), (1, 0.2)):
            sample = measured(plan, 1.0, e, ed)
            sample = replace(sample, stamp=sample.stamp + nanoseconds)
            torques.append(controller.step(sample, plan, estimate_of(model, ratio)))
            laws.append(controller.last)
            bounds.append(controller.bounds)
        assert bounds[1] is bounds[0] and bounds[2] is bounds[0]
        for law, torque in zip(laws[1:], torques[1:], strict=True):
            assert law.energy.upper == pytest.approx(laws[0].energy.upper, rel=1e-5)
            assert np.allclose(torque, torques[0], rtol=1e-4, atol=1e-4)


def test_full_turns_of_a_continuous_joint_make_no_difference(arm, plan):
    continuous = arm.limits.is_continuous
    assert 0 < continuous.sum() < arm.n
    estimate = estimate_of(arm)
    straight = measured(plan, 0.5, 0.01, 0.02)
    torque = controller_for(arm).step(straight, plan, estimate)
    for turns in (-3, 1, 20):
        turned = replace(straight, position=straight.position + 2.0 * np.pi * turns * continuous)
        again = controller_for(arm).step(turned, plan, estimate)
        assert np.allclose(again, torque, rtol=0.0, atol=1e-9)
    bent = replace(straight, position=straight.position + 2.0 * np.pi * ~continuous)
    controller = controller_for(arm)
    controller.step(bent, plan, estimate)
    assert np.allclose(controller.last.e[~continuous], 0.01 - 2.0 * np.pi)


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('name', ['position', 'velocity'])
def test_a_measurement_that_is_not_finite_is_refused_by_name(arm, plan, name, value):
    bad = measured(plan, 0.5, 0.0, 0.0)
    getattr(bad, name)[3] = value
    with pytest.raises(MeasurementError, match='joint joint_4 is measured at'):
        controller_for(arm).step(bad, plan, estimate_of(arm))


def test_a_measurement_of_the_wrong_length_is_refused(arm, plan):
    good = measured(plan, 0.5, 0.0, 0.0)
    for change in ({'position': np.zeros(6)}, {'velocity': np.zeros(1)}):
        with pytest.raises(MeasurementError, match='kinova_gen3 has 7 joints'):
            controller_for(arm).step(replace(good, **change), plan, estimate_of(arm))


def test_a_plan_that_has_not_begun_or_certifies_nothing_is_refused(arm, plan):
    estimate = estimate_of(arm)
    controller = controller_for(arm)
    early = replace(measured(plan, 0.0, 0.0, 0.0), stamp=CLOCK.origin - 1)
    with pytest.raises(BoundError, match='before the plan starts'):
        controller.step(early, plan, estimate)
    bare = replace(plan, theta_0=None)
    for uncertified in (bare, replace(bare, theta_bounds=None)):
        with pytest.raises(BoundError, match='has to say which parameters'):
            controller.step(measured(plan, 0.5, 0.0, 0.0), uncertified, estimate)


def test_gains_of_another_arm_are_refused(arm):
    with pytest.raises(ConfigError, match='K_r has 2 entries, kinova_gen3 has 7 joints'):
        RobustPassivityController(arm, gains_for(2), CLOCK)


def test_torques_are_the_callers_own(arm, plan):
    controller = controller_for(arm)
    estimate = estimate_of(arm)
    first = controller.step(measured(plan, 0.5, 0.01, 0.0), plan, estimate)
    kept = first.copy()
    controller.step(measured(plan, 0.6, -0.01, 0.0), plan, estimate)
    assert np.array_equal(first, kept)
