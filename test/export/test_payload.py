"""Exports read back with formulas of their own give the body that was identified."""

from dataclasses import replace
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.export.formats import FORMATS
from safe_sysid.export.hand_over import Asked, handed_over
from safe_sysid.export.hand_over import body_of as body_of_json
from safe_sysid.export.payload import body_between, exported
from safe_sysid.export.payload_controllers import abb, franka, kuka, principal, universal_robots
from safe_sysid.export.payload_simulators import mjcf, urdf
from safe_sysid.identify.identification import Identification, as_mapping
from safe_sysid.identify.payload_in_frame import IN_TIP, Body, object_of, payload_of
from safe_sysid.model import inertia
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

NUMBER = r'-?\d+\.\d+'


@pytest.fixture
def solid(rng):
    """Twenty random bodies as point masses: mass, centre, inertia about it, as sums."""
    bodies = []
    for _ in range(20):
        masses, points = rng.uniform(0.1, 0.5, 8), rng.normal(scale=0.1, size=(8, 3))
        centre = masses @ points / masses.sum()
        about = sum(
            m * (d @ d * np.eye(3) - np.outer(d, d))
            for m, d in zip(masses, points - centre, strict=True)
        )
        bodies.append((masses.sum(), centre, about))
    return bodies


def body_of(mass, centre, about):
    phi = pin.Inertia(mass, centre, about).toDynamicParameters()
    return Body('flange', phi, Interval.from_center_radius(phi, 0.01 * np.abs(phi)))


def command_of(text, mark):
    """The line that is no comment, its numbers, and its comments."""
    lines = text.splitlines()
    (command,) = (line for line in lines if not line.startswith(mark))
    return command, [float(x) for x in re.findall(NUMBER, command.partition('(')[2] or command)]


def assert_body(numbers, expected):
    for found, wanted in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-8)


def test_universal_robots(solid):
    for expected in solid:
        command, x = command_of(universal_robots(body_of(*expected)), '#')
        assert command.startswith('set_target_payload(')
        xx, yy, zz, xy, xz, yz = x[4:]
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert_body((x[0], x[1:4], about), expected)


def test_franka_is_column_major(solid):
    for expected in solid:
        command, x = command_of(franka(body_of(*expected)), '//')
        assert re.fullmatch(
            rf'robot\.setLoad\({NUMBER}, \{{\{{.*\}}\}}, \{{\{{.*\}}\}}\);', command
        )
        assert_body((x[0], x[1:4], np.array(x[4:]).reshape(3, 3, order='F')), expected)


def test_kuka_counts_in_millimetres_and_degrees_about_z_y_x(solid):
    for expected in solid:
        command, _ = command_of(kuka(body_of(*expected)), ';')
        v = re.fullmatch(
            rf'LOAD_DATA\[1\]=\{{M ({NUMBER}),CM \{{X ({NUMBER}),Y ({NUMBER}),Z ({NUMBER}),'
            rf'A ({NUMBER}),B ({NUMBER}),C ({NUMBER})\}},J \{{X ({NUMBER}),Y ({NUMBER}),'
            rf'Z ({NUMBER})\}}\}}',
            command,
        )
        x = [float(group) for group in v.groups()]
        R = Rotation.from_euler('ZYX', x[4:7], degrees=True).as_matrix()
        assert_body((x[0], np.array(x[1:4]) / 1000.0, R @ np.diag(x[7:]) @ R.T), expected)


def test_abb_has_a_quaternion_of_length_one(solid):
    for expected in solid:
        command, x = command_of(abb(body_of(*expected)), '!')
        assert command.startswith('PERS loaddata payload := [') and command.endswith('];')
        assert np.linalg.norm(x[4:8]) == pytest.approx(1.0, abs=1e-8)
        R = Rotation.from_quat([*x[5:8], x[4]]).as_matrix()
        assert_body((x[0], np.array(x[1:4]) / 1000.0, R @ np.diag(x[8:]) @ R.T), expected)


def test_mjcf_says_full_inertia_about_the_centre(solid):
    for expected in solid:
        root = ElementTree.fromstring(mjcf(body_of(*expected)))
        element = root.find('worldbody/body/inertial')
        xx, yy, zz, xy, xz, yz = map(float, element.get('fullinertia').split())
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        place = [float(x) for x in element.get('pos').split()]
        assert_body((float(element.get('mass')), place, about), expected)


