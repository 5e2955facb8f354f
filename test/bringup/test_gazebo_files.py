"""Files for Gazebo name the joints of the arm; that Gazebo runs with them is shown nowhere."""

from pathlib import Path
from xml.etree import ElementTree

import yaml

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlSettings

FOLDER = Path(__file__).parents[2] / 'config' / 'gz'
JOINTS = list(RobotModel.named('kinova_gen3').layout.joint_names)


def test_the_effort_controller_has_the_joints_of_the_arm_in_its_order():
    settings = yaml.safe_load((FOLDER / 'controllers.yaml').read_text())
    topic = Ros2ControlSettings.__dataclass_fields__['commands'].default
    controller = topic.split('/')[1]
    assert controller in settings['controller_manager']['ros__parameters']
    parameters = settings[controller]['ros__parameters']
    assert parameters == {'joints': JOINTS, 'interface_name': 'effort'}


def test_every_joint_takes_effort_and_tells_all_that_the_bridge_needs():
    tree = ElementTree.parse(FOLDER / 'kinova_gen3.ros2_control.xml')
    joints = tree.findall('./ros2_control/joint')
    assert [joint.get('name') for joint in joints] == JOINTS
    for joint in joints:
        assert [x.get('name') for x in joint.findall('command_interface')] == ['effort']
        told = [x.get('name') for x in joint.findall('state_interface')]
        assert told == ['position', 'velocity', 'effort']
