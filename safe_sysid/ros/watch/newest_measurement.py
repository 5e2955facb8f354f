"""NewestMeasurement: samples of one source, read and in order, for a node that works for long.

In real time it gets the newest sample there is, whenever it has time for one. In lockstep time
stands still until it has answered, so it gets every sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time

from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from sensor_msgs.msg import JointState

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import Arrival, SampleOrder
from safe_sysid.measure.single_publisher import SinglePublisherCheck
from safe_sysid.ros.messages.codec import JointStateReader
from safe_sysid.ros.messages.newest_sample import NewestSample
from safe_sysid.ros.messages.qos import NEWEST_SAMPLE

LOOK = 0.005  # [s] between two looks for a sample


class NewestMeasurement:
    """Hands over a measurement and how it came."""

    def __init__(
        self,
        node: Node,
        joint_names: Sequence[str],
        is_lockstep: bool,
        take: Callable[[JointMeasurement, Arrival], None],
    ) -> None:
        self._reader, self._take = JointStateReader(joint_names), take
        self._order, self._sources = SampleOrder(), SinglePublisherCheck()
        self.trouble = ''  # why the last sample could not be read
        self._newest = NewestSample(node)
        if is_lockstep:
            node.create_subscription(JointState, 'joint_states', self._on_sample, NEWEST_SAMPLE)
        else:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._timer = node.create_timer(LOOK, self._look, clock=steady)

    def close(self) -> None:
        """Stop listening."""
        self._newest.close()

    def _look(self) -> None:
        msg = self._newest.take()
        if msg is not None:
            self._on_sample(msg)

    def _on_sample(self, msg: JointState) -> None:
        if not self._sources.accepts(msg.header.frame_id, time.monotonic()):
            return
        try:
            measurement = self._reader.measurement(msg)
        except MeasurementError as error:
            self.trouble = str(error)
            return
        self.trouble = ''
        self._take(measurement, self._order.step(measurement.stamp))
