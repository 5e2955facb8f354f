"""What a driver says and is told becomes a bag, for as long as asked; nothing is published.

    python -m safe_sysid.ros.probes.heard_driver FOLDER SECONDS STATES COMMANDS

Time counts from the first state on. The status is 1 where none came.
"""

from __future__ import annotations

import os
from pathlib import Path
import shutil
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter
from safe_sysid.ros.messages.definitions import definition
from safe_sysid.ros.messages.inbox import Inbox
from safe_sysid.ros.probes.answer import tell

FETCH, PATIENCE = 0.02, 10.0  # [s] between looks, and for the first state to come
STATE, COMMAND = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'
TYPES = ((STATE, JointState), (COMMAND, Float64MultiArray))


def _delivery(node: Node, topic: str) -> Delivery:
    """Return the most that all publishers offer."""
    offered = [each.qos_profile for each in node.get_publishers_info_by_topic(topic)]
    is_best_effort = any(qos.reliability is not ReliabilityPolicy.RELIABLE for qos in offered)
    return Delivery.BEST_EFFORT if is_best_effort else Delivery.RELIABLE


def _record(node: Node, folder: Path, seconds: float, topics: tuple[str, ...]) -> bool:
    """Write down what comes; whether any state did."""
    bag = BagWriter(folder, BagSettings(ros_distro=os.environ.get('ROS_DISTRO', '')))
    inbox, heard, numbers = Inbox(node), False, {}
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for topic, (name, kind) in zip(topics, TYPES, strict=True):
            if topic not in numbers and node.count_publishers(topic):
                delivery = _delivery(node, topic)
                number = bag.add_topic(BagTopic(topic, name, definition(name), '', delivery))
                numbers[topic] = number
                inbox.subscribe(number, topic, kind, delivery)
        for letter in inbox.fetch():
            bag.write(letter.topic, letter.received, letter.published, letter.data)
            if not heard and letter.topic == numbers.get(topics[0]):
                heard, deadline = True, time.monotonic() + seconds
        time.sleep(FETCH)
    bag.close()
    if heard:
        tell('recorded')
    inbox.close()
    return heard


def main() -> int:
    """Record, and say what did not come."""
    folder, seconds, *topics = sys.argv[1:]
    rclpy.init(args=[])
    try:
        node = Node('commission', start_parameter_services=False, enable_rosout=False)
        if _record(node, Path(folder), float(seconds), tuple(topics)):
            return 0
    finally:
        rclpy.try_shutdown()
    shutil.rmtree(folder)  # a bag of nothing would be in the way of the next try
    sys.stderr.write(f'no state came on {topics[0]} within {PATIENCE:g} s\n')
    return 1


if __name__ == '__main__':
    sys.exit(main())
