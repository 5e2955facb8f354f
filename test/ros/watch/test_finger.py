"""A finger tells open from closed, whichever way it counts; who is not heard of is named."""

from contextlib import contextmanager

import pytest
import rclpy
from ros.running_node import wait_until
from sensor_msgs.msg import JointState

from safe_sysid.errors import ConfigError
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.qos import SAMPLES
from safe_sysid.ros.watch import finger
from safe_sysid.ros.watch.finger import Finger, FingerSettings


@pytest.mark.parametrize(('opened', 'closed'), [(0.0, 0.8), (0.8, 0.0), (-0.2, 0.3), (0.04, 0.0)])
def test_halfway_is_where_it_closes(opened, closed):
    finger = FingerSettings('finger', opened, closed)
    for share in (0.0, 0.3, 0.49):
        assert not finger.is_closed(opened + share * (closed - opened))
    for share in (0.51, 0.8, 1.2):
        assert finger.is_closed(opened + share * (closed - opened))


def test_a_finger_that_does_not_move_is_refused():
    with pytest.raises(ConfigError, match='these have to differ'):
        FingerSettings('finger', 0.2, 0.2)


@contextmanager
def heard(settings):
    """A node in a namespace that hears a finger, and what says that to it."""
    rclpy.init()
    node, passed = rclpy.create_node('hearing', namespace='loop'), []
    try:
        watched = Finger(node, settings, lambda *stamps: passed.append(stamps))
        says = node.create_publisher(JointState, settings.topic, SAMPLES)

        def say(name, position, stamp):
            msg = JointState(name=['joint_1', name], position=[9.0, position])
            msg.header.stamp = time_of(stamp)
            says.publish(msg)
            rclpy.spin_once(node, timeout_sec=0.5)

        yield watched, passed, say
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_a_finger_is_heard_on_the_topic_of_its_driver(monkeypatch):
    with heard(FingerSettings('finger', closed=0.8)) as (watched, passed, say):
        assert watched.state == 'not heard of'
        wait_until(lambda: say('finger', 0.1, 10) or watched.state == 'open', 'it is heard')
        say('finger', 0.3, 20)
        assert not passed
        say('finger', 0.7, 30)
        assert passed == [(20, 30)]
        say('finger', 0.7, 40)
        assert (watched.state, watched.trouble, len(passed)) == ('closed', '', 1)
        monkeypatch.setattr(finger, 'SILENT', -1.0)
        assert 'has not been heard of on /joint_states for' in watched.trouble


def test_a_finger_that_nobody_reports_is_named_with_the_joints_that_are_there(monkeypatch):
    monkeypatch.setattr(finger, 'SILENT', -1.0)
    with heard(FingerSettings('fnger', topic='/gripper/states')) as (watched, passed, say):
        assert "hold.finger.joint 'fnger' has not been heard of on /gripper/states" in (
            watched.trouble
        )
        assert watched.trouble.endswith('nobody has reported joints there')
        wait_until(lambda: say('finger', 0.1, 10) or 'joint_1' in watched.trouble, 'it is heard')
        assert watched.trouble.endswith("joints there are ['joint_1', 'finger']")
        assert not passed


def test_without_a_finger_nobody_looks():
    with heard(FingerSettings()) as (watched, _, _say):
        assert (watched.state, watched.trouble) == ('nobody looks', '')


@pytest.mark.parametrize('topic', ['joint_states', '/loop/joint_states'])
def test_no_gripper_is_heard_where_the_bridge_of_the_loop_reports(topic):
    """Simulators have no finger there, so the loop goes on, and says so."""
    with heard(FingerSettings('finger', topic=topic)) as (watched, passed, say):
        assert watched.trouble.startswith('hold.finger.topic is /loop/joint_states, on which')
        for position in (0.0, 1.0):
            say('finger', position, 10)
        assert (watched.state, passed) == ('not heard of', [])
