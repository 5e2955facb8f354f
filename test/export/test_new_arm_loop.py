"""What a new arm holds and where it begins: away from the arm, no more than it can, and free."""

from dataclasses import replace
from functools import cache
from pathlib import Path
import tempfile

from bringup.test_processes import settings_class
import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after
import yaml

from safe_sysid.bringup.processes import SIMULATORS, nodes
from safe_sysid.config import from_mapping
from safe_sysid.export import new_arm_loop
from safe_sysid.export.new_arm_files import write_new_arm
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.collision.arm_clearance import arm_clearance
from safe_sysid.model.description.described_arm import (
    NewArmSettings,
    described_arm,
    static_torques_at,
)
from safe_sysid.model.description.first_pose import FirstPose, first_pose
from safe_sysid.model.facts import read_facts
from safe_sysid.model.held_body import refuse_beyond
from safe_sysid.model.payload import read_payload
from safe_sysid.sets.interval import Interval
from safe_sysid.share import share_directory

LINK = """<link name="{name}"><inertial><mass value="2"/><origin xyz="0 0 {z}"/>
  <inertia ixx="0.02" iyy="0.021" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 {z}"/><geometry><cylinder radius="0.03" length="{length}"/>
  </geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="0 0 {z}"/><axis xyz="0 {y} {turn}"/>
  <limit lower="-1.5" upper="{upper}" effort="{effort}" velocity="2"/></joint>"""

BASE = LINK.format(name='base', z=0.1, length=0.2)


