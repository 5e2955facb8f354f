"""What is avoided is known, or it is said why not, by the clock of the arm alone."""

from types import SimpleNamespace

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Pose, Twist
import numpy as np
import pytest
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.measure.arm_clock import ArmClock
from safe_sysid.model.frame_tree import Transform
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.avoided_obstacles import AvoidedObstacles, SceneSettings
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.heard_markers import heard_markers
from safe_sysid.ros.messages.obstacle_motions import MotionSettings
from safe_sysid.ros.messages.scene_topics import POINTS

MODEL = RobotModel.named('two_link')
WALL, SIMULATED = 1_763_744_000_000_000_000, 5_000_000_000  # [ns]
MS = 1_000_000  # [ns]
PROMISED = SceneSettings(motion=MotionSettings(position_error=0.1, speed=1.0))
HERE = Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))


class Cell:
    """Obstacles of an arm whose samples are told by hand."""

    def __init__(self, context):
        self.steady = 0
        self.node = Node('planner', context=context)
        clock = ArmClock(lambda: WALL + self.steady, lambda: self.steady)
        self.avoided = AvoidedObstacles(self.node, MODEL, 'empty', PROMISED, clock, lambda: None)
        self.avoided.discover()

    def show(self, frame='base_link', lifetime=0, number=0):
        marker = Marker(ns='cell', id=number, type=Marker.CUBE)
        marker.lifetime = Duration(nanosec=lifetime)
        marker.header.frame_id = frame
        marker.pose.orientation.w = 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = 0.1
        message = serialize_message(MarkerArray(markers=[marker]))
        self.avoided._hear(heard_markers(bytes(message)))

    def tell(self, frame, stamp):
        """How it moves."""
        self.avoided._motions.hear(
            SimpleNamespace(
                header=Header(frame_id='base_link', stamp=time_of(stamp)),
                child_frame_id=frame,
                pose=SimpleNamespace(pose=Pose()),
                twist=SimpleNamespace(twist=Twist()),
            )
        )

    def sample(self, *stamps):
        for stamp in stamps:
            self.avoided.note_sample(stamp)

    def refusal(self):
        """Why nothing is known, once that has lasted for the patience."""
        self.avoided._look()
        assert not self.avoided.is_known
        self.steady += 250 * MS
        return self.avoided.unclear


@pytest.fixture
def cell(context):
    cell = Cell(context)
    yield cell
    cell.avoided.close()
    cell.node.destroy_node()


def test_a_motion_of_no_frame_is_a_fault_at_once(cell):
    assert cell.avoided.is_known
    cell.tell('', WALL)
    assert not cell.avoided.is_known
    assert 'somebody tells the motion of no frame' in cell.avoided.unclear


def test_motions_and_frames_are_judged_by_the_stamps_of_samples(cell):
    cell.sample(SIMULATED)
    cell.tell('person', SIMULATED)
    cell.avoided.frames.put('base_link', 'camera', SIMULATED, HERE, False)
    cell.show('person')
    cell.show('camera', number=1)
    assert (cell.avoided.is_known, len(cell.avoided.boxes)) == (True, 2)
    for step in range(1, 500):  # faster than this machine looks
        cell.sample(SIMULATED + step * MS)
    assert cell.avoided.is_known
    cell.sample(SIMULATED + 620 * MS)
    assert not cell.avoided.is_known
    cell.sample(SIMULATED + 900 * MS)
    assert "motion of frame 'person' is 0.9 s old; 0.5 s are allowed" in cell.avoided.unclear


def test_motions_grow_old_where_no_sample_comes_any_more(cell):
    cell.sample(SIMULATED)
    cell.tell('person', SIMULATED)
    cell.show('person')
    cell.steady += 400 * MS
    cell.avoided._look()
    assert cell.avoided.is_known
    cell.steady += 200 * MS
    assert "motion of frame 'person' is 0.6 s old" in cell.refusal()


def test_lifetimes_and_silence_are_counted_over_a_jump_of_the_clock(cell):
    """The first sample of a simulator is one, and so is one that begins anew."""
    points = next(each for each in cell.avoided._topics if each._topic == POINTS)
    points._heard = cell.avoided.now()
    cell.show(lifetime=800 * MS)
    cell.show('nowhere', number=1)
    for now in (3 * SIMULATED, SIMULATED):
        cell.steady += 300 * MS
        cell.sample(now, now + MS)
        assert 'cell/0' in cell.avoided.boxes
        assert "frame 'nowhere' is not connected" in cell.avoided.unclear
    cell.sample(SIMULATED + 300 * MS)
    assert 'cell/0' not in cell.avoided.boxes
    assert points.unclear == ''
    cell.sample(SIMULATED + 500 * MS)
    assert 'nothing has come for more than 1.0 s' in points.unclear


@pytest.mark.parametrize(
    ('behind', 'why'), [(1100, 'scene.points.max_age'), (-800, 'scene.frame_age')]
)
def test_clouds_are_judged_by_the_stamps_of_samples(cell, behind, why):
    points = next(each for each in cell.avoided._topics if each._topic == POINTS)
    cell.sample(SIMULATED)
    empty = [PointField(name=name, datatype=PointField.FLOAT32) for name in 'xyz']
    cloud = PointCloud2(fields=empty, height=1, point_step=4)
    for stamp in (SIMULATED, SIMULATED - behind * MS):
        assert cell.avoided.is_known
        cloud.header.stamp = time_of(stamp)
        points._hear(cloud)
    assert why in cell.refusal()


def test_one_stamp_that_is_wrong_ends_no_lifetime(cell):
    cell.sample(SIMULATED)
    cell.show(lifetime=800 * MS)
    cell.sample(WALL, SIMULATED + 10 * MS)
    assert list(cell.avoided.boxes) == ['cell/0']
