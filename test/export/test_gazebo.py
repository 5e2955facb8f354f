"""Files for Gazebo say what the settings say; that Gazebo runs with them is shown nowhere."""

from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from safe_sysid.cli.main import main
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlSettings

ARMS = ['kinova_gen3', 'two_link', 'fr3']  # the last with sensors behind its gears


def written(tmp_path, robot='kinova_gen3', distribution='jazzy'):
    line = ['export-gazebo', robot, '--distribution', distribution, '--period', '0.002']
    assert main([*line, '--out', str(tmp_path)]) == 0
    names = ('gazebo.urdf', 'controllers.yaml', 'gazebo.yaml')
    return [tmp_path / f'{robot}.{name}' for name in names]


@pytest.mark.parametrize('robot', ARMS)
def test_the_arm_is_the_same_but_for_its_armature(tmp_path, robot):
    _, _, settings = written(tmp_path, robot)
    arm, there = RobotModel.named(robot), RobotModel.from_config(settings)
    expected = arm.theta.copy()
    expected[arm.layout.joint_entries('Ia')] = 0.0
    np.testing.assert_allclose(there.theta, expected, rtol=1e-9, atol=1e-9)
    uncertainty = yaml.safe_load(settings.read_text())['uncertainty']
    assert uncertainty['armature'] == {'ratio': [0.0], 'absolute': [0.0]}


@pytest.mark.parametrize('robot', ARMS)
def test_the_urdf_has_friction_limits_and_a_base_that_stands(tmp_path, robot):
    urdf, _, _ = written(tmp_path, robot)
    arm, root = RobotModel.named(robot), ElementTree.parse(urdf).getroot()
    friction = arm.layout.friction(arm.theta)
    for j, name in enumerate(arm.layout.joint_names):
        (joint,) = [x for x in root.findall('joint') if x.get('name') == name]
        dynamics = joint.find('dynamics')
        assert float(dynamics.get('friction')) == pytest.approx(friction[0, j])
        assert float(dynamics.get('damping')) == pytest.approx(friction[1, j])
        assert float(joint.find('limit').get('effort')) == pytest.approx(arm.limits.torque[j])
    children = {joint.find('child').get('link') for joint in root.findall('joint')}
    assert {x.get('name') for x in root.findall('link')} - children == {'world'}


@pytest.mark.parametrize(
    ('distribution', 'hardware', 'system', 'file'),
    [
        (
            'humble',
            'ign_ros2_control/IgnitionSystem',
            'ign_ros2_control::IgnitionROS2ControlPlugin',
            'ign_ros2_control-system',
        ),
        (
            'jazzy',
            'gz_ros2_control/GazeboSimSystem',
            'gz_ros2_control::GazeboSimROS2ControlPlugin',
            'libgz_ros2_control-system.so',
        ),
    ],
)
def test_plugins_are_called_as_the_release_calls_them(
    tmp_path, distribution, hardware, system, file
):
    urdf, controllers, _ = written(tmp_path, distribution=distribution)
    root = ElementTree.parse(urdf).getroot()
    assert root.findtext('ros2_control/hardware/plugin') == hardware
    plugin = root.find('gazebo/plugin')
    assert (plugin.get('name'), plugin.get('filename')) == (system, file)
    assert plugin.findtext('parameters') == str(controllers.resolve())


def test_every_joint_takes_effort_and_tells_all_that_the_bridge_needs(tmp_path):
    urdf, controllers, _ = written(tmp_path)
    names = list(RobotModel.named('kinova_gen3').layout.joint_names)
    joints = ElementTree.parse(urdf).getroot().findall('ros2_control/joint')
    assert [joint.get('name') for joint in joints] == names
    for joint in joints:
        assert [x.get('name') for x in joint.findall('command_interface')] == ['effort']
        told = [x.get('name') for x in joint.findall('state_interface')]
        assert told == ['position', 'velocity', 'effort']
    said = yaml.safe_load(controllers.read_text())
    controller = Ros2ControlSettings.__dataclass_fields__['commands'].default.split('/')[1]
    assert controller in said['controller_manager']['ros__parameters']
    assert said['controller_manager']['ros__parameters']['update_rate'] == 500
    assert said[controller]['ros__parameters'] == {'joints': names, 'interface_name': 'effort'}
