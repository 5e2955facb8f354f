"""A description on a topic: read once it is latched, and a sentence where nobody has one."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

from safe_sysid.api.robot_description import described_on, is_topic
from safe_sysid.errors import ModelError
from safe_sysid.share import share_directory

PUBLISHER = """
import sys, rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node('publisher')
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
out = node.create_publisher(String, '/arm/robot_description', latched)
out.publish(String(data=open(sys.argv[1], encoding='utf-8').read()))
rclpy.spin(node)
"""


def test_a_topic_is_no_file(tmp_path):
    assert is_topic('/robot_description')
    assert is_topic('/left/robot_description')
    assert not is_topic(str(tmp_path))
    assert not is_topic('/nowhere/arm.urdf')
    assert not is_topic('robot_description')


def test_without_ros_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr('importlib.util.find_spec', lambda _: None)
    with pytest.raises(ModelError, match='/robot_description: rclpy is not installed'):
        described_on('/robot_description', tmp_path)


@pytest.mark.slow
def test_what_a_robot_publishes_is_read_and_what_is_missing_is_named(monkeypatch, tmp_path):
    pytest.importorskip('rclpy')
    monkeypatch.setenv('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    urdf = share_directory() / 'urdf' / 'two_link.urdf'
    robot = subprocess.Popen([sys.executable, '-c', PUBLISHER, str(urdf)])
    try:
        path = described_on('/arm/robot_description', tmp_path, wait=60.0)
        assert path == Path(tmp_path) / 'two_link.urdf'
        assert path.read_text(encoding='utf-8') == urdf.read_text(encoding='utf-8')
        with pytest.raises(
            ModelError, match=r'on /robot_description within 15 s.*: /arm/robot_description'
        ):
            described_on('/robot_description', tmp_path, wait=15.0)  # discovery on a busy machine
    finally:
        robot.kill()
        robot.wait()
