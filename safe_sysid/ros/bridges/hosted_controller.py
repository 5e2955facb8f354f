"""HostedController: the controller in the process of its bridge, with no middleware between.

It is the same node with the same topics, but that samples and answers pass as values. What it
raises does not reach the bridge: no answers come any more, as from a process that crashed, and the
guard brakes. What crashes the process ends both; then the driver holds the arm, or nobody does.
"""

from __future__ import annotations

from collections.abc import Callable
import time
import traceback

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.ros.nodes.controller_node import ControllerNode
from safe_sysid.ros.process.words import say
from safe_sysid.track.guarded_torque import Command


class HostedController:
    """Gives each answer of a controller to `answer`, at once or when it follows."""

    def __init__(self, answer: Callable[[Command], None]) -> None:
        self.node = ControllerNode(answer)
        self.trouble = ''  # once it has failed

    def take(self, measurement: JointMeasurement) -> None:
        """Give it a sample."""
        if self.trouble:
            return
        try:
            self.node.take(measurement, time.monotonic())
        except Exception as error:  # noqa: BLE001 (whatever it is, the guard has to go on)
            self.trouble = (
                f'the controller in this process has failed: {error!r}; the guard brakes'
            )
            say(traceback.format_exc())