@cache
def arm(effort=60, disc=-0.02, base=BASE):
    """Base, upper arm and a flange whose frame is at its outer face: its body is behind that."""
    parts = [
        base,
        LINK.format(name='upper', z=0.2, length=0.4),
        LINK.format(name='flange', z=disc, length=0.02),
        JOINT.format(name='j1', parent='base', child='upper', z=0.25, y=1, turn=0, upper=0.1,
                     effort=effort),
        JOINT.format(name='j2', parent='upper', child='flange', z=0.5, y=0, turn=1, upper=1.5,
                     effort=9),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.urdf'
        path.write_text(f'<robot name="arm">{"".join(parts)}</robot>', encoding='utf-8')
        return described_arm(path, NewArmSettings('torque-sensor', capsules=1))


def test_a_base_without_a_shape_stands_on_a_floor_too_and_that_is_said():
    bare = arm(base='<link name="base"/>')
    world = yaml.safe_load(new_arm_loop.world_text(bare))
    top = world['obstacles']['floor']['center'][2] + world['obstacles']['floor']['size'][2] / 2
    assert top == pytest.approx(-0.01)
    assert yaml.safe_load(new_arm_loop.excitation_text(bare, None))['floor'] == -0.01
    assert len(new_arm_loop.world_of(bare).names) == 1
    assert any('the base has no shape' in remark for remark in bare.remarks)
    assert not any('the base has no shape' in remark for remark in arm().remarks)


@pytest.mark.parametrize(('disc', 'place'), [(-0.02, 0.04), (0.02, 0.08)])
def test_a_box_is_on_the_side_of_the_flange_that_is_away_from_the_arm(disc, place):
    center = new_arm_loop.beyond_tip(arm(disc=disc))
    np.testing.assert_allclose(center, [0.0, 0.0, place], atol=1e-3)


@pytest.mark.parametrize(('effort', 'mass'), slow_after(2, [(60, 2.0), (20, 0.5), (25, 1.0)]))
def test_the_weight_of_a_box_takes_at_most_a_quarter_of_a_torque(effort, mass):
    found = arm(effort=effort)
    assert new_arm_loop.heaviest_box(found, new_arm_loop.beyond_tip(found)).mass == mass


@pytest.mark.parametrize('effort', [60, 20])
def test_an_arm_begins_where_nothing_is_near_and_little_torque_is_needed(effort):
    found = arm(effort=effort)
    held = new_arm_loop.heaviest_box(found, new_arm_loop.beyond_tip(found))
    loaded, world = found.model.with_payload(held), new_arm_loop.world_of(found)
    pose, clearance = first_pose(loaded, world)
    assert (pose >= loaded.limits.position_lower + 0.29).all()
    assert (pose <= loaded.limits.position_upper - 0.29).all()
    assert arm_clearance(loaded, world, pose).distance == clearance > 0.03
    assert (np.abs(static_torques_at(loaded, pose[None])) <= 0.5 * loaded.limits.torque).all()
    assert pose.tolist() == [-0.2, 0.0]  # 0, as far inside the limits as that is


def a_lift(height):
    """An arm whose ball of 10 cm radius hangs at a height [m], and goes down by up to 10 cm."""
    ball = LINK.replace('<cylinder radius="0.03" length="{length}"/>', '<sphere radius="0.1"/>')
    slide = JOINT.replace('revolute', 'prismatic').replace('-1.5', '0')
    parts = [
        BASE,
        ball.format(name='ball', z=0.0),
        slide.format(name='j1', parent='base', child='ball', z=height, y=0, turn=-1, upper=0.1,
                     effort=90),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'lift.urdf'
        path.write_text(f'<robot name="lift">{"".join(parts)}</robot>', encoding='utf-8')
        return described_arm(path, NewArmSettings('torque-sensor', capsules=1))


def test_an_arm_begins_near_a_limit_where_it_touches_something_farther_inside():
    lift = a_lift(0.104)
    world = new_arm_loop.world_of(lift)
    (position,), clearance = first_pose(lift.model, world)
    assert arm_clearance(lift.model, world, np.array([0.03])).distance < 0.0
    assert 0.003 <= position < 0.03
    assert arm_clearance(lift.model, world, np.array([position])).distance == clearance > 0.0


def test_a_start_in_contact_is_called_so(tmp_path):
    lift = a_lift(0.05)
    start = first_pose(lift.model, new_arm_loop.world_of(lift))
    assert start.clearance < 0.0
    told, files = write_new_arm(tmp_path, lift, None, is_forced=False)
    assert any('`start` of the loop is in contact' in remark for remark in told.remarks)
    assert '# [rad or m], IN CONTACT' in files['loop'].read_text(encoding='utf-8')
    assert 'nothing is near' not in files['loop'].read_text(encoding='utf-8')
    assert 'is in contact' in files['report'].read_text(encoding='utf-8')


def test_figures_of_a_joint_that_slides_have_its_units(tmp_path):
    _, files = write_new_arm(tmp_path, a_lift(0.104), None, is_forced=False)
    text = files['settings'].read_text(encoding='utf-8')
    for figure in ('torque_limit: 90.0 # [N]', 'offset: 0.0 # [N]', 'armature: 0.0 # [kg]'):
        assert figure in text
    assert 'acceleration_limit: ' in text and '# [m/s^2] assumed' in text
    assert '[rad' not in text and '[N m]' not in text


def test_the_prior_has_the_payload_in_any_hand_that_the_loop_takes_for_possible():
    """A light payload on a heavy link, of which much is unknown where its figures are 0."""
    found = arm()
    hand = ArmKnowledge(links=0.05).bounds(found.model)[found.model.layout.end_effector]
    box = new_arm_loop.heaviest_box(found, new_arm_loop.beyond_tip(found))
    for mass in new_arm_loop.MASSES:
        held = replace(box, mass=mass, inertia=box.inertia * mass / box.mass)
        lower, nominal, upper = new_arm_loop.prior_beyond(found, held.placed_on('arm')[2], mass)
        prior = Interval(lower, upper)
        refuse_beyond(prior, hand, found.model, {'nothing': None, 'its payload': held})
        assert prior.contains(nominal)


def with_adapter(folder):
    """Its tip is a frame 30 cm beside the last joint, turned, at the end of an adapter of 2 kg."""
    parts = [
        BASE,
        LINK.format(name='upper', z=0.2, length=0.4),
        LINK.format(name='adapter', z=0.02, length=0.04),
        '<link name="tool0"/>',
        JOINT.format(name='j1', parent='base', child='upper', z=0.25, y=1, turn=0, upper=0.1,
                     effort=90),
        """<joint name="bolts" type="fixed"><parent link="upper"/><child link="adapter"/>
           <origin xyz="0.1 0 0.4" rpy="0 1.2 0"/></joint>
           <joint name="face" type="fixed"><parent link="adapter"/><child link="tool0"/>
           <origin xyz="0 0.3 0.05" rpy="0.4 0 2"/></joint>""",
    ]  # fmt: skip
    path = folder / 'arm.urdf'
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>', encoding='utf-8')
    return path


@pytest.mark.parametrize('name', ['franka_hand', 'robotiq_2f85'])
def test_a_gripper_is_at_the_tip_that_was_named_and_the_prior_knows_it(tmp_path, name, rng):
    """By Pinocchio's frames: the gripper, and any object at its end, welded to the tip."""
    urdf = with_adapter(tmp_path)
    settings = NewArmSettings('torque-sensor', tip='tool0', capsules=1)
    tool = read_payload(share_directory() / 'config' / 'tools' / f'{name}.yaml')
    _, files = write_new_arm(
        tmp_path / 'out', described_arm(urdf, settings), tool, is_forced=False
    )
    assert read_facts(files['settings']).tip == 'tool0'
    chain = pin.buildModelFromUrdf(str(urdf))
    place = chain.frames[chain.getFrameId('tool0')].placement
    loop = yaml.safe_load(files['loop'].read_text(encoding='utf-8'))
    prior = loop['/**']['ros__parameters']['prior']
    end = max(max(s.a[2], s.b[2]) + s.radius for s in tool.shapes.values())
    for _ in range(50):
        mass = rng.uniform(0.0, 2.0)
        center = np.array([0.0, 0.0, end + 0.05]) + rng.uniform(-0.05, 0.05, 3)
        moments = mass * 0.03**2 * rng.uniform(0.5, 1.0)
        thing = pin.Inertia(mass, center, moments * np.eye(3))
        hand = pin.Inertia(tool.mass, tool.com, tool.inertia)
        held = chain.inertias[-1] + place.act(thing) + place.act(hand)
        phi = held.toDynamicParameters()
        assert np.all(prior['lower'] <= phi) and np.all(phi <= prior['upper'])


def test_a_box_is_at_the_tip_that_was_named_and_the_prior_knows_it(tmp_path, rng):
    """By Pinocchio's frames: the box touches the tip, and objects welded to that may be held."""
    urdf = with_adapter(tmp_path)
    settings = NewArmSettings('torque-sensor', tip='tool0', capsules=1)
    described = described_arm(urdf, settings)
    _, files = write_new_arm(tmp_path / 'out', described, None, is_forced=False)
    box = read_payload(files['payload'])
    assert box.placements['arm'].link == 'tool0'
    assert np.linalg.norm(box.placements['arm'].xyz) == pytest.approx(0.05, abs=0.002)
    chain = pin.buildModelFromUrdf(str(urdf))
    place = chain.frames[chain.getFrameId('tool0')].placement
    loop = yaml.safe_load(files['loop'].read_text(encoding='utf-8'))
    prior = loop['/**']['ros__parameters']['prior']
    for _ in range(50):
        mass = rng.uniform(0.0, box.mass)
        moments = mass * 0.03**2 * rng.uniform(0.5, 1.0)
        thing = pin.Inertia(mass, rng.uniform(-0.05, 0.05, 3), moments * np.eye(3))
        phi = (chain.inertias[-1] + place.act(thing)).toDynamicParameters()
        assert np.all(prior['lower'] <= phi) and np.all(phi <= prior['upper'])


def test_a_gripper_that_is_not_at_the_links_fixed_to_the_last_body_is_told(tmp_path):
    tool = read_payload(share_directory() / 'config' / 'tools' / 'franka_hand.yaml')
    said = {}
    for tip in ('upper', 'tool0'):
        settings = NewArmSettings('torque-sensor', tip=tip, capsules=1)
        told, _ = write_new_arm(
            tmp_path / tip, described_arm(with_adapter(tmp_path), settings), tool, is_forced=False
        )
        said[tip] = [remark for remark in told.remarks if 'the gripper is put at' in remark]
    assert len(said['upper']) == 1 and 'adapter, tool0' in said['upper'][0]
    assert said['tool0'] == []


def test_nodes_accept_the_loop_that_is_written(tmp_path):
    """As it is: every key is known to its node, and their values fit together."""
    described = arm()
    names = ('settings', 'loop', 'payload', 'world')
    files = {name: tmp_path / f'arm_{name}.yaml' for name in names}
    center = new_arm_loop.beyond_tip(described)
    prior = new_arm_loop.prior_beyond(described, center, 2.0)
    text = new_arm_loop.loop_text(
        described, files, prior, 2.0, FirstPose(np.array([-0.3, 0.2]), 0.2)
    )
    period = text.partition('period: ')[2].partition('payload: ')[0]
    assert 'assumed' in period and '`sampling: ideal`' in period and 'TRACKING' in period
    assert '`guard.rate`' in period
    blocks = yaml.safe_load(text)
    shared = blocks.pop('/**')['ros__parameters']
    assert {name.removeprefix('/**/') for name in blocks} <= set(nodes())
    for node in ('identifier', 'planner', 'controller', 'supervisor', *SIMULATORS):
        own = blocks.get(f'/**/{node}', {}).get('ros__parameters', {})
        from_mapping(settings_class(node), {**shared, **own}, node)
    assert blocks['/**/planner']['ros__parameters']['world'] == files['world'].name
    assert (shared['robot'], shared['payload']) == (files['settings'].name, files['payload'].name)
