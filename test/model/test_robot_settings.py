"""config/robots agrees with the sources and, name by name, with the URDF."""

import math
from pathlib import Path
from xml.etree import ElementTree

from model import arm_figures, kinova_figures
import pytest

from safe_sysid.model.facts import facts_path, read_facts
from safe_sysid.model.payload import read_payload
from safe_sysid.share import payload_names

URDF = Path(__file__).parents[2] / 'urdf'
ROBOTS = (
    *('kinova_gen3', 'lbr_med7', 'two_link', 'iiwa14', 'fr3', 'ur5e', 'ur10e'),
    *('panda', 'xarm7', 'z1', 'so101'),
)


def facts_of(robot):
    return read_facts(facts_path(robot))


def column(robot, key):
    return tuple(getattr(joint, key) for joint in facts_of(robot).joints.values())


def radians(degrees):
    return pytest.approx([math.radians(angle) for angle in degrees], rel=1e-15)


@pytest.mark.parametrize('robot', ROBOTS)
def test_moving_joints_are_those_of_the_urdf_from_base_to_tip(robot):
    facts = facts_of(robot)
    root = ElementTree.parse(URDF / facts.urdf).getroot()
    moving = [j.get('name') for j in root.findall('joint') if j.get('type') != 'fixed']
    assert list(facts.joints) == moving
    assert facts.held == {}


@pytest.mark.parametrize('robot', ROBOTS)
def test_links_named_in_the_settings_and_by_payloads_exist(robot):
    facts = facts_of(robot)
    links = {link.get('name') for link in ElementTree.parse(URDF / facts.urdf).iter('link')}
    named = {facts.tip, *(shape.link for shape in facts.collision.shapes.values())}
    payloads = [read_payload(payload) for payload in payload_names()]
    named |= {each.placed_on(robot)[0] for each in payloads if robot in each.placements}
    assert named <= links


def test_kinova_friction_and_armature_are_the_published_ones():
    assert column('kinova_gen3', 'coulomb') == kinova_figures.COULOMB
    assert column('kinova_gen3', 'viscous') == kinova_figures.VISCOUS
    assert column('kinova_gen3', 'armature') == kinova_figures.ARMATURE


def test_kinova_may_use_torque_up_to_the_warning():
    assert column('kinova_gen3', 'torque_limit') == kinova_figures.TORQUE_WARNING


def test_kinova_figures_in_degrees_became_radians():
    acceleration = column('kinova_gen3', 'acceleration_limit')
    assert acceleration == radians(kinova_figures.ACCELERATION_DEG)
    assert column('kinova_gen3', 'encoder_resolution') == radians(kinova_figures.ENCODER_DEG)


def test_lbr_joints_have_the_figures_of_their_sources():
    assert column('lbr_med7', 'coulomb') == (arm_figures.LBR_FRICTION,) * 7
    assert column('lbr_med7', 'viscous') == (arm_figures.LBR_DAMPING,) * 7
    assert column('lbr_med7', 'torque_limit') == arm_figures.LBR_TORQUE_RATED
    assert column('lbr_med7', 'acceleration_limit') == arm_figures.LBR_ACCELERATION


@pytest.mark.parametrize(('robot', 'sign'), [('kinova_gen3', 1), ('lbr_med7', -1)])
def test_drivers_report_torque_with_gravity(robot, sign):
    effort = facts_of(robot).effort
    assert (effort.kind, effort.gravity_included) == ('torque', True)
    assert set(column(robot, 'effort_sign')) == {sign}
    assert set(column(robot, 'effort_scale')) == {1.0}


def test_two_link_arm_can_hold_the_heaviest_dumbbell_at_arms_length():
    shoulder, elbow = column('two_link', 'torque_limit')
    mass = read_payload('dumbbell_8lb').mass
    assert 9.81 * (2 * 0.2 + 1 * (0.4 + 0.25) + mass * 0.9) < shoulder
    assert 9.81 * (1 * 0.25 + mass * 0.5) < elbow