def test_axes_that_are_already_principal_stay_where_they_are():
    moments, R = principal(np.diag([0.3, 0.1, 0.2]))
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_allclose(moments, [0.3, 0.1, 0.2])


@pytest.mark.parametrize('robot', ['two_link', 'kinova_gen3', 'lbr_med7'])
def test_a_urdf_read_again_is_the_arm_with_what_was_identified(robot, solid, tmp_path):
    arm = arm_of(robot, None)
    nominal = pin.Inertia(*solid[0]).toDynamicParameters()
    path = tmp_path / 'new.urdf'
    path.write_text(urdf(arm, Body('', nominal, Interval.of(nominal))), encoding='utf-8')
    again = RobotModel.from_files(path, arm.facts, robot)
    theta = arm.model.theta.copy()
    theta[arm.model.layout.end_effector] = nominal
    np.testing.assert_allclose(again.theta, theta, atol=1e-12)
    text, original = path.read_text(), arm.urdf.read_text()
    assert text.partition('<robot')[0] == original.partition('<robot')[0]  # its licence
    assert 'identified by safe-sysid' in text


def test_bounds_are_comments_that_contain_the_body(solid):
    body = body_of(*solid[0])
    for write, mark in ((universal_robots, '#'), (franka, '//'), (kuka, ';'), (abb, '!')):
        lines = [line for line in write(body).splitlines() if line.startswith(mark)]
        assert len(lines) == 11
        for line in lines[1:]:
            nominal, low, high = (
                float(x) for x in re.findall(r': (\S+), .* from (\S+) to (\S+)', line)[0]
            )
            assert low <= nominal <= high
            assert high - low < np.inf


@pytest.mark.parametrize('end', ['\n', '\r', '\x0b', '\x85', '\u2028'])
def test_no_name_ends_a_comment(solid, end):
    """What stands behind a comment is read by a controller."""
    evil = f'x{end}set_target_payload(99.0, [0.5, 0.0, 0.0]){end}'
    body = replace(body_of(*solid[0]), frame=evil, assumed=(evil,), kind=evil)
    for write, mark in ((universal_robots, '#'), (franka, '//'), (kuka, ';'), (abb, '!')):
        lines = write(body).splitlines()
        assert all(line.startswith(mark) for line in lines[:-1])
        assert write(body).startswith(mark) and '99.0' not in lines[-1]


def test_a_centre_of_mass_is_bounded_only_if_the_mass_cannot_be_zero(solid):
    body = body_of(*solid[0])
    light = replace(body, bounds=Interval(body.bounds.lower - 10.0, body.bounds.upper))
    assert not np.isfinite(light.com_bounds.upper).any()
    corners = body.com_bounds
    for m in (body.bounds.lower[0], body.bounds.upper[0]):
        for first in (body.bounds.lower[1:4], body.bounds.upper[1:4]):
            assert (corners.lower <= first / m).all() and (first / m <= corners.upper).all()


def test_inertia_bounds_contain_that_of_every_body_within_the_bounds(solid, rng):
    body = body_of(*solid[1])
    moments = body.inertia_bounds
    for _ in range(300):
        phi = body.bounds.lower + rng.uniform(size=10) * (body.bounds.upper - body.bounds.lower)
        about = inertia.symmetric_entries(inertia.mass_com_inertia(phi)[2])
        assert (moments.lower <= about).all() and (about <= moments.upper).all()


def test_what_cannot_exist_is_not_exported(solid):
    body = body_of(*solid[0])
    thin = replace(body, nominal=body.nominal * ([1.0] * 4 + [0.01] * 6))
    for write in (universal_robots, franka, kuka, abb, mjcf):
        with pytest.raises(ModelError, match='exist'):
            write(thin)
    heavy = body_of(100.0, np.zeros(3), np.diag([140.0, 150.0, 160.0]))
    with pytest.raises(ModelError, match='more than set_target_payload takes'):
        universal_robots(heavy)
    with pytest.raises(ModelError, match=r'mass of the payload is 0 kg'):
        franka(replace(body, nominal=np.zeros(10)))


