"""RecorderListens: whether a recorder hears what a run in lockstep is about to say.

A recorder never ends a run, and so does not hold one up for ever: one that crashed, or that was
told to leave a topic out, is waited for no longer than `PATIENCE`.
"""

from __future__ import annotations

import time

from rclpy.node import Node

from safe_sysid.ros.messages.inbox import inbox_of

RECORDER = inbox_of('recorder')  # node in which it subscribes
PATIENCE = 30.0  # [s] from the first look on
ONCE = ('joint_states', 'torque_command')  # topics that are not told again to who comes late


class RecorderListens:
    """True from the moment that nothing of a run would be missing in its bag."""

    def __init__(self, node: Node, is_recorded: bool, patience: float = PATIENCE) -> None:
        self._node, self._is_there, self._patience = node, not is_recorded, patience
        self._asked: float | None = None  # first [s]

    def __bool__(self) -> bool:
        """Ask the middleware until it is so, or for as long as somebody is patient."""
        if not self._is_there:
            self._is_there = all(map(self._is_heard, ONCE)) or self._is_given_up()
        return self._is_there

    def _is_given_up(self) -> bool:
        now = time.monotonic()
        self._asked = now if self._asked is None else self._asked
        if now - self._asked < self._patience:
            return False
        self._node.get_logger().warning(
            f'no recorder listens to {" and ".join(ONCE)} after {self._patience:g} s; the run '
            'goes on, and its bag may lack its beginning'
        )
        return True

    def _is_heard(self, topic: str) -> bool:
        name = self._node.resolve_topic_name(topic)
        listening = self._node.get_subscriptions_info_by_topic(name)
        if not self._node.count_publishers(name):
            return True  # nobody says anything there
        return any(info.node_name == RECORDER for info in listening)
