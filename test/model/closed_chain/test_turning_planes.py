"""Planar loops on a body that turns: they close as on the bench, and torques are Pinocchio's."""

import numpy as np
import pinocchio as pin
import pytest
import yaml

import safe_sysid as ss
from safe_sysid.errors import ModelError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.facts import facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory
from safe_sysid.simulate.closed_chain import ClosedChainBody

COLUMN = """<link name="base"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="ground"/>
    <axis xyz="0 1 0"/><limit lower="-3.2" upper="3.2" effort="10" velocity="5"/></joint>
  <link name="ground"><inertial><origin xyz="0.01 0.1 0.02"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.01" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
BESIDE = '0.4 0 0.02'  # the rocker turns 2 cm beside crank and coupler
STEP = 1e-4


@pytest.fixture
def settings(tmp_path):
    """The four-bar linkage on a column that turns about an axis in its plane."""
    text = (share_directory() / 'urdf' / 'four_bar.urdf').read_text(encoding='utf-8')
    text = text.replace('<link name="ground"/>', COLUMN).replace('0.4 0 0', BESIDE)
    (tmp_path / 'turned.urdf').write_text(text, encoding='utf-8')
    facts = yaml.safe_load(facts_path('four_bar').read_text(encoding='utf-8'))
    motor = {'coulomb': 0.0, 'viscous': 0.0}
    facts['joints'] = {name: {**each, **motor} for name, each in facts['joints'].items()}
    facts['joints'] = {'turn': facts['joints']['crank'], **facts['joints']}
    path = tmp_path / 'turned.yaml'

    def write(**changes):
        facts['closed_chain']['loops']['closure'].update(changes)
        path.write_text(yaml.safe_dump({**facts, 'urdf': 'turned.urdf'}), encoding='utf-8')
        return path

    return write


def chain_of(path):
    return ClosedChain(RobotModel.from_config(path), read_facts(path).closed_chain)


@pytest.mark.parametrize('turn', [-3.0, -1.5707, 0.3, 0.8, 1.5, 1.5708, 2.5])
def test_a_loop_closes_the_same_way_wherever_its_plane_has_turned(settings, turn):
    turned, fixed = chain_of(settings()), ClosedChain.named('four_bar')
    for crank in (-1.0, 0.4, 2.0):
        q = turned.close(np.array([[turn, crank]]))[0]
        np.testing.assert_allclose(q[1:], fixed.close(np.array([[crank]]))[0], atol=1e-10)


def test_torques_and_motion_of_a_turning_loop_are_those_of_pinocchio(settings, rng):
    chain = chain_of(settings())
    model, body = chain.model, ClosedChainBody(chain)
    names = list(model.layout.joint_names)
    passive = [names.index(name) for name in ('coupler', 'rocker')]
    fixed, P = ClosedChain.named('four_bar'), model.pinocchio()
    data = P.createData()
    Ia, beta = (model.theta[model.layout.joint_entries(kind)] for kind in ('Ia', 'beta'))
    for _ in range(5):
        q_a, v_a, a_a = rng.uniform(-1.0, 1.0, (3, 2)) * [[2.0], [1.0], [3.0]]
        motion = chain.expand(chain.close(q_a[None]), v_a[None], a_a[None])
        times = STEP * np.array([-1.0, 0.0, 1.0])
        cranks = q_a[1] + times * v_a[1] + 0.5 * times**2 * a_a[1]
        q = np.column_stack([q_a[0] + 0.0 * times, fixed.close(cranks[:, None])])
        qd, qdd = (q[2] - q[0]) / (2 * STEP), (q[2] - 2 * q[1] + q[0]) / STEP**2
        qd[0], qdd[0] = v_a[0], a_a[0]
        np.testing.assert_allclose(motion.qd[0], qd, atol=1e-6)
        np.testing.assert_allclose(motion.qdd[0], qdd, atol=1e-5)
        G = np.zeros((4, 2))
        G[[0, 1], [0, 1]] = 1.0
        slope = fixed.transmission(q[1:2, 1:])[0]
        G[passive, 1] = slope[1:, 0]
        P.armature = np.zeros(4)
        tau = G.T @ (pin.rnea(P, data, q[1], qd, qdd) + Ia * qdd + beta)
        np.testing.assert_allclose((chain.regressor(motion) @ model.theta)[0], tau, atol=1e-4)
        np.testing.assert_allclose(body.acceleration(q[1], v_a, tau), a_a, atol=1e-3)


def test_the_symbolic_gap_turns_with_the_plane(settings, rng):
    path = settings()
    chain, model = chain_of(path), ss.casadi_model(ss.load_arm(path))
    q = rng.normal(size=4)
    gap, J, _ = model.loop_closure(q, np.zeros(4))
    expected, slopes = chain.gap(q)
    np.testing.assert_allclose(np.array(gap).ravel(), expected, atol=1e-12)
    np.testing.assert_allclose(np.array(J), slopes, atol=1e-12)


def test_a_joint_that_leaves_the_plane_is_named(settings):
    with pytest.raises(ModelError, match=r"planar with the normal \(0, 1, 0\), but joint 'crank'"):
        chain_of(settings(normal=[0, 2, 0]))


def test_two_ends_on_the_base_are_said_to_be_there(settings):
    ends = {'link_a': 'base', 'link_b': 'base', 'point_b': [0.1, 0, 0]}
    with pytest.raises(ModelError, match='both ends of loop closure are on the base'):
        chain_of(settings(**ends))