def test_unknown_formats_are_named():
    with pytest.raises(ConfigError, match=str(list(FORMATS)).replace('[', r'\[')):
        exported('step', None, None)


def test_a_difference_that_is_no_body_becomes_one_within_its_bounds():
    arm = arm_of('two_link', None)
    whole = arm.model.theta[arm.model.layout.end_effector] + [1, 0.1, 0, 0, 0, 0, 0.02, 0, 0, 0.02]
    bounds = Interval.from_center_radius(whole, 0.05 * np.ones(10))
    body = payload_of(arm, whole, bounds, 'link_2', ArmKnowledge(links=0.0))
    assert inertia.is_consistent(body.nominal)
    assert body.bounds.contains(body.nominal)
    assert 'set_target_payload(' in universal_robots(body)


def test_no_bound_on_a_payload_is_one_that_no_body_has():
    """An empty flange: what is left of the bounds without the link has a mass of 0 or more."""
    arm = arm_of('two_link', None)
    whole = arm.model.theta[arm.model.layout.end_effector]
    bounds = Interval.from_center_radius(whole, 0.02 * np.ones(10))
    body = payload_of(arm, whole, bounds, 'link_2', ArmKnowledge(links=0.05))
    assert (body.bounds.lower[[0, 4, 6, 9]] >= 0.0).all()
    assert body.bounds.contains(np.zeros(10))
    assert body.bounds.contains(body.nominal)
    light = Interval.of(0.5 * whole)
    with pytest.raises(ModelError, match=r'm of the payload is -0\.\d+ kg at most, below 0'):
        payload_of(arm, 0.5 * whole, light, 'link_2', ArmKnowledge(links=0.05))


@pytest.mark.parametrize('tip', ['wrist_3_link', 'tool0'])
def test_links_between_the_last_joint_and_the_tip_are_no_payload(tip, solid):
    """tool0 of a UR has no mass; the wrist before it has."""
    shipped = arm_of('ur5e', None)
    facts = replace(shipped.facts, tip=tip)
    arm = replace(shipped, facts=facts, model=RobotModel.from_files(shipped.urdf, facts, 'ur5e'))
    held = pin.Inertia(*solid[0])
    place = pin.SE3(arm.model.frames['tool0'].R, arm.model.frames['tool0'].p)
    whole = arm.model.theta[arm.model.layout.end_effector]
    whole = whole + place.act(held).toDynamicParameters()
    body = payload_of(arm, whole, Interval.of(whole), 'tool0', ArmKnowledge(links=0.0))
    np.testing.assert_allclose(body.nominal, held.toDynamicParameters(), atol=1e-12)
    assert body.contains == f'all that the last joint carries beyond the link {tip}'


OBJECT = (3.0, np.array([0.05, -0.03, 0.08]), np.diag([0.02, 0.03, 0.025]))


def held_by_a_panda():
    """What was identified of a Panda, whose URDF has a hand, with an object in it."""
    arm, hand = arm_of('panda', None), 'panda_link8'
    there = pin.buildModelFromUrdf(str(arm.urdf))
    frame = there.frames[there.getFrameId(hand)]
    joint = there.getJointId(arm.model.layout.joint_names[-1])
    there.appendBodyToJoint(joint, pin.Inertia(*OBJECT), frame.placement)
    nominal = there.inertias[joint].toDynamicParameters()
    bounds = Interval.from_center_radius(nominal, 1e-6 * np.ones(10))
    bodies, known = (arm, nominal, bounds, hand), ArmKnowledge(links=0.0)
    return arm, Identification(
        robot='panda', source='', joint_names=arm.model.layout.joint_names, recording=(),
        part=(0.0, 1.0), nominal=nominal, bounds=bounds, payload=payload_of(*bodies, known),
        assumptions=(), unstated=(), refused=None, validation=None, series=None, seconds=0.0,
        alone=object_of(*bodies, known),
    )  # fmt: skip


