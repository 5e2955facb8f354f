"""A robot from URDF and settings, and what is refused."""

from dataclasses import replace
from pathlib import Path
import re

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.model import inertia
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

JOINT = (
    '{coulomb: 0.1, viscous: 0.2, armature: 0.3, offset: 0.0, torque_limit: 10, '
    'acceleration_limit: 5, encoder_resolution: 0, effort_sign: 1, effort_scale: 1}'
)
BODY = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def joint(name, kind, parent, child, extra=''):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.3" rpy="0 0.5 0"/><axis xyz="0 1 0"/>'
        f'<limit lower="-1" upper="2" effort="9" velocity="3"/>{extra}</joint>'
    )


def arm(
    tmp_path: Path, second: str, joints: str, held: str = '{}', body: str = BODY
) -> RobotModel:
    """Model of base - j1 - l1 - (second joint) - l2 - fixed - hand."""
    (tmp_path / 'arm.urdf').write_text(
        f'<robot name="arm"><link name="base"/><link name="l1">{BODY}</link>'
        f'<link name="l2">{body}</link><link name="hand">{BODY if body else ""}</link>'
        + joint('j1', 'continuous', 'base', 'l1')
        + second
        + joint('grip', 'fixed', 'l2', 'hand')
        + '</robot>'
    )
    (tmp_path / 'arm.yaml').write_text(
        f'urdf: arm.urdf\ngravity: [0, 0, -9.81]\ntip: hand\n'
        f'effort: {{kind: torque, gravity_included: true}}\njoints: {{{joints}}}\nheld: {held}\n'
        'collision: {shapes: {palm: {link: hand, a: [0, 0, 0], b: [0, 0, 0.1], radius: 0.05}}}\n'
    )
    return RobotModel.from_config(tmp_path / 'arm.yaml')


BOTH = f'j1: {JOINT}, j2: {JOINT}'


def test_the_arrays_describe_the_arm(tmp_path):
    model = arm(tmp_path, joint('j2', 'prismatic', 'l1', 'l2'), BOTH)
    assert model.n == 2
    np.testing.assert_array_equal(model.tree.parent, [-1, 0])
    np.testing.assert_array_equal(model.tree.is_prismatic, [False, True])
    np.testing.assert_array_equal(model.limits.is_continuous, [True, False])
    np.testing.assert_array_equal(model.limits.position_lower, [-np.inf, -1])
    np.testing.assert_array_equal(model.limits.velocity, [3, 3])
    np.testing.assert_allclose(model.theta[-8:], [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0, 0])
    assert model.theta[model.layout.end_effector][0] == pytest.approx(4.0)  # l2 and hand lumped
    # the palm sits in the frame of j2, 0.3 m up and turned by 0.5 rad about y
    np.testing.assert_allclose(model.capsules.a[0], [0, 0, 0.3], atol=1e-12)
    np.testing.assert_allclose(
        model.capsules.b[0], [0.1 * np.sin(0.5), 0, 0.3 + 0.1 * np.cos(0.5)], atol=1e-12
    )


def test_a_drive_that_refuses_desired_motions_says_which(tmp_path):
    second = joint('j2', 'prismatic', 'l1', 'l2')
    assert arm(tmp_path, second, BOTH).reference is None
    checked = JOINT[:-1] + ', reference_acceleration: 4}'
    reference = arm(tmp_path, second, f'j1: {checked}, j2: {JOINT}').reference
    np.testing.assert_array_equal(reference.acceleration, [4.0, np.inf])
    np.testing.assert_array_equal(reference.jerk, [np.inf, np.inf])
    wrong = JOINT[:-1] + ', reference_jerk: 0}'
    with pytest.raises(ConfigError, match=r'reference_jerk is 0.*, it has to be above 0'):
        arm(tmp_path, second, f'j1: {wrong}, j2: {JOINT}')


