"""RecorderListens: whether a recorder hears what a run in lockstep is about to say."""

from __future__ import annotations

from rclpy.node import Node

from safe_sysid.ros.messages.inbox import inbox_of

RECORDER = inbox_of('recorder')  # node in which it subscribes
ONCE = ('joint_states', 'torque_command')  # topics that are not told again to who comes late


class RecorderListens:
    """True from the moment that nothing of a run would be missing in its bag."""

    def __init__(self, node: Node, is_recorded: bool) -> None:
        self._node, self._is_there = node, not is_recorded
        self._topics = [topic for topic in ONCE if is_recorded]

    def __bool__(self) -> bool:
        """Ask the middleware until it is so."""
        self._is_there = self._is_there or all(map(self._is_heard, self._topics))
        return self._is_there

    def _is_heard(self, topic: str) -> bool:
        name = self._node.resolve_topic_name(topic)
        listening = self._node.get_subscriptions_info_by_topic(name)
        if not self._node.count_publishers(name):
            return True  # nobody says anything there
        return any(info.node_name == RECORDER for info in listening)
