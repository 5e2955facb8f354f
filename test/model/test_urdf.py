"""The URDF files say what the sources say: bodies, joints, limits; and every body can exist."""

import math
from pathlib import Path
from xml.etree import ElementTree

from model import arm_figures, kinova_figures
import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.model.urdf_tree import urdf_text

URDF = Path(__file__).parents[2] / 'urdf'
ROBOTS = (
    *('kinova_gen3', 'lbr_med7', 'two_link', 'iiwa14', 'fr3', 'ur5e', 'ur10e'),
    *('panda', 'xarm7', 'z1', 'so101'),
)
SOURCES = {
    'kinova_gen3': (kinova_figures.BODIES, kinova_figures.JOINTS),
    'lbr_med7': (arm_figures.LBR_BODIES, arm_figures.LBR_JOINTS),
}
QUARTER = math.pi / 2
PRINTED = 1e-4  # [rad], coarser than 1.5708 and 3.1416 are rounded


def root_of(robot):
    return ElementTree.parse(URDF / f'{robot}.urdf').getroot()


def numbers(text):
    return tuple(float(word) for word in text.split())


def bodies_of(robot):
    """Link -> (mass, centre of mass, [ixx ixy ixz iyy iyz izz]) of all links that have mass."""
    bodies = {}
    for link in root_of(robot).findall('link'):
        inertial = link.find('inertial')
        if inertial is not None:
            assert numbers(inertial.find('origin').get('rpy')) == (0, 0, 0)
            entries = inertial.find('inertia').attrib
            bodies[link.get('name')] = (
                float(inertial.find('mass').get('value')),
                numbers(inertial.find('origin').get('xyz')),
                tuple(float(entries[key]) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')),
            )
    return bodies


def limits_of(robot):
    """Joint -> limits as numbers, for the joints that move."""
    return {
        joint.get('name'): {key: float(value) for key, value in joint.find('limit').items()}
        for joint in root_of(robot).findall('joint')
        if joint.get('type') != 'fixed'
    }


@pytest.mark.parametrize('robot', SOURCES)
def test_masses_and_inertias_are_those_of_the_source(robot):
    assert bodies_of(robot) == {name: tuple(body) for name, body in SOURCES[robot][0].items()}


@pytest.mark.parametrize('robot', SOURCES)
def test_joints_connect_move_and_sit_as_in_the_source(robot):
    joints = {joint.get('name'): joint for joint in root_of(robot).findall('joint')}
    figures = SOURCES[robot][1]
    assert joints.keys() == figures.keys()
    for name, figure in figures.items():
        joint = joints[name]
        assert joint.find('parent').get('link') == figure.parent
        assert joint.find('child').get('link') == figure.child
        origin = joint.find('origin')
        assert numbers(origin.get('xyz')) == pytest.approx(figure.xyz, abs=1e-12), name
        assert numbers(origin.get('rpy')) == pytest.approx(figure.rpy, abs=PRINTED), name
        assert (joint.get('type') == 'fixed') == (figure.axis is None), name
        if figure.axis is not None:
            assert numbers(joint.find('axis').get('xyz')) == figure.axis


@pytest.mark.parametrize('robot', SOURCES)
def test_rounded_quarter_turns_became_exact_ones(robot):
    for joint in root_of(robot).findall('joint'):
        for angle in numbers(joint.find('origin').get('rpy')):
            turns = round(angle / QUARTER)
            if abs(angle - turns * QUARTER) < PRINTED:
                assert angle == turns * QUARTER, joint.get('name')


def test_kinova_joints_without_stops_are_continuous():
    continuous = [j.get('name') for j in root_of('kinova_gen3') if j.get('type') == 'continuous']
    assert tuple(continuous) == kinova_figures.CONTINUOUS


def test_kinova_limits_are_the_stricter_of_the_published_ones():
    limits = limits_of('kinova_gen3')
    assert list(limits) == [f'joint_{i}' for i in range(1, 8)]
    for i, (name, limit) in enumerate(limits.items()):
        if name in kinova_figures.CONTINUOUS:
            assert limit.keys() == {'effort', 'velocity'}
        else:
            assert limit['upper'] == -limit['lower']
            assert limit['upper'] == kinova_figures.POSITION_OF_DESCRIPTION[name]
            assert limit['upper'] < math.radians(kinova_figures.POSITION_DEG[name])
            assert limit['upper'] < kinova_figures.POSITION_BEFORE[name]
        assert limit['velocity'] == kinova_figures.VELOCITY_OF_DESCRIPTION[i]
        assert limit['velocity'] < math.radians(kinova_figures.VELOCITY_DEG[i])
        assert limit['effort'] == kinova_figures.TORQUE_CONTINUOUS[i]


def test_lbr_limits_are_whole_degrees_and_rated_torques():
    limits = limits_of('lbr_med7')
    assert list(limits) == [f'A{i}' for i in range(1, 8)]
    for i, limit in enumerate(limits.values()):
        degrees = math.radians(arm_figures.LBR_POSITION_DEG[i])
        assert limit['upper'] == -limit['lower'] == pytest.approx(degrees, rel=1e-15)
        speed = math.radians(arm_figures.LBR_VELOCITY_DEG[i])
        assert limit['velocity'] == pytest.approx(speed, rel=1e-15)
        assert limit['effort'] == arm_figures.LBR_TORQUE_RATED[i]


def test_total_masses():
    mass = {robot: sum(body[0] for body in bodies_of(robot).values()) for robot in ROBOTS}
    assert mass['lbr_med7'] == pytest.approx(arm_figures.LBR_TOTAL_MASS, abs=2e-6)
    assert mass['two_link'] == 3.0
    held = ('bracelet', 'robotiq')
    end_effector = sum(
        body[0]
        for name, body in bodies_of('kinova_gen3').items()
        if any(word in name for word in held)
    )
    assert end_effector == pytest.approx(kinova_figures.END_EFFECTOR_MASS, abs=0.005)


@pytest.mark.parametrize('robot', ROBOTS)
def test_every_body_can_exist(robot):
    for name, (mass, _, (xx, xy, xz, yy, yz, zz)) in bodies_of(robot).items():
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        # second moments of the mass: positive definite for a body with volume
        spread = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        assert mass > 0 and np.linalg.eigvalsh(spread)[0] > 0, name


@pytest.mark.parametrize('robot', ROBOTS)
def test_shapes_are_primitives_and_seen_as_they_collide(robot):
    for link in root_of(robot).findall('link'):
        seen, felt = (
            [ElementTree.tostring(child).strip() for shape in link.findall(tag) for child in shape]
            for tag in ('visual', 'collision')
        )
        assert seen == felt, link.get('name')
        kinds = {shape.tag for shape in link.findall('collision/geometry/*')}
        assert kinds <= {'cylinder', 'box', 'sphere'}, link.get('name')
        assert kinds or link.find('inertial') is None, link.get('name')


def two_link_by_hand(q, v, a):
    """Torque of the two-link arm from its energies, written out for its figures."""
    m1, m2, l1, c1, c2, i1, i2, g = 2.0, 1.0, 0.4, 0.2, 0.25, 0.03, 0.02, 9.81
    M11 = i1 + m1 * c1**2 + i2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * math.cos(q[1]))
    M12 = i2 + m2 * (c2**2 + l1 * c2 * math.cos(q[1]))
    M22 = i2 + m2 * c2**2
    h = m2 * l1 * c2 * math.sin(q[1])
    lift = m2 * g * c2 * math.cos(q[0] + q[1])
    return (
        M11 * a[0] + M12 * a[1] - h * (2 * v[0] * v[1] + v[1] ** 2)
        + (m1 * c1 + m2 * l1) * g * math.cos(q[0]) + lift,
        M12 * a[0] + M22 * a[1] + h * v[0] ** 2 + lift,
    )  # fmt: skip


def test_two_link_arm_has_the_dynamics_of_the_textbook(rng):
    model = pin.buildModelFromUrdf(str(URDF / 'two_link.urdf'))
    for q, v, a in rng.uniform(-3, 3, (20, 3, 2)):
        torque = pin.rnea(model, model.createData(), q, v, a)
        assert torque == pytest.approx(two_link_by_hand(q, v, a), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize('encoding', ['UTF-8', 'ISO-8859-1', 'UTF-16'])
def test_text_of_a_urdf_is_the_same_in_any_encoding(encoding, tmp_path):
    path = tmp_path / 'arm.urdf'
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = f'{head}\n<robot name="Gerät"><link name="l"/></robot>'
    path.write_bytes(text.encode(encoding))
    root = ElementTree.fromstring(urdf_text(path))
    assert (root.get('name'), [x.get('name') for x in root]) == ('Gerät', ['l'])
    if encoding == 'UTF-8':
        assert urdf_text(path) == text