@pytest.mark.parametrize('form', ['franka', 'ur', 'mjcf'])
def test_a_file_and_a_driver_are_told_of_the_same_body(form):
    arm, found = held_by_a_panda()
    text = exported(form, found, arm)
    asked = Asked(frame='panda_link8')
    if form == 'mjcf':
        (mass,) = re.findall(r'mass="([^"]*)"', text)
    else:
        made = handed_over(form, body_of_json(as_mapping(found), form), asked)
        (mass,) = re.findall(r'(?:setLoad|set_target_payload)\(([^,]*),', text)
        assert made.fields['mass'] == pytest.approx(float(mass), abs=1e-8)
        included = [line for line in made.sentences if line.startswith('included: ')]
        assert included[0] in text
    hand = found.payload.mass - found.alone.mass
    assert found.alone.mass == pytest.approx(OBJECT[0], abs=1e-9) and hand > 0.7
    if form == 'franka':
        assert float(mass) == pytest.approx(OBJECT[0], abs=1e-8)
        assert 'included: the object alone, without all that the URDF has' in text
    else:
        assert float(mass) == pytest.approx(OBJECT[0] + hand, abs=1e-8)
        told = f'beyond the link panda_link7, with {hand:.3g} kg that the URDF has there'
        assert f'included: all that the last joint carries {told}' in text


@pytest.mark.parametrize('form', ['ur', 'kuka', 'abb', 'franka', 'mjcf'])
def test_who_is_told_of_all_behind_the_flange_is_told_of_a_gripper_that_was_there_before(form):
    """Empty recordings had the hand of the Panda as well, so it is not in the difference."""
    arm, found = held_by_a_panda()
    hand, held = found.payload.nominal - found.alone.nominal, found.alone.nominal
    bounds = Interval.from_center_radius(held, 1e-3 * np.ones(10))
    difference = SimpleNamespace(
        frame='panda_link8', nominal=held, statistical_bounds=bounds, guaranteed_bounds=None,
        statistical=SimpleNamespace(confidence=0.95, unlike='gains differ', kappa_of_data=(1.0,)),
        guaranteed=None, refused=None, later=None, strange_unit=None,
    )  # fmt: skip
    body = body_between(form, SimpleNamespace(found=difference, arm=arm, contains='what is new'))
    assert body.caution == 'gains differ'
    is_told = form in ('ur', 'kuka', 'abb')
    np.testing.assert_allclose(body.nominal, held + hand if is_told else held, atol=1e-9)
    assert body.bounds.contains(body.nominal)
    told = f'what is new, with {hand[0]:.3g} kg that the URDF has there, taken as exact'
    assert body.contains == (told if is_told else 'what is new')
    short = SimpleNamespace(found=difference, arm=arm, contains=f'what is new, {IN_TIP}')
    if is_told:
        with pytest.raises(ConfigError, match=f'{form} is told of all that is behind the flange'):
            body_between(form, short)
    else:
        assert body_between(form, short).contains == short.contains


def test_nobody_is_told_of_an_object_that_is_less_than_the_gripper():
    arm, found = held_by_a_panda()
    less = replace(found, alone=None)
    sentence = 'holds less than what its URDF has on the last joint'
    with pytest.raises(ConfigError, match=f'nothing to export for franka: .* {sentence}'):
        exported('franka', less, arm)
    with pytest.raises(ConfigError, match=f'nothing to hand over: .* {sentence}'):
        body_of_json(as_mapping(less), 'franka')
    assert 'set_target_payload(3.' in exported('ur', less, arm)


@pytest.mark.parametrize('form', ['ur', 'kuka', 'mjcf', 'urdf'])
def test_why_bounds_may_not_hold_is_in_every_file(form, monkeypatch):
    arm, found = held_by_a_panda()
    doubt = 'torque is predicted 1.6 times better without bounds'
    assert 'CAUTION' not in exported(form, found, arm)
    monkeypatch.setattr('safe_sysid.export.payload.caution', lambda _: doubt)
    text = exported(form, found, arm)
    assert f'CAUTION: {doubt}' in text
    assert 'certainly' not in text


def test_a_robot_is_told_of_no_certain_bounds_that_may_not_hold():
    _, found = held_by_a_panda()
    given = {**as_mapping(found), 'caution': 'gains differ'}
    told = handed_over('ur', body_of_json(given, 'ur'), Asked(frame='panda_link8')).sentences
    assert 'CAUTION: gains differ' in told
    assert 'certainly' not in ' '.join(told)
