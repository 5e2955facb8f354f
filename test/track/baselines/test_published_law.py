"""The law with one gain for all joints: what it asks for is what the text says."""

import numpy as np
import pytest
from track.law_states import CLOCK, estimate_of, gains_for, random_arm, random_plan, random_theta

from safe_sysid.errors import BoundError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.baselines.published_law import PublishedController
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.tracking import law_regressor


def stepped(rng, V_M):
    """A random arm, what both laws make of its state, and what they start from."""
    model = random_arm(rng)
    gains, estimate = gains_for(model.n, V_M=V_M, sign_speed=0.02), estimate_of(model)
    plan = random_plan(rng, estimate)
    stamp = CLOCK.stamp(rng.uniform(0.0, 3.0))
    q_d, qd_d, qdd_d = plan.desired(CLOCK.seconds(stamp))
    e, ed = 0.02 * rng.normal(size=(2, model.n))
    measured = JointMeasurement(stamp, q_d - e, qd_d - ed, np.zeros(model.n))
    exact, robust = (
        law(model, gains, CLOCK) for law in (PublishedController, RobustPassivityController)
    )
    torque = exact.step(measured, plan, estimate)
    robust.step(measured, plan, estimate)
    motion = (q_d - e, qd_d - ed, qd_d + gains.K_r * e, qdd_d + gains.K_r * ed)
    return model, estimate, torque, robust.last, law_regressor(model, *motion), motion[1]


def test_nominal_torque_and_direction_are_those_of_the_text(rng):
    for _ in range(30):
        _, _, torque, last, _, _ = stepped(rng, 1e-6)
        v = torque - last.nominal
        gain = (v @ last.r) / (last.r @ last.r)
        np.testing.assert_allclose(v, gain * last.r, rtol=1e-7, atol=1e-7)
        back = gains_for(len(v)).alpha * (last.energy.upper - 1e-6)
        expected = np.abs(last.r) @ last.disturbance + back
        assert v @ last.r == pytest.approx(expected, rel=1e-7)


def test_it_is_idle_far_below_the_limit(rng):
    for _ in range(10):
        _, _, torque, last, _, _ = stepped(rng, 1e3)
        np.testing.assert_allclose(torque, last.nominal, rtol=1e-9, atol=1e-9)


def test_energy_does_not_grow_where_it_is_at_its_limit(rng):
    for _ in range(30):
        model, estimate, torque, last, W_s, qd = stepped(rng, 1e-6)
        theta = random_theta(rng, estimate.bounds)
        Fc = theta[model.layout.joint_entries('Fc')]
        s = np.where(np.abs(qd) <= 0.02, rng.choice([-1.0, 1.0], model.n), np.sign(qd))
        growth = last.r @ (W_s @ theta + Fc * s - torque)
        assert growth <= 1e-9 * np.abs(last.r) @ last.disturbance


def test_a_plan_for_no_parameters_is_refused(rng):
    model = random_arm(rng, 2)
    plan = random_plan(rng, estimate_of(model))
    bare = type(plan)(plan.start_time, plan.switch_time, plan.curve, plan.k)
    law = PublishedController(model, gains_for(2), CLOCK)
    measured = JointMeasurement(CLOCK.stamp(0.1), plan.curve.q0, plan.curve.qd0, np.zeros(2))
    with pytest.raises(BoundError, match='which parameters it was certified for'):
        law.step(measured, bare, estimate_of(model))