def test_a_held_joint_is_part_of_the_body_that_carries_it(tmp_path, rng):
    second = joint('j2', 'revolute', 'l1', 'l2')
    held = arm(tmp_path, second, f'j1: {JOINT}', '{j2: 0.7}')
    assert held.n == 1
    free = arm(tmp_path, second, BOTH)
    q, qd, qdd = rng.normal(size=(3, 1))
    at = np.array([q[0], 0.7])
    pad = np.array([0.0])
    expected = (
        standard_regressor(free, at, np.concatenate([qd, pad]), np.concatenate([qdd, pad]))
        @ free.theta
    )
    assert (standard_regressor(held, q, qd, qdd) @ held.theta)[0] == pytest.approx(expected[0])


@pytest.mark.parametrize(
    ('value', 'message'),
    [
        ('45', r'arm.urdf: j2 is to be held at 45; its limits are -1 to 2 \(rad; m where it'),
        ('-1.001', 'its limits are -1 to 2'),
        ('.nan', r"arm.yaml: held is \{'j2': nan\}, it has to be finite"),
        ('-.inf', r"held is \{'j2': -inf\}, it has to be finite"),
    ],
)
def test_a_position_that_a_held_joint_cannot_have_is_refused(tmp_path, value, message):
    second = joint('j2', 'revolute', 'l1', 'l2')
    with pytest.raises((ConfigError, ModelError), match=message):
        arm(tmp_path, second, f'j1: {JOINT}', f'{{j2: {value}}}')


def test_a_joint_is_held_at_a_limit_as_files_round_it_or_anywhere_without_one(tmp_path):
    for kind, value in (('revolute', '2.00005'), ('prismatic', '-1.0'), ('continuous', '45.0')):
        assert arm(tmp_path, joint('j2', kind, 'l1', 'l2'), f'j1: {JOINT}', f'{{j2: {value}}}').n


@pytest.mark.parametrize(
    ('second', 'joints', 'message'),
    [
        (joint('j2', 'floating', 'l1', 'l2'), BOTH, "joint 'j2' is floating; only revolute"),
        (joint('j2', 'planar', 'l1', 'l2'), BOTH, "joint 'j2' is planar; only revolute"),
        (joint('j2', 'revolute', 'l1', 'l2', '<mimic joint="j1"/>'), BOTH, "'j2' mimics another"),
        (joint('j2', 'revolute', 'l1', 'l2'), f'j1: {JOINT}', "'j2' moves but is not in the"),
        (joint('j2', 'revolute', 'l1', 'l2'), f'{BOTH}, j9: {JOINT}', "no moving joint 'j9'; its"),
    ],
)
def test_joints_that_cannot_be_modelled_are_named(tmp_path, second, joints, message):
    with pytest.raises(ModelError, match=message) as error:
        arm(tmp_path, second, joints)
    assert 'arm.urdf' in str(error.value)


def test_a_moving_link_without_inertia_is_refused(tmp_path):
    with pytest.raises(ModelError, match="what joint 'j2' moves has mass 0.0 kg; give its link"):
        arm(tmp_path, joint('j2', 'revolute', 'l1', 'l2'), BOTH, body='')


def test_files_that_are_not_there_or_no_robot(tmp_path):
    arm(tmp_path, joint('j2', 'revolute', 'l1', 'l2'), BOTH)
    (tmp_path / 'arm.urdf').write_text('<robot')
    with pytest.raises(ModelError, match=r'arm\.urdf: is not XML'):
        RobotModel.from_config(tmp_path / 'arm.yaml')
    (tmp_path / 'arm.urdf').write_text('<sdf/>')
    with pytest.raises(ModelError, match=r'the root element is <sdf>'):
        RobotModel.from_config(tmp_path / 'arm.yaml')
    xacro = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
    (tmp_path / 'arm.urdf').write_text(f'<robot name="a" {xacro}><xacro:include/></robot>')
    with pytest.raises(ModelError, match=r'arm\.urdf: is a xacro that was not expanded; `xacro '):
        RobotModel.from_config(tmp_path / 'arm.yaml')
    (tmp_path / 'arm.urdf').unlink()
    with pytest.raises(ModelError, match=r'arm\.urdf: cannot be read \(No such file'):
        RobotModel.from_config(tmp_path / 'arm.yaml')
    with pytest.raises(
        ConfigError, match=r"no robot 'kinova'; did you mean 'kinova_gen3'\? The package has \["
    ):
        RobotModel.named('kinova')


