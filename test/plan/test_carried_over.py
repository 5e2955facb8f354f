"""A plan in force counts for another body where a certificate and the measured state say so."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from reach.light_arms import PANDA_HOME, panda, problem_of

from safe_sysid.bench.experiments.handling import HandlingArm, handling_arm
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan import carried_over as module
from safe_sysid.plan.carried_over import carried_over, widened
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.plan_error import plan_error
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.plan import Plan

CLOCK = Clock(0)
STEP = 2.5e-4  # [s] that torques are held; in proportion to it errors may be beyond their bound
HELD = 1.0 + 1e-4  # which is what is left of that


@dataclass(frozen=True, eq=False)
class Moving:
    """An arm, and a plan that moves, made for an empty hand that is well known."""

    arm: HandlingArm
    plan: Plan
    known: ParameterEstimate


@pytest.fixture(scope='module')
def moving():
    arm = handling_arm('two_link', 1)
    prior, truth = arm.loop._identifier.estimate, arm.robot.model
    place = arm.model.layout.end_effector
    theta, lower, upper = prior.theta.copy(), prior.bounds.lower.copy(), prior.bounds.upper.copy()
    hand = truth.theta[place]
    near = Interval.from_center_radius(hand, 0.02 * np.abs(hand) + 1e-3)
    theta[place], lower[place], upper[place] = hand, near.lower, near.upper
    known = ParameterEstimate(arm.model.layout, theta, Interval(lower, upper))
    plan = arm.loop._planner.step(arm.robot.measure(), known).successor
    assert np.abs(plan.k).max() > 0.1
    return Moving(arm, plan, known)


def with_body(plan, arm, body):
    """Bounds of the plan with another body."""
    lower, upper = plan.theta_bounds.lower.copy(), plan.theta_bounds.upper.copy()
    place = arm.model.layout.end_effector
    lower[place], upper[place] = body.lower, body.upper
    return Interval(lower, upper)


def at(plan, arm, seconds, r=None):
    """A sample on the plan, with r off by so much and e = 0."""
    q, qd, _ = plan.desired(plan.start_time + seconds)
    qd = qd if r is None else qd - r
    stamp = CLOCK.stamp(plan.start_time + seconds)
    return JointMeasurement(stamp, q, qd, np.zeros(arm.model.n))


def test_a_plan_counts_for_what_is_held_next_where_it_is_certified(moving):
    plan, arm = moving.plan, moving.arm
    bounds = with_body(plan, arm, arm.held.bounds)
    carried, why = carried_over(plan, bounds, at(plan, arm, 0.5), CLOCK)
    assert why == ''
    assert carried.certificate.holds
    assert carried.theta_bounds.contains(plan.theta_bounds)
    assert carried.theta_bounds.contains(bounds)
    np.testing.assert_array_equal(carried.theta_0, plan.theta_0)
    for t in np.linspace(plan.start_time, plan.end_time, 9):
        np.testing.assert_array_equal(carried.desired(t), plan.desired(t))


def test_a_body_that_asks_for_too_much_torque_is_refused_with_the_margin(moving):
    plan, arm = moving.plan, moving.arm
    body = arm.held.bounds
    heavy = Interval(body.lower, body.upper + np.array([20.0, 10.0, *(0.0,) * 8]))
    bounds = with_body(plan, arm, heavy)
    carried, why = carried_over(plan, bounds, at(plan, arm, 0.5), CLOCK)
    assert carried is None
    assert 'torque of joint' in why


def test_a_state_with_too_much_energy_of_any_body_is_refused(moving):
    plan, arm = moving.plan, moving.arm
    bounds = with_body(plan, arm, arm.held.bounds)
    both = widened(plan, bounds).theta_bounds
    q = plan.desired(plan.start_time + 0.5)[0]
    way = np.array([1.0, 0.6])
    most = float(kinetic_energy(arm.model, both, q, way).upper)
    V_M = arm.loop._planner.gains.V_M
    for share, is_granted in ((0.99, True), (1.01, False)):
        r = way * np.sqrt(share * V_M / most)
        carried, why = carried_over(plan, bounds, at(plan, arm, 0.5, r), CLOCK)
        assert (carried is not None) == is_granted, why
    assert 'V_M' in why


def test_an_arm_far_from_its_plan_is_refused(moving):
    plan, arm = moving.plan, moving.arm
    bounds = with_body(plan, arm, arm.held.bounds)
    sample = at(plan, arm, 0.5)
    off = replace(sample, position=sample.position + np.array([0.05, 0.0]))
    assert carried_over(plan, bounds, off, CLOCK)[0] is None


def test_a_plan_without_a_certificate_is_refused(moving):
    plan, arm = moving.plan, moving.arm
    carried, why = carried_over(
        replace(plan, certificate=None), plan.theta_bounds, at(plan, arm, 0.5), CLOCK
    )
    assert (carried, why) == (None, 'the plan in force has no certificate')


def test_an_error_that_is_allowed_for_at_a_time_stays_in_the_tube(rng):
    """Of a light arm, with r the worst at every time; what is allowed for a whole step is more."""
    problem = problem_of(panda(), PANDA_HOME, 5e-4, move=0.5)
    error, K_r, step = plan_error(problem), problem.gains.K_r, 0.01
    certificate, tube = PlanCertificate(problem, error, {}), error.tube
    for t in (0.41, 1.3):
        inner = module._left_at(certificate, tube, t)
        assert np.linalg.eigvals(np.linalg.solve(tube.position_shape(t), inner)).max() < 1.0
        L = np.linalg.cholesky(inner)
        for _ in range(5):
            z, c = rng.normal(size=(2, len(K_r)))
            e, now = L @ z / np.linalg.norm(z), t
            assert module._contains(certificate, t, 0.999 * e)
            assert not module._contains(certificate, t, 1.001 * e)
            while now < problem.horizon.curve.duration - step:
                s = min(int(np.searchsorted(tube.time.upper, now + step)), len(tube.r) - 1)
                pulled = tube.r[s].T @ c
                r = tube.r[s] @ pulled / np.linalg.norm(pulled)
                decay = np.exp(-K_r * step)
                e, now = decay * e + (1.0 - decay) * r / K_r, now + step
                assert np.linalg.norm(np.linalg.solve(tube.e[s], e)) <= 1.0 + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(6))
def test_no_body_leads_the_arm_out_of_what_is_certified(moving, seed):
    """From V = V_M at any time of the plan on, with bodies at corners of the bounds."""
    rng, arm, plan = np.random.default_rng(seed), moving.arm, moving.plan
    bounds = with_body(plan, arm, arm.held.bounds)
    both = widened(plan, bounds).theta_bounds
    since = rng.uniform(0.0, plan.motion.duration - 0.1)
    q = plan.desired(plan.start_time + since)[0]
    way = rng.normal(size=arm.model.n)
    most = float(kinetic_energy(arm.model, both, q, way).upper)
    r = way * np.sqrt(0.999 * arm.loop._planner.gains.V_M / most)
    sample = at(plan, arm, since, r)
    carried, why = carried_over(plan, bounds, sample, CLOCK)
    assert carried is not None, why
    theta = np.where(rng.random(len(both.lower)) < 0.5, both.lower, both.upper)
    place = arm.model.layout.end_effector
    theta[place] = arm.robot.model.theta[place] + rng.choice([0.0, 1.0]) * (
        arm.held.nominal - arm.robot.model.theta[place]
    )
    truth = arm.model.with_parameters(theta)
    law = RobustPassivityController(arm.model, arm.loop._planner.gains, CLOCK)
    wide = ParameterEstimate(arm.model.layout, carried.theta_0, carried.theta_bounds)
    body, error = RigidBody(truth), carried.certificate.error
    t = plan.start_time + since
    q, qd, stamp = sample.position, sample.velocity, sample.stamp
    while t < plan.end_time:
        seen = JointMeasurement(stamp, q, qd, np.zeros(arm.model.n))
        torque = law.step(seen, carried, wide)  # by the bounds of before it would leave them
        assert np.all(np.abs(torque) <= arm.model.limits.torque)
        q, qd = body.advance(q, qd, torque, STEP)
        stamp += round(STEP * 1e9)
        t = CLOCK.seconds(stamp)
        q_d, qd_d, _ = plan.desired(t)
        assert np.all(np.abs(q_d - q) <= HELD * error.position)
        assert np.all(np.abs(qd_d - qd) <= HELD * error.velocity)
