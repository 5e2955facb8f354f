"""NewestSample: the newest joint state when asked for, for nodes that do not need all of them.

An executor wakes up once per message, and where the process is short of time the messages of other
topics wait behind all of these. So the subscription belongs to a node that no executor knows.
"""

from __future__ import annotations

from rclpy.node import Node
from sensor_msgs.msg import JointState

from safe_sysid.ros.messages.qos import NEWEST_SAMPLE


class NewestSample:
    """Keeps what the middleware has, one sample, until it is taken."""

    def __init__(self, node: Node) -> None:
        self._node = Node(
            f'_{node.get_name()}_samples',
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,  # they are for the other node
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._subscription = self._node.create_subscription(
            JointState, node.resolve_topic_name('joint_states'), _never, NEWEST_SAMPLE
        )

    def take(self) -> JointState | None:
        """Return the newest sample, once."""
        newest, handle = None, self._subscription.handle
        with handle:
            while (taken := handle.take_message(JointState, False)) is not None:
                newest = taken[0]
        return newest

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_node()


def _never(msg: JointState) -> None:
    """Nobody calls it: no executor knows the subscription."""
    del msg
