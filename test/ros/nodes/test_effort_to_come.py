"""A driver that reports no effort before it is commanded: nobody learns from such a state."""

import time

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.ros.messages.codec import JointStateWriter
from safe_sysid.ros.messages.qos import SAMPLES, STATE
from safe_sysid.ros.nodes.identifier_node import IdentifierNode
from safe_sysid.share import share_directory

SETTINGS = share_directory() / 'config' / 'loop' / 'two_link.yaml'
NAMES = ('joint_1', 'joint_2')
GIVE_UP = 60.0  # [s]
UNKNOWN, ZERO = np.full(2, np.nan), np.zeros(2)


@pytest.fixture
def identifier():
    rclpy.init(args=['--ros-args', '--params-file', str(SETTINGS), '-p', 'timing:=lockstep'])
    node = IdentifierNode()
    yield node
    node.close()
    node.destroy_node()
    rclpy.try_shutdown()


def test_a_state_without_effort_counts_for_nothing(identifier):
    other = rclpy.create_node('others', use_global_arguments=False)
    executor = SingleThreadedExecutor()
    for node in (identifier, other):
        executor.add_node(node)

    def until(condition):
        end = time.monotonic() + GIVE_UP
        while not condition():
            assert time.monotonic() < end, identifier._condition()
            executor.spin_once(timeout_sec=0.01)

    states = other.create_publisher(JointState, 'joint_states', SAMPLES)
    modes = other.create_publisher(String, 'mode', STATE)
    until(lambda: states.get_subscription_count() > 0 and modes.get_subscription_count() > 0)
    modes.publish(String(data='exciting'))
    until(lambda: identifier._counts)
    writer = JointStateWriter(NAMES, 'driver 1')
    for k, torque in enumerate((UNKNOWN, UNKNOWN, UNKNOWN, ZERO)):
        sample = JointMeasurement(10**9 + k * 10**6, np.array([1.3, 0.3]), ZERO, torque)
        states.publish(writer.message(sample))
        until(lambda sample=sample: identifier._stamp == sample.stamp)
        figures = identifier._condition().figures
        assert figures['samples'] == (0 if k < 3 else 1)
        assert figures['samples refused'] == 0
