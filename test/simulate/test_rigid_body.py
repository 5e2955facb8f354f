"""Forward dynamics: Pinocchio's, of order four, with energy and momentum accounted for."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from simulate.held_torque import motion, sines, without_coulomb

from safe_sysid.errors import SimulationError
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.rigid_body import RigidBody


def sliding_block(mass, coulomb, viscous=0.0):
    """One joint that slides without gravity."""
    model = random_tree(np.random.default_rng(0), 1, serial=True)
    tree = model.tree._replace(is_prismatic=np.array([True]), gravity=np.zeros(3))
    theta = np.zeros(14)
    theta[[0, 10, 11]] = mass, coulomb, viscous
    return RigidBody(replace(model, tree=tree).with_parameters(theta))


def one(x):
    return np.array([x])


@pytest.mark.parametrize('serial', [True, False])
def test_acceleration_is_that_of_pinocchio_less_friction(rng, serial):
    for _ in range(20):
        model = random_tree(rng, int(rng.integers(1, 8)), serial, armature=0.2)
        rigid = model.pinocchio()
        Fc, Fv, _, beta = model.layout.friction(model.theta)
        q, qd, tau = rng.normal(size=(3, model.n))
        friction = Fc * np.sign(qd) + Fv * qd + beta
        expected = pin.aba(rigid, rigid.createData(), q, qd, tau - friction)
        np.testing.assert_allclose(
            RigidBody(model).acceleration(q, qd, tau), expected, rtol=1e-9, atol=1e-9
        )


def test_a_motion_is_the_one_that_another_integrator_finds(rng):
    model = without_coulomb(random_tree(rng, 5, serial=False, armature=0.2))
    rigid = model.pinocchio()
    data = rigid.createData()
    _, Fv, _, beta = model.layout.friction(model.theta)
    q, tau = rng.normal(size=(2, 5))

    def slope(_, state):
        q, qd = np.split(state, 2)
        return np.concatenate([qd, pin.aba(rigid, data, q, qd, tau - Fv * qd - beta)])

    start = np.concatenate([q, np.zeros(5)])
    expected = solve_ivp(slope, (0, 0.5), start, 'DOP853', rtol=1e-12, atol=1e-12).y[:, -1]
    found = RigidBody(model, steps=500).advance(q, np.zeros(5), tau, 0.5)
    np.testing.assert_allclose(np.concatenate(found), expected, atol=1e-9)


@pytest.mark.parametrize('coulomb', [0.0, 1.0, 3.0])
def test_the_order_is_four_also_when_joints_stop_and_break_away(coulomb):
    errors, stands = [], 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = without_coulomb(random_tree(rng, 4, serial=True, armature=0.3), coulomb)
        q, torques = rng.normal(size=4), sines(rng, 4, 100, 0.01, 20.0)
        paths = [
            motion(RigidBody(model, steps), q, np.zeros(4), torques, 0.01)
            for steps in (1, 2, 4, 64)
        ]
        assert (np.diff(np.sign(paths[-1][:, 1]), axis=0) != 0).sum() > 5
        stands += (paths[-1][1:, 1] == 0.0).sum()
        errors.append([np.abs(path - paths[-1]).max() for path in paths[:-1]])
    assert stands > 0 or coulomb < 3.0
    coarse, middle, fine = np.mean(errors, axis=0)
    assert coarse < 2e-5
    assert 11.0 < coarse / middle < 23.0
    assert 11.0 < middle / fine < 23.0


def test_one_step_per_millisecond_is_accurate_to_rounding_for_a_geared_arm(rng):
    model = RobotModel.named('kinova_gen3')
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = 2.0
    model = model.with_parameters(theta)
    q, torques = rng.normal(size=7), sines(rng, 7, 500, 0.001, 30.0)
    coarse, fine = (
        motion(RigidBody(model, steps), q, np.zeros(7), torques, 0.001) for steps in (1, 8)
    )
    np.testing.assert_allclose(coarse, fine, atol=1e-11)


def test_a_block_slows_down_stops_where_it_has_to_and_stays(rng):
    for _ in range(50):
        mass, coulomb, speed = rng.uniform(0.5, 3.0, size=3)
        force = rng.uniform(-0.99, 0.99) * coulomb
        direction = rng.choice([-1.0, 1.0])
        slowing = (coulomb - direction * force) / mass
        q, qd = sliding_block(mass, coulomb).advance(
            one(0.0), one(direction * speed), one(force), 1.1 * speed / slowing
        )
        assert qd[0] == 0.0
        assert q[0] == pytest.approx(direction * speed**2 / (2 * slowing), rel=1e-9)


def test_a_block_that_is_pushed_back_stops_and_returns():
    # 2 kg, 3 N of friction, 1 m/s against 5 N: slows at 4 m/s^2, returns at 1 m/s^2
    body = sliding_block(2.0, 3.0)
    q, qd = body.advance(one(0.0), one(1.0), one(-5.0), 1.25)
    assert qd[0] == pytest.approx(-1.0, abs=1e-10)
    assert q[0] == pytest.approx(0.125 - 0.5, abs=1e-10)


def test_a_block_stands_until_the_force_exceeds_friction():
    body = sliding_block(2.0, 3.0, viscous=1.0)
    q, qd = body.advance(one(0.7), one(0.0), one(3.0), 10.0)
    assert (q[0], qd[0]) == (0.7, 0.0)
    q, qd = body.advance(one(0.7), one(0.0), one(4.0), 1.0)
    assert qd[0] == pytest.approx(1.0 - np.exp(-0.5), rel=1e-3)


def test_a_standing_joint_breaks_away_when_the_motion_of_another_one_asks_too_much():
    # the first link turns ever faster with the second one fixed across, until friction can't
    # hold what H_21 qdd_1 + c qd_1^2 asks for
    model = frictionless(RobotModel.named('two_link'))
    model = replace(model, tree=model.tree._replace(gravity=np.zeros(3)))
    rigid = model.pinocchio()
    data = rigid.createData()
    q, tau, rest = np.array([0.0, 1.2]), 3.0, np.zeros(2)
    H = pin.crba(rigid, data, q)
    rate = tau / H[0, 0]
    at_rest = H[0, 1] * rate
    c = pin.nonLinearEffects(rigid, data, q, np.array([1.0, 0.0]))[1]
    assert at_rest > 0 and c > 0
    coulomb = at_rest + 2.0 * c
    until = np.sqrt(2.0) / rate
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = 0.0, coulomb
    body = RigidBody(model.with_parameters(theta), 100)
    q_before, before = body.advance(q, rest, np.array([tau, 0.0]), 0.999 * until)
    _, after = body.advance(q, rest, np.array([tau, 0.0]), 1.01 * until)
    assert (q_before[1], before[1]) == (1.2, 0.0)
    assert before[0] == pytest.approx(0.999 * until * rate, rel=1e-9)
    assert after[1] < 0.0


def test_dry_friction_is_the_limit_of_a_steep_smooth_one(rng):
    model = random_tree(rng, 3, serial=True, armature=0.3)
    rigid = model.pinocchio()
    data = rigid.createData()
    Fc, Fv, _, beta = model.layout.friction(model.theta)
    q, tau = rng.normal(size=(2, 3))

    def at_end(creep):
        def slope(_, state):
            q, qd = np.split(state, 2)
            friction = Fc * np.tanh(qd / creep) + Fv * qd + beta
            return np.concatenate([qd, pin.aba(rigid, data, q, qd, tau - friction)])

        start = np.concatenate([q, [1.0, -1.0, 0.5]])
        return solve_ivp(slope, (0, 1.0), start, 'LSODA', rtol=1e-9, atol=1e-10).y[:, -1]

    body = RigidBody(model, steps=1000)
    found = np.concatenate(body.advance(q, np.array([1.0, -1.0, 0.5]), tau, 1.0))
    far, near = (np.abs(found - at_end(creep)).max() for creep in (1e-2, 1e-3))
    assert near < 5e-3
    assert near < 0.3 * far


def energy(model, state):
    """Kinetic energy, rotors included, and energy of position."""
    rigid = model.pinocchio()
    rigid.armature = np.zeros(model.n)
    data = rigid.createData()
    q, qd = state
    kinetic = pin.computeKineticEnergy(rigid, data, q, qd)
    rotors = 0.5 * np.sum(model.layout.friction(model.theta)[2] * qd**2)
    return kinetic + rotors + pin.computePotentialEnergy(rigid, data, q)


def frictionless(model):
    theta = model.theta.copy()
    for kind in ('Fc', 'Fv', 'beta'):
        theta[model.layout.joint_entries(kind)] = 0.0
    return model.with_parameters(theta)


def test_without_friction_energy_stays(rng):
    model = frictionless(random_tree(rng, 4, serial=False, armature=0.3))
    path = motion(RigidBody(model, 10), *rng.normal(size=(2, 4)), np.zeros((100, 4)), 0.01)
    energies = np.array([energy(model, state) for state in path])
    kinetic = [energy(model, (s[0], s[1])) - energy(model, (s[0], 0 * s[1])) for s in path]
    assert np.ptp(kinetic) > 1.0  # gravity does work
    np.testing.assert_allclose(energies, energies[0], atol=1e-8)


def test_torque_and_gravity_do_the_work_that_energy_shows(rng):
    model = frictionless(random_tree(rng, 4, serial=True, armature=0.3))
    torques = sines(rng, 4, 100, 0.01, 10.0)
    path = motion(RigidBody(model, 10), *rng.normal(size=(2, 4)), torques, 0.01)
    work = np.cumsum(np.sum(torques * np.diff(path[:, 0], axis=0), axis=1))
    gained = np.array([energy(model, state) for state in path[1:]]) - energy(model, path[0])
    assert np.ptp(work) > 1.0
    np.testing.assert_allclose(gained, work, atol=1e-8)


def test_a_passive_arm_with_friction_loses_energy_until_it_stands(rng):
    for _ in range(5):
        model = without_coulomb(random_tree(rng, 4, serial=True, armature=0.3), 5.0)
        theta = model.theta.copy()
        theta[model.layout.joint_entries('beta')] = 0.0
        model = model.with_parameters(theta)
        model = replace(model, tree=model.tree._replace(gravity=0.2 * model.tree.gravity))
        path = motion(RigidBody(model), *rng.normal(size=(2, 4)), np.zeros((1000, 4)), 0.005)
        energies = np.array([energy(model, state) for state in path])
        moves = np.abs(path[:-1, 1]).max(axis=1) > 0.0
        assert (np.diff(energies)[moves] < 0.0).all()
        assert moves[0]


def test_momentum_changes_by_what_drives_it(rng):
    # d/dt (W_m theta) = W_c theta + tau - Ia qdd, with W_c theta less friction
    model = random_tree(rng, 4, serial=False, armature=0.3)
    body, tau, step = RigidBody(model, 4), 20.0 * rng.normal(size=4), 0.001
    path = motion(body, *rng.normal(size=(2, 4)), np.tile(tau, (300, 1)), step)
    q, qd = path[:, 0], path[:, 1]
    W_m, W_c = momentum_regressors(model, q, qd)
    momentum = W_m @ model.theta
    weights = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * step)
    windows = np.lib.stride_tricks.sliding_window_view(momentum, 7, axis=0)
    qdd = np.array([body.acceleration(*state, tau) for state in path[3:-3]])
    Ia = model.layout.friction(model.theta)[2]
    expected = (W_c @ model.theta)[3:-3] + tau - Ia * qdd
    signs = np.lib.stride_tricks.sliding_window_view(np.sign(qd), 7, axis=0)
    smooth = (np.abs(signs.sum(axis=-1)) == 7).all(axis=1)
    assert smooth.sum() > 100
    np.testing.assert_allclose((windows @ weights)[smooth], expected[smooth], atol=1e-6)


def test_a_light_joint_with_strong_viscous_friction_stays_stable():
    # damped at 20 000 /s: seven times what one Runge-Kutta step per millisecond can follow
    body = sliding_block(1e-3, 0.0, viscous=20.0)
    q, qd = body.advance(one(0.0), one(1.0), one(10.0), 0.001)
    assert qd[0] == pytest.approx(0.5 + 0.5 * np.exp(-20.0), abs=1e-4)
    assert q[0] == pytest.approx(0.0005 + 0.5 * 5e-5, rel=1e-3)
    q, qd = body.advance(q, qd, one(10.0), 0.001)
    assert qd[0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.slow
def test_the_arm_without_armature_is_followed_too(rng):
    model = RobotModel.named('lbr_med7')
    q, torques = rng.normal(size=7), sines(rng, 7, 300, 0.001, 5.0)
    coarse, fine = (
        motion(RigidBody(model, steps), q, np.zeros(7), torques, 0.001) for steps in (1, 200)
    )
    assert np.abs(fine[:, 1]).max() > 0.5
    np.testing.assert_allclose(coarse, fine, atol=1e-4)


def test_many_random_arms_stop_and_break_away_without_an_error():
    stands = reversals = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        model = random_tree(rng, n, bool(seed % 2), armature=rng.choice([0.05, 0.3, 2.0]))
        body = RigidBody(without_coulomb(model, rng.choice([0.5, 1.0, 5.0])), 1 + seed % 3)
        seconds = rng.choice([0.001, 0.005, 0.02])
        torques = sines(rng, n, 200, seconds, rng.choice([3.0, 10.0, 30.0]))
        path = motion(body, rng.normal(size=n), rng.normal(size=n), torques, seconds)
        stands += (path[:, 1] == 0.0).sum()
        reversals += (path[1:, 1] * path[:-1, 1] < 0.0).sum()
    assert stands > 1000
    assert reversals > 100


def test_arguments_are_left_alone(rng):
    model = random_tree(rng, 3, serial=True, armature=0.3)
    values = rng.normal(size=(3, 3))
    before = values.copy()
    RigidBody(model).advance(*values, 0.01)
    np.testing.assert_array_equal(values, before)


def with_entry(model, label, value):
    theta = model.theta.copy()
    theta[model.layout.labels.index(label)] = value
    return model.with_parameters(theta)


def test_what_cannot_be_simulated_says_why(rng):
    model = random_tree(rng, 2, serial=True, armature=0.1)
    rest = np.zeros(2)
    with pytest.raises(SimulationError, match=r'0 steps per control period; at least 1'):
        RigidBody(model, 0)
    for kind in ('Fc', 'Fv', 'Ia'):
        with pytest.raises(SimulationError, match=rf'{kind} of j1 is -0.5; it has to be 0 or'):
            RigidBody(with_entry(model, f'j1.{kind}', -0.5))
    wrong = with_entry(with_entry(model, 'j1.m', -100.0), 'j1.Izz', -100.0)
    with pytest.raises(SimulationError, match='random can not be simulated: the mass matrix'):
        RigidBody(wrong).advance(rest, np.ones(2), rest, 0.001)
    stiff = with_entry(without_coulomb(model), 'j1.Fv', 1e9)
    with pytest.raises(SimulationError, match=r'viscous friction stops a joint so fast'):
        RigidBody(stiff).advance(rest, np.ones(2), rest, 0.001)
    with pytest.raises(SimulationError, match='not finite any more: use more steps'):
        RigidBody(model).advance(rest, np.full(2, 1e200), rest, 0.001)
