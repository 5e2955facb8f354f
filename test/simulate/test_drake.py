"""Drake agrees with the built-in simulator: parameters, and motions to integrator accuracy."""

from dataclasses import replace
import subprocess
import sys

import numpy as np
import pinocchio as pin
import pytest
from simulate.held_torque import compare_readings, motion, sines, without_coulomb
from tiers import slow_after

from safe_sysid.errors import SimulationError
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.rigid_body import RigidBody

try:
    import pydrake  # noqa: F401

    from safe_sysid.simulate.drake import DrakeBody
except ImportError:
    pytest.skip('Drake is an extra', allow_module_level=True)


def arms():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        yield without_coulomb(random_tree(rng, n, bool(seed % 2), armature=0.3))
    kinova = RobotModel.named('kinova_gen3')
    yield kinova
    yield kinova.with_payload(read_payload('dumbbell_8lb'))


ARMS = list(arms())


@pytest.mark.parametrize('model', ARMS)
def test_mass_matrix_and_inverse_dynamics_are_those_of_pinocchio(rng, model):
    drake = DrakeBody(model)
    rigid = model.pinocchio()
    data = rigid.createData()
    beta = model.layout.friction(model.theta)[3]
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, model.n))
        upper = np.triu(pin.crba(rigid, data, q))
        np.testing.assert_allclose(drake.mass_matrix(q), upper + np.triu(upper, 1).T, atol=1e-11)
        (expected,) = inverse_dynamics(model, q[None], qd[None], qdd[None])
        np.testing.assert_allclose(drake.inverse_dynamics(q, qd, qdd) + beta, expected, atol=1e-9)


@pytest.mark.parametrize('model', slow_after(2, ARMS))
def test_a_second_of_the_same_torque_leads_to_the_same_state(rng, model):
    q, torques = rng.normal(size=model.n), sines(rng, model.n, 1000, 0.001, 10.0)
    ours, theirs = (
        motion(body, q, np.zeros(model.n), torques, 0.001)
        for body in (RigidBody(model), DrakeBody(model))
    )
    assert np.ptp(ours[:, 0], axis=0).max() > 0.05
    np.testing.assert_allclose(ours, theirs, atol=2e-8)


def test_with_dry_friction_they_differ_by_the_creep(rng):
    model = random_tree(rng, 4, serial=True, armature=0.3)
    model = replace(model, tree=model.tree._replace(gravity=np.zeros(3)))
    q, torques = rng.normal(size=4), sines(rng, 4, 500, 0.001, 20.0)
    ours = motion(RigidBody(model), q, np.zeros(4), torques, 0.001)
    assert (np.diff(np.sign(ours[1:, 1]), axis=0) != 0).sum() > 5
    far, near = (
        np.abs(motion(DrakeBody(model, creep), q, np.zeros(4), torques, 0.001) - ours).max()
        for creep in (1e-2, 1e-3)
    )
    assert near < 0.005
    assert near < 0.3 * far


def test_it_is_an_arm_like_the_other_one(rng):
    compare_readings(DrakeBody, rng, 1e-10)


def test_the_state_given_is_the_one_it_goes_on_from(rng):
    model = RobotModel.named('two_link')
    body = DrakeBody(model)
    q, qd = rng.normal(size=(2, 2))
    once = body.advance(q, qd, np.ones(2), 0.001)
    body.advance(rng.normal(size=2), rng.normal(size=2), np.zeros(2), 0.5)
    again = body.advance(q, qd, np.ones(2), 0.001)
    np.testing.assert_allclose(again, once, rtol=1e-12)


def test_without_drake_the_way_to_get_it_is_named():
    program = (
        'import sys; sys.modules["pydrake"] = None\n'
        'from safe_sysid.model.robot_model import RobotModel\n'
        'from safe_sysid.simulate.drake import DrakeBody\n'
        'DrakeBody(RobotModel.named("two_link"))'
    )
    run = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert 'SimulationError: Drake is not installed' in run.stderr
    assert "pip install '.[drake]'" in run.stderr


def test_what_drake_cannot_simulate_says_why():
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    theta[model.layout.inertial(1).start] = 0.0
    with pytest.raises(SimulationError, match=r'mass of the body on .* is 0.0 kg'):
        DrakeBody(model.with_parameters(theta))
    for creep in (0.0, np.nan):
        with pytest.raises(SimulationError, match=r'creep is .* rad/s; it has to be more than 0'):
            DrakeBody(model, creep)
