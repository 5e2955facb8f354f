"""A recorded run in lockstep begins once its recorder misses nothing."""

import pytest
import rclpy
from rclpy.node import Node
from ros.running_node import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.measure.bag.topic import Delivery
from safe_sysid.ros.messages.inbox import Inbox
from safe_sysid.ros.messages.qos import SAMPLES
from safe_sysid.ros.watch import recorder_listens
from safe_sysid.ros.watch.recorder_listens import RecorderListens

TYPES = {'joint_states': JointState, 'torque_command': Float64MultiArray}


@pytest.fixture
def bridge():
    rclpy.init()
    node = Node('bridge', namespace='left')
    for topic, kind in TYPES.items():
        node.create_publisher(kind, topic, SAMPLES)
        node.create_subscription(kind, topic, lambda _: None, SAMPLES)  # somebody else
    yield node
    node.destroy_node()
    rclpy.shutdown()


def test_nobody_waits_where_nothing_is_recorded(bridge):
    assert RecorderListens(bridge, is_recorded=False)


def test_both_streams_have_to_reach_the_recorder(bridge):
    listens = RecorderListens(bridge, is_recorded=True)
    recorder = Node('recorder', namespace='left')
    inbox = Inbox(recorder)
    for number, (topic, kind) in enumerate(TYPES.items()):
        assert not listens
        inbox.subscribe(number, f'/left/{topic}', kind, Delivery.RELIABLE)
    wait_until(lambda: bool(listens), 'the recorder is seen')
    inbox.close()
    recorder.destroy_node()
    assert listens  # it was there


def test_a_recorder_that_never_listens_is_not_waited_for_for_ever(bridge, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(recorder_listens.time, 'monotonic', lambda: now[0])
    listens = RecorderListens(bridge, is_recorded=True, patience=30.0)
    assert not listens
    now[0] += 29.0
    assert not listens
    now[0] += 1.5
    assert listens
