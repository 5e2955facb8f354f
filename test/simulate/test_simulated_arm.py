"""A simulated arm behaves like an arm: time, saturation, payloads, late and wrong samples."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import ConfigError, SimulationError
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm


@pytest.fixture
def kinova():
    return RobotModel.named('kinova_gen3')


def gravity_torque(model, q):
    rigid = model.pinocchio()
    return pin.computeGeneralizedGravity(rigid, rigid.createData(), q)


def test_it_starts_at_rest_at_time_zero_and_time_passes_by_the_period(rng, kinova):
    q = rng.normal(size=7)
    arm = SimulatedArm(kinova, q, rng, ArmSettings(period=0.002))
    first = arm.measure()
    assert first.stamp == 0
    np.testing.assert_array_equal(first.position, q)
    np.testing.assert_array_equal(first.velocity, np.zeros(7))
    np.testing.assert_array_equal(first.torque, np.zeros(7))
    stamps = []
    for _ in range(5):
        arm.apply(np.zeros(7))
        stamps.append(arm.measure().stamp)
    assert stamps == [2_000_000 * k for k in range(1, 6)]
    assert all(isinstance(stamp, int) for stamp in stamps)


def test_a_sample_has_the_torque_that_was_held_until_its_stamp(rng, kinova):
    arm = SimulatedArm(kinova, np.zeros(7), rng)
    for k in range(1, 4):
        arm.apply(np.full(7, float(k)))
        np.testing.assert_array_equal(arm.measure().torque, np.full(7, float(k)))


def test_its_motion_is_that_of_its_dynamics(rng, kinova):
    q, torques = rng.normal(size=7), 10 * rng.normal(size=(20, 7))
    arm, body, state = SimulatedArm(kinova, q, rng), RigidBody(kinova), (q, np.zeros(7))
    for torque in torques:
        arm.apply(torque)
        state = body.advance(*state, torque, 0.001)
        np.testing.assert_array_equal(arm.truth.position, state[0])
        np.testing.assert_array_equal(arm.truth.velocity, state[1])


def test_torque_beyond_the_limits_is_cut_off_and_that_is_measured(rng, kinova):
    limit = kinova.limits.torque
    asked = limit * np.array([2.0, -3.0, 1.0, 0.5, -1.0, 1e9, 0.0])
    over, within = (SimulatedArm(kinova, np.zeros(7), rng) for _ in range(2))
    over.apply(asked)
    within.apply(np.clip(asked, -limit, limit))
    np.testing.assert_array_equal(over.truth.torque, np.clip(asked, -limit, limit))
    np.testing.assert_array_equal(over.truth.velocity, within.truth.velocity)


def test_measuring_twice_gives_the_same_sample(rng, kinova):
    noisy = SensorSettings(velocity_noise=(0.1,), torque_error=(0.1,))
    arm = SimulatedArm(kinova, np.zeros(7), rng, ArmSettings(sensors=noisy))
    arm.apply(np.ones(7))
    assert arm.measure() is arm.measure()
    assert (arm.measure().velocity != arm.truth.velocity).all()


def test_nobody_can_reach_into_the_arm(rng, kinova):
    q, torque = rng.normal(size=7), np.ones(7)
    arm, untouched = (SimulatedArm(kinova, q, np.random.default_rng(1)) for _ in range(2))
    q[:] = 9.0
    arm.truth.position[:] = 9.0
    arm.measure().velocity[:] = 9.0
    arm.apply(torque)
    torque[:] = 9.0
    arm.truth.torque[:] = 9.0
    arm.apply(np.ones(7))
    untouched.apply(np.ones(7))
    untouched.apply(np.ones(7))
    np.testing.assert_array_equal(arm.truth.position, untouched.truth.position)
    np.testing.assert_array_equal(arm.truth.torque, np.ones(7))


def test_a_payload_pulls_from_the_sample_it_is_attached_at_until_it_is_detached(rng, kinova):
    payload = read_payload('dumbbell_8lb')
    q = np.array([0.1, 0.9, 0.2, -0.8, 0.3, 0.5, 0.1])
    arm = SimulatedArm(kinova, q, rng)
    hold, hold_loaded = (gravity_torque(m, q) for m in (kinova, kinova.with_payload(payload)))
    assert np.abs(hold - hold_loaded).max() > 5.0
    for torque, change in [(hold, arm.attach), (hold_loaded, arm.detach), (hold, None)]:
        for _ in range(10):
            arm.apply(torque)
        np.testing.assert_allclose(arm.truth.velocity, 0.0, atol=1e-9)
        if change == arm.attach:
            change(payload)
            assert 'dumbbell_8lb.' in arm.model.capsules.names[-1]
        elif change:
            change()
            assert arm.model is kinova
    arm.attach(payload)
    before = arm.truth
    arm.apply(hold)
    arm.apply(hold)
    assert arm.truth.stamp == before.stamp + 2_000_000
    assert np.abs(arm.truth.velocity).max() > 1e-4


def test_one_payload_takes_the_place_of_another(rng, kinova):
    arm = SimulatedArm(kinova, np.zeros(7), rng)
    arm.attach(read_payload('dumbbell_4lb'))
    arm.attach(read_payload('dumbbell_8lb'))
    expected = kinova.with_payload(read_payload('dumbbell_8lb')).theta
    np.testing.assert_array_equal(arm.model.theta, expected)


def test_other_parameters_go_on_from_the_same_state(rng, kinova):
    arm = SimulatedArm(kinova, rng.normal(size=7), rng)
    arm.apply(np.ones(7))
    before = arm.truth
    heavier = kinova.with_parameters(1.1 * kinova.theta)
    arm.become(heavier)
    np.testing.assert_array_equal(arm.truth.velocity, before.velocity)
    arm.apply(np.ones(7))
    expected = RigidBody(heavier).advance(before.position, before.velocity, np.ones(7), 0.001)
    np.testing.assert_array_equal(arm.truth.velocity, expected[1])


@pytest.mark.parametrize(
    ('torque', 'sentence'),
    [
        (np.zeros(6), r'torque has shape \(6,\); kinova_gen3 needs \(7,\), one per joint'),
        (np.zeros((7, 1)), r'torque has shape \(7, 1\)'),
        (np.array([0, 0, np.nan, 0, 0, 0, 0]), 'torque of joint_3 is nan; it has to be finite'),
        (np.array([0, 0, 0, 0, 0, 0, -np.inf]), 'torque of joint_7 is -inf'),
    ],
)
def test_torque_that_is_none_is_refused_and_time_stands_still(rng, kinova, torque, sentence):
    arm = SimulatedArm(kinova, np.zeros(7), rng)
    with pytest.raises(SimulationError, match=sentence):
        arm.apply(torque)
    assert arm.truth.stamp == 0


@pytest.mark.parametrize('period', [0.0, -0.001, np.nan, np.inf, 1e-10])
def test_a_period_that_is_none_is_refused(period):
    with pytest.raises(ConfigError, match=r'period is .*, it has to be at least 1e-09'):
        ArmSettings(period=period)


def test_starts_and_payloads_that_do_not_fit_are_refused(rng, kinova):
    with pytest.raises(SimulationError, match='position of joint_1 is nan'):
        SimulatedArm(kinova, np.full(7, np.nan), rng)
    arm = SimulatedArm(kinova, np.zeros(7), rng)
    payload = read_payload('dumbbell_8lb')
    with pytest.raises(ConfigError, match="does not say how 'kinova_gen3' holds it"):
        arm.attach(replace(payload, placements={}))
    with pytest.raises(SimulationError, match='they differ in their joints'):
        arm.become(random_tree(rng, 7, serial=True))
    turned = kinova.tree._replace(axis=-kinova.tree.axis)
    with pytest.raises(SimulationError, match='they differ in their joints'):
        arm.become(replace(kinova, tree=turned))
