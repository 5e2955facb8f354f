"""What is avoided is known, or it is said why not: nothing in between."""

from types import SimpleNamespace

from geometry_msgs.msg import Pose, Twist
import pytest
from rclpy.node import Node
from std_msgs.msg import Header

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.avoided_obstacles import AvoidedObstacles, SceneSettings

MODEL = RobotModel.named('two_link')


@pytest.fixture
def avoided(context):
    node = Node('planner', context=context)
    obstacles = AvoidedObstacles(node, MODEL, 'empty', SceneSettings(), lambda: None)
    obstacles.discover()
    yield obstacles
    obstacles.close()
    node.destroy_node()


def motion(frame):
    return SimpleNamespace(
        header=Header(frame_id='base_link'),
        child_frame_id=frame,
        pose=SimpleNamespace(pose=Pose()),
        twist=SimpleNamespace(twist=Twist()),
    )


def test_a_motion_of_no_frame_is_a_fault_at_once(avoided):
    assert avoided.is_known
    avoided._motions.hear(motion(''))
    assert not avoided.is_known
    assert 'somebody tells the motion of no frame' in avoided.unclear
