"""MuJoCo agrees with the built-in simulator to rounding, and with dry friction to its softness."""

from dataclasses import replace
import subprocess
import sys

import numpy as np
import pytest
from simulate.held_torque import compare_readings, motion, sines, without_coulomb

from safe_sysid.errors import SimulationError
from safe_sysid.export.arm_mjcf import write_mjcf
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
from safe_sysid.simulate.mujoco import MjcfArm, MujocoBody, creep_of

PERIOD = 0.001  # [s]
COULOMB = np.array([3.0] * 4 + [1.0] * 3)  # [N m]


def kinova(coulomb=0.0):
    """With a dumbbell, and with dry friction that its own file does not have."""
    model = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = coulomb
    return model.with_parameters(theta)


def arms():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        yield without_coulomb(random_tree(rng, n, bool(seed % 2), armature=0.3))
    yield kinova()


@pytest.mark.parametrize('model', list(arms()), ids=lambda model: f'{model.name} {model.n}')
def test_a_second_of_the_same_torque_leads_to_the_same_state(rng, model):
    q, torques = rng.normal(size=model.n), sines(rng, model.n, 1000, PERIOD, 10.0)
    ours, theirs = (
        motion(body, q, np.zeros(model.n), torques, PERIOD)
        for body in (RigidBody(model), MujocoBody(model))
    )
    assert np.ptp(ours[:, 0], axis=0).max() > 0.05
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * max(1.0, np.abs(ours).max()))


def test_in_motion_dry_friction_differs_by_its_softness(rng):
    model = kinova(COULOMB)
    q, torques = np.full(7, 0.4), sines(rng, 7, 1000, PERIOD, 40.0)
    ours, theirs = (
        motion(body, q, np.zeros(7), torques, PERIOD)
        for body in (RigidBody(model), MujocoBody(model))
    )
    assert np.abs(ours[:, 1]).max() > 0.2
    assert (np.diff(np.sign(ours[1:, 1]), axis=0) != 0).sum() > 5
    np.testing.assert_allclose(ours[:, 0], theirs[:, 0], rtol=0.0, atol=3e-5)


@pytest.mark.parametrize('name', ['two_link', 'lbr_med7'])
def test_a_turn_costs_no_more_momentum_than_an_identifier_is_told(rng, name):
    """Against the built-in simulator, which finds the instant at which a joint turns."""
    arm = RobotModel.named(name)
    theta, layout = arm.theta.copy(), arm.layout
    theta[layout.joint_entries('Fc')], theta[layout.joint_entries('Ia')] = 0.6, 0.05
    arm = arm.with_parameters(theta)
    creep, missing = creep_of(arm, Interval.of(theta)), np.zeros(arm.n)
    theirs, ours = MujocoBody(arm), RigidBody(arm)
    for _ in range(300):
        q, qd = rng.uniform(-1.0, 1.0, arm.n), rng.uniform(-5e-3, 5e-3, arm.n)
        weight = standard_regressor(arm, q[None], 0.0 * q[None], 0.0 * q[None])[0] @ theta
        torque = weight + rng.uniform(-1.5, 1.5, arm.n)
        seen, true = (body.advance(q, qd, torque, 1e-3)[1] for body in (theirs, ours))
        H = mass_matrix(arm, theta, q)
        missing = np.maximum(missing, np.abs(H @ (seen - true)) / (creep * H.diagonal()))
    assert 0.2 < missing.max() <= 1.0


def test_a_joint_that_should_stand_creeps_by_less_than_a_microradian_per_second():
    model = kinova(COULOMB)
    model = replace(model, tree=model.tree._replace(gravity=np.zeros(3)))
    torques = np.tile(0.5 * COULOMB + model.layout.friction(model.theta)[3], (1000, 1))
    ours, theirs = (
        motion(body, np.full(7, 0.4), np.zeros(7), torques, PERIOD)
        for body in (RigidBody(model), MujocoBody(model))
    )
    assert not ours[:, 1].any()
    assert 0.0 < np.abs(theirs[:, 1]).max() <= 1e-6