def test_settings_of_an_unknown_kind_are_refused(tmp_path):
    bad = JOINT.replace('armature: 0.3', 'armature: -1')
    with pytest.raises(ConfigError, match=r'arm\.yaml: joints\.j2: armature is -1\.0, it has to'):
        arm(tmp_path, joint('j2', 'revolute', 'l1', 'l2'), f'j1: {JOINT}, j2: {bad}')
    bad = JOINT.replace('armature', 'armatur')
    with pytest.raises(ConfigError, match="unknown key 'armatur', did you mean 'armature'"):
        arm(tmp_path, joint('j2', 'revolute', 'l1', 'l2'), f'j1: {JOINT}, j2: {bad}')


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_arms_of_the_package_agree_with_pinocchio(robot, rng):
    model = RobotModel.named(robot)
    q, qd, qdd = rng.normal(size=(3, model.n))
    P = model.pinocchio()
    F = model.layout.friction(model.theta)
    expected = pin.rnea(P, P.createData(), q, qd, qdd) + F[0] * np.sign(qd) + F[1] * qd + F[3]
    np.testing.assert_allclose(
        standard_regressor(model, q, qd, qdd) @ model.theta, expected, rtol=1e-9, atol=1e-9
    )


def test_a_payload_is_lumped_into_the_end_effector():
    bare, payload = RobotModel.named('kinova_gen3'), read_payload('dumbbell_6lb')
    loaded = bare.with_payload(payload)
    tip = bare.layout.end_effector
    assert loaded.theta[tip][0] == pytest.approx(bare.theta[tip][0] + 2.72155422)
    np.testing.assert_array_equal(loaded.theta[: tip.start], bare.theta[: tip.start])
    assert inertia.is_consistent(loaded.theta[tip])
    assert len(loaded.capsules.names) > len(bare.capsules.names)
    assert len(loaded.capsules.pairs) > len(bare.capsules.pairs)
    # its weight is felt where the URDF says the payload is fixed: 0.0615 m below joint 7 turned
    # over, then 0.12 m further along the gripper
    added = loaded.theta[tip] - bare.theta[tip]
    np.testing.assert_allclose(
        added[1:4] / added[0], [0, 0, -0.0615250000000001 - 0.12], atol=1e-9
    )


def test_a_payload_on_a_link_that_is_not_there_is_refused_with_those_that_are():
    payload = read_payload('dumbbell_6lb')
    elsewhere = replace(payload.placements['kinova_gen3'], link='linkx')
    payload = replace(payload, placements={'kinova_gen3': elsewhere})
    with pytest.raises(
        ModelError, match=r"placed on 'linkx', which kinova_gen3 has not; its links"
    ):
        RobotModel.named('kinova_gen3').with_payload(payload)


@pytest.mark.parametrize('limit', ['effort', 'velocity'])
def test_a_limit_that_leaves_something_out_names_what_gives_it(tmp_path, limit):
    second = re.sub(f'{limit}="[^"]*"', '', joint('j2', 'revolute', 'l1', 'l2'))
    with pytest.raises(ModelError, match=rf"'j2': its <limit> has no {limit}.*--{limit} j2=VALUE"):
        arm(tmp_path, second, BOTH)


def test_limits_that_are_exchanged_are_refused(tmp_path):
    second = joint('j2', 'revolute', 'l1', 'l2').replace('lower="-1" upper="2"', 'lower="2"')
    with pytest.raises(ModelError, match='is limited to 2 to 0; they are exchanged'):
        arm(tmp_path, second, BOTH)
