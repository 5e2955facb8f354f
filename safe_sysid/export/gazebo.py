"""An arm for Gazebo: a URDF that has all that its settings say, controllers, and settings for it.

Gazebo knows no armature. So the arm there is another one than the real one, and the loop gets
settings that say so: armature 0, and certainly 0, and of its effort what Gazebo tells, not what
the driver of the real one does. Friction is in the URDF, for an arm without it would contradict
the settings at once. Gravity points down there, so the base is turned as the arm is mounted, and
the base frame of these settings is that of the world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import yaml_text
from safe_sysid.errors import ConfigError
from safe_sysid.export.arm_settings import settings_text
from safe_sysid.export.arm_urdf import mounted_beyond, write_dynamics
from safe_sysid.export.held_joints import fix_joints
from safe_sysid.export.urdf_file import with_comments, write_urdf
from safe_sysid.model.arm import Arm
from safe_sysid.model.facts import RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw
from safe_sysid.model.signal_facts import EffortSignal
from safe_sysid.model.uncertainty import Width
from safe_sysid.output_file import filled_folder, write_text

EFFORT, BROADCASTER = 'forward_effort_controller', 'joint_state_broadcaster'


@dataclass(frozen=True)
class GazeboRelease:
    """What the two plugins are called with one distribution of ROS."""

    hardware: str
    system_file: str
    system_name: str


HARMONIC = GazeboRelease(
    'gz_ros2_control/GazeboSimSystem',
    'libgz_ros2_control-system.so',
    'gz_ros2_control::GazeboSimROS2ControlPlugin',
)
RELEASES = {
    'humble': GazeboRelease(  # Fortress
        'ign_ros2_control/IgnitionSystem',
        'ign_ros2_control-system',
        'ign_ros2_control::IgnitionROS2ControlPlugin',
    ),
    'jazzy': HARMONIC,
    'kilted': HARMONIC,  # Ionic
}
HEADER = """\
# {arm} as Gazebo has it: without armature, and friction as in {urdf} beside this file.
# Effort is torque along the axes, without offset and low-pass, whatever the real driver tells.
# Its base frame is the world of Gazebo, where gravity has to be {gravity:g} m/s^2 downwards.
# The settings of the real arm say more. docs/robots.md explains every key.
"""
DOWN = np.array([0.0, 0.0, -1.0])
ALONG = 1e-9  # [rad] within which gravity counts as pointing down


def write_gazebo(arm: Arm, distribution: str, period: float, folder: Path) -> list[Path]:
    """Write the three files; `period` [s] is that of the loop."""
    if arm.facts.closed_chain is not None:
        raise ConfigError(
            f'{arm.model.name} has a closed chain, and a URDF is a tree: Gazebo would open its '
            f'loops {list(arm.facts.closed_chain.loops)}; only open chains are written for it'
        )
    name, release = arm.model.name, RELEASES[distribution]
    urdf, controllers = folder / f'{name}.gazebo.urdf', folder / f'{name}.controllers.yaml'
    settings = folder / f'{name}.gazebo.yaml'
    with filled_folder(folder):
        _write_urdf(arm, release, controllers, urdf)
        write_text(controllers, yaml_text(_controllers(arm.model, period)))
        _write_settings(arm, urdf, settings)
    return [urdf, controllers, settings]


def _write_urdf(arm: Arm, release: GazeboRelease, controllers: Path, target: Path) -> None:
    model = arm.model
    mounted = mounted_beyond(arm.facts.tip, model, arm.urdf) or {}
    still_held = write_dynamics(model, arm.facts.held, arm.urdf, target, mounted)
    root = with_comments(target)
    fix_joints(root, still_held)
    _fix_to_world(root, arm)
    limits = dict(zip(model.layout.joint_names, model.limits.torque, strict=True))
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if joint.get('name') in limits and limit is not None:
            limit.set('effort', f'{limits[str(joint.get("name"))]:.12g}')
    root.append(_ros2_control(model, release))
    gazebo = ElementTree.SubElement(root, 'gazebo')
    plugin = {'filename': release.system_file, 'name': release.system_name}
    system = ElementTree.SubElement(gazebo, 'plugin', plugin)
    ElementTree.SubElement(system, 'parameters').text = str(controllers.resolve())
    write_urdf(root, target, target)


def _fix_to_world(root: ElementTree.Element, arm: Arm) -> None:
    """Weld the base to the world, without which the arm falls as a whole, as it is mounted."""
    children = {joint.find('child').get('link') for joint in root.findall('joint')}  # type: ignore[union-attr]
    (base,) = [x.get('name') for x in root.findall('link') if x.get('name') not in children]
    R = _upright(np.array(arm.facts.gravity))
    if base == 'world':
        if not np.allclose(R, np.eye(3), rtol=0.0, atol=ALONG):
            raise ConfigError(
                f'{arm.urdf}: the root link is world, where Gazebo has gravity along -z, and the '
                f'settings have gravity {list(arm.facts.gravity)}; turn what hangs on world'
            )
        return
    ElementTree.SubElement(root, 'link', {'name': 'world'})
    weld = ElementTree.SubElement(root, 'joint', {'name': 'world_to_base', 'type': 'fixed'})
    turned = ' '.join(repr(float(x) + 0.0) for x in roll_pitch_yaw(R))
    ElementTree.SubElement(weld, 'origin', {'xyz': '0 0 0', 'rpy': turned})
    ElementTree.SubElement(weld, 'parent', {'link': 'world'})
    ElementTree.SubElement(weld, 'child', {'link': str(base)})


def _upright(gravity: Array) -> Array:
    """Return the rotation of a base in a world where its gravity points down.

    Without gravity the base stands as it is; one that hangs is turned over about x first.
    """
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return np.eye(3)
    over = np.eye(3) if gravity[2] <= 0.0 else _half_turn(np.array([1.0, 0.0, 0.0]))
    points = over @ gravity / size
    R: Array = _half_turn(points + DOWN) @ _half_turn(points) @ over
    return R


def _half_turn(axis: Array) -> Array:
    turn: Array = 2.0 * np.outer(axis, axis) / (axis @ axis) - np.eye(3)
    return turn


def _ros2_control(model: RobotModel, release: GazeboRelease) -> ElementTree.Element:
    control = ElementTree.Element('ros2_control', {'name': 'gazebo', 'type': 'system'})
    hardware = ElementTree.SubElement(control, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = release.hardware
    for name in model.layout.joint_names:
        joint = ElementTree.SubElement(control, 'joint', {'name': name})
        ElementTree.SubElement(joint, 'command_interface', {'name': 'effort'})
        for state in ('position', 'velocity', 'effort'):
            ElementTree.SubElement(joint, 'state_interface', {'name': state})
    return control


def _controllers(model: RobotModel, period: float) -> dict[str, object]:
    manager = {
        'update_rate': round(1.0 / period),
        BROADCASTER: {'type': 'joint_state_broadcaster/JointStateBroadcaster'},
        EFFORT: {'type': 'forward_command_controller/ForwardCommandController'},
    }
    forward = {'joints': list(model.layout.joint_names), 'interface_name': 'effort'}
    return {
        'controller_manager': {'ros__parameters': manager},
        EFFORT: {'ros__parameters': forward},
    }


def _write_settings(arm: Arm, urdf: Path, target: Path) -> None:
    name, size = arm.model.name, float(np.linalg.norm(arm.facts.gravity))
    in_tip = mounted_beyond(arm.facts.tip, arm.model, arm.urdf) is None
    facts = replace(arm.facts, held={}, gravity=(0.0, 0.0, -size))
    facts = replace(_without_drives(facts), gripper_in_tip=in_tip or facts.gripper_in_tip)
    model = RobotModel.from_files(urdf, facts, name)
    header = HEADER.format(arm=name, urdf=urdf.name, gravity=size)
    write_text(target, header + settings_text(model, facts, urdf.name))


def _without_drives(facts: RobotFacts) -> RobotFacts:
    """Return facts without what the real drives and their driver add.

    Gazebo tells torques [N m] about the axes at the joints, as they are now.
    """
    none, velocity = Width((0.0,), (0.0,)), facts.sensing.velocity
    joints = {
        name: replace(joint, armature=0.0, offset=0.0, effort_sign=1, effort_scale=1.0)
        for name, joint in facts.joints.items()
    }
    sensing = replace(
        facts.sensing,
        backlash=None,
        velocity=velocity and replace(velocity, filter=0.0, lag=0.0),
        torque=replace(facts.sensing.torque, filter=(0.0, 0.0)),
    )
    return replace(
        facts,
        joints=joints,
        effort=EffortSignal('torque', gravity_included=True),
        uncertainty=replace(facts.uncertainty, armature=none, offset=none),
        sensing=sensing,
    )