def test_viscous_friction_that_is_too_stiff_for_an_explicit_rule_ends_at_the_same_speed():
    model = RobotModel.named('lbr_med7')  # no armature
    layout, theta = model.layout, model.theta.copy()
    theta[layout.joint_entries('Fv')] = 50.0
    model = without_coulomb(model.with_parameters(theta))
    torques = np.full((300, 7), 2.0)
    ours, theirs = (
        motion(body, np.full(7, 0.4), np.zeros(7), torques, PERIOD)
        for body in (RigidBody(model), MujocoBody(model))
    )
    assert np.abs(ours[-1, 1]).max() > 0.05
    np.testing.assert_allclose(ours[-1], theirs[-1], rtol=0.0, atol=2e-3)


def test_it_is_an_arm_like_the_other_one_with_sensors_and_payloads(rng):
    compare_readings(MujocoBody, rng, 1e-12)


def test_with_described_drives_and_sensors_it_reads_what_the_other_one_reads():
    model = kinova()
    settings = ArmSettings(actuators='described', readings='described')
    ours, theirs = (
        SimulatedArm(model, np.full(7, 0.4), np.random.default_rng(3), settings, dynamics)
        for dynamics in (RigidBody, MujocoBody)
    )
    for k in range(100):
        for arm in (ours, theirs):
            arm.apply(30.0 * np.cos(0.1 * k + np.arange(7)))
    np.testing.assert_allclose(ours.truth.position, theirs.truth.position, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(ours.truth.velocity, theirs.truth.velocity, rtol=0.0, atol=1e-10)


def test_what_follows_from_a_state_does_not_depend_on_the_one_before(rng):
    body = MujocoBody(kinova(COULOMB))
    q, qd = rng.normal(size=(2, 7))
    once = body.advance(q, qd, np.ones(7), PERIOD)
    body.advance(rng.normal(size=7), rng.normal(size=7), np.zeros(7), 0.1)
    np.testing.assert_array_equal(body.advance(q, qd, np.ones(7), PERIOD), once)


def test_an_mjcf_moves_as_the_arm_that_it_was_made_of(rng, tmp_path):
    model = kinova()
    path = tmp_path / 'arm.xml'
    write_mjcf(model, path)
    q, torques = np.full(7, 0.3), sines(rng, 7, 100, PERIOD, 20.0)
    ours, theirs = (
        motion(body, q, np.zeros(7), torques, PERIOD)
        for body in (RigidBody(model), MujocoBody.of_file(model, path))
    )
    assert np.abs(ours[-1, 0] - q).max() > 1e-4
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-10)


def test_an_mjcf_that_is_not_this_arm_is_refused(tmp_path):
    model = RobotModel.named('two_link')
    path = tmp_path / 'arm.xml'
    write_mjcf(model, path)
    with pytest.raises(SimulationError, match='kinova_gen3 needs .*weld the others'):
        MujocoBody.of_file(kinova(), path)
    arm = SimulatedArm(model, np.zeros(2), np.random.default_rng(0), dynamics=MjcfArm(path))
    with pytest.raises(SimulationError, match='can not hold something else'):
        arm.attach(read_payload('dumbbell_5lb'))
    path.write_text('<mujoco><worldbody><body/>')
    with pytest.raises(SimulationError, match='can not be read by MuJoCo'):
        MujocoBody.of_file(model, path)


def test_a_state_out_of_range_is_an_error_and_no_new_beginning():
    body = MujocoBody(RobotModel.named('two_link'))
    with pytest.raises(SimulationError, match='MuJoCo can not go on with two_link'):
        body.advance(np.zeros(2), np.zeros(2), np.array([1e12, 0.0]), PERIOD)


def test_what_mujoco_cannot_simulate_says_why():
    model = RobotModel.named('two_link')
    place = model.layout.inertial(1).start
    theta = model.theta.copy()
    theta[place] = 0.0
    with pytest.raises(SimulationError, match=r'mass of the body on .* is 0.0 kg'):
        MujocoBody(model.with_parameters(theta))
    theta = model.theta.copy()
    theta[place + 4 : place + 10] = 0.0  # less inertia than its mass needs
    with pytest.raises(SimulationError, match='two_link can not be simulated by MuJoCo'):
        MujocoBody(model.with_parameters(theta))


def test_without_mujoco_the_way_to_get_it_is_named():
    program = (
        'import sys; sys.modules["mujoco"] = None\n'
        'from safe_sysid.model.robot_model import RobotModel\n'
        'from safe_sysid.simulate.mujoco import MujocoBody\n'
        'MujocoBody(RobotModel.named("two_link"))'
    )
    run = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert 'SimulationError: MuJoCo is not installed' in run.stderr
    assert "pip install '.[mujoco]'" in run.stderr
