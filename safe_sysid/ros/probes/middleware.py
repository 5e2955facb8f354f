"""Whether ROS 2 works on this machine: two nodes in two processes exchange a message.

Prints {"middleware": ..., "seconds": ...}; seconds is from when the talker had its publisher until
the listener had its first message. Exits with 1 when none came in time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import Float64

from safe_sysid.ros.probes.answer import tell

TOPIC = 'safe_sysid_middleware_probe'
SECONDS = 20.0  # for discovery on a busy machine
PERIOD = 0.05  # [s]


class Talker(Node):
    """Publishes, again and again, when it was ready to."""

    def __init__(self) -> None:
        super().__init__('safe_sysid_talker')
        self._publisher = self.create_publisher(Float64, TOPIC, 1)
        self._ready = time.monotonic()  # the same clock in every process of a machine
        self.create_timer(PERIOD, self._publish)

    def _publish(self) -> None:
        self._publisher.publish(Float64(data=self._ready))


class Listener(Node):
    """Notes how long the first message took."""

    def __init__(self) -> None:
        super().__init__('safe_sysid_listener')
        self.seconds: float | None = None
        self.create_subscription(Float64, TOPIC, self._on_message, 1)

    def _on_message(self, msg: Float64) -> None:
        if self.seconds is None:
            self.seconds = time.monotonic() - msg.data


def talk() -> None:
    """Publish until the listener's process ends this one, or the time is up."""
    deadline = time.monotonic() + SECONDS
    rclpy.init()
    try:
        talker = Talker()
        while rclpy.ok() and time.monotonic() < deadline:
            rclpy.spin_once(talker, timeout_sec=PERIOD)
    finally:
        rclpy.try_shutdown()


def listen() -> int:
    """Tell how long the first message of a talker in another process took, null if none came."""
    talker = subprocess.Popen([sys.executable, '-m', __spec__.name, 'talk'])
    deadline = time.monotonic() + SECONDS
    try:
        rclpy.init()
        listener = Listener()
        while listener.seconds is None and talker.poll() is None and time.monotonic() < deadline:
            rclpy.spin_once(listener, timeout_sec=PERIOD)
        middleware = rclpy.get_rmw_implementation_identifier()
        tell(json.dumps({'middleware': middleware, 'seconds': listener.seconds}))
        return 0 if listener.seconds is not None else 1
    finally:
        talker.terminate()
        talker.wait()
        rclpy.try_shutdown()


def _stay_on_this_machine() -> None:
    """Domain of its own and no network, so that a running robot neither hears nor disturbs it."""
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    if os.environ.get('ROS_DISTRO') == 'humble':  # has only the older setting
        os.environ['ROS_LOCALHOST_ONLY'] = '1'


def main() -> int:
    """Talk when asked to, else listen to a talker and report."""
    if sys.argv[1:] == ['talk']:
        talk()
        return 0
    _stay_on_this_machine()
    return listen()


if __name__ == '__main__':
    sys.exit(main())
