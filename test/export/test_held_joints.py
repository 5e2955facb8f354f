"""Joints that settings hold are fixed in the URDFs that are written, where the model has them."""

from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import ModelError
from safe_sysid.export.arm_urdf import write_dynamics
from safe_sysid.export.calibrated_arm import write_closed_chain_arm
from safe_sysid.export.gazebo import write_gazebo
from safe_sysid.export.payload_simulators import urdf
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model.arm import Arm, facts_of_urdf
from safe_sysid.model.facts import read_facts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

BODY = """<inertial><mass value="{m}"/><origin xyz="0.03 0.02 0.05" rpy="0.3 0 0.1"/>
<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="0.002"/></inertial>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0.1 -0.05 0.2" rpy="0.3 0.2 -0.4"/><axis xyz="{axis}"/>{more}
<limit lower="-0.5" upper="0.5" effort="50" velocity="2"/><dynamics damping="0.1"/></joint>"""
CHAIN = [  # name, kind, parent, child, axis
    ('lift', 'prismatic', 'foot', 'base', '0 0 2'),
    ('j1', 'revolute', 'base', 'l1', '0 1 1'),
    ('turret', 'revolute', 'l1', 'bracket', '1 2 -1'),
    ('j2', 'revolute', 'bracket', 'hand', '1 0 0'),
    ('left', 'prismatic', 'hand', 'finger_l', '0 1 0'),
    ('right', 'prismatic', 'hand', 'finger_r', '0 -1 0'),
]
HELD = {'lift': 0.2, 'turret': 0.4, 'left': 0.03, 'right': 0.06}
MIMIC = '<mimic joint="left" multiplier="2"/>'


@pytest.fixture
def arm(tmp_path):
    """Two joints that move, on a lift, with one held between them, and a gripper that is held."""
    links = ['foot', *(child for _, _, _, child, _ in CHAIN)]
    texts = [f'<link name="{link}">{BODY.format(m=1.0)}</link>' for link in links]
    for name, kind, parent, child, axis in CHAIN:
        more = MIMIC if name == 'right' else ''
        texts.append(
            JOINT.format(name=name, kind=kind, parent=parent, child=child, axis=axis, more=more)
        )
    path = tmp_path / 'gripped.urdf'
    path.write_text(f'<robot name="gripped">{"".join(texts)}</robot>', encoding='utf-8')
    facts = facts_of_urdf(path)
    joints = {name: replace(facts.joints[name], coulomb=0.0) for name in ('j1', 'j2')}
    facts = replace(facts, joints=joints, held=HELD, tip='hand')
    return Arm(RobotModel.from_files(path, facts, 'gripped'), facts, path, is_described=True)


def holding(path, held):
    """Pinocchio's model of a file whose joints `held` are kept in place."""
    whole = pin.buildModelFromUrdf(str(path))
    q = pin.neutral(whole)
    for name, value in held.items():
        q[whole.joints[whole.getJointId(name)].idx_q] = value
    return pin.buildReducedModel(whole, [whole.getJointId(name) for name in held], q)


def assert_same(model, expected, rng):
    """Torques and accelerations of both are the same, and finite."""
    assert list(model.names) == list(expected.names)
    for q, v, a in rng.normal(size=(20, 3, 2)):
        tau = pin.rnea(expected, expected.createData(), q, v, a)
        np.testing.assert_allclose(pin.rnea(model, model.createData(), q, v, a), tau, atol=1e-9)
        np.testing.assert_allclose(pin.aba(model, model.createData(), q, v, tau), a, atol=1e-8)


def assert_simulates(path, freedoms):
    """MuJoCo takes the file, which it does not where something moves without a mass."""
    assert mujoco.MjModel.from_xml_path(str(path)).nv == freedoms


def test_dynamics_of_a_calibrated_arm_fix_what_its_bodies_contain(arm, tmp_path, rng):
    path = tmp_path / 'out' / 'gripped.urdf'
    path.parent.mkdir()
    assert write_dynamics(arm.model, HELD, arm.urdf, path) == {'lift': 0.2}
    assert_same(holding(path, {'lift': 0.2}), holding(arm.urdf, HELD), rng)
    assert_simulates(path, 3)


def test_settings_of_a_calibrated_arm_hold_what_its_urdf_lets_move(arm, tmp_path):
    out = tmp_path / 'out'
    out.mkdir()

    fit = SimpleNamespace(
        theta=lambda described: described,
        separability=SimpleNamespace(sentences=list),
        drives=SimpleNamespace(cautions=tuple),
        unknown_drives=lambda n: np.zeros((3, n), dtype=bool),
    )
    write_closed_chain_arm(out, arm, fit)
    assert read_facts(out / 'gripped.yaml').held == {'lift': 0.2}
    read = RobotModel.from_config(out / 'gripped.yaml')
    np.testing.assert_allclose(read.theta, arm.model.theta, atol=1e-9)
    said = (out / 'gripped.yaml').read_text(encoding='utf-8')
    assert '# Fixed in the URDF, as they were held: turret at 0.4, left at 0.03, right at' in said


def test_gazebo_has_no_joint_without_a_controller(arm, tmp_path, rng):
    path, _, settings = write_gazebo(arm, 'jazzy', 0.001, tmp_path / 'out')
    moving = [
        joint.get('name')
        for joint in ElementTree.parse(path).getroot().findall('joint')
        if joint.get('type') != 'fixed'
    ]
    assert moving == ['j1', 'j2']
    assert_same(holding(path, {}), holding(arm.urdf, HELD), rng)
    assert_simulates(path, 2)
    assert read_facts(settings).held == {}
    np.testing.assert_allclose(RobotModel.from_config(settings).theta, arm.model.theta, atol=1e-9)


def test_the_urdf_of_a_payload_fixes_the_fingers_alone(arm, tmp_path, rng):
    path = tmp_path / 'new.urdf'
    nominal = arm.model.theta[arm.model.layout.end_effector]
    path.write_text(urdf(arm, Body('', nominal, Interval.of(nominal))), encoding='utf-8')
    assert_same(holding(path, {'lift': 0.2, 'turret': 0.4}), holding(arm.urdf, HELD), rng)
    assert_simulates(path, 4)
    assert 'joint left is fixed at 0.03, where it was held' in path.read_text(encoding='utf-8')
    with pytest.raises(ModelError, match="joint 'left' is fixed; take it out of `held`"):
        RobotModel.from_files(path, arm.facts, 'gripped')
    facts = replace(arm.facts, held={'lift': 0.2, 'turret': 0.4})
    again = RobotModel.from_files(path, facts, 'gripped')
    np.testing.assert_allclose(again.theta, arm.model.theta, atol=1e-9)
