"""UnreadTopic: obstacles that somebody shows with messages whose package is not installed here."""

from __future__ import annotations

import time

from rclpy.node import Node

from safe_sysid.sets.box import Box

LOOK = 0.05  # [s] between two looks


class UnreadTopic:
    """Shows nothing; where anybody publishes on the topic, nothing is known."""

    def __init__(self, node: Node, topic: str, package: str) -> None:
        self._node, self._topic, self._package = node, topic, package
        self.boxes: dict[str, Box] = {}
        self.awaited = ''
        self._is_published = False
        self._looked = -LOOK  # [s]
        self.settle()

    @property
    def is_settled(self) -> bool:
        """Whether nobody publishes."""
        return not self._is_published

    @property
    def unclear(self) -> str:
        """Why nothing is known; empty: nobody publishes."""
        if not self._is_published:
            return ''
        return (
            f'somebody publishes on topic {self._topic}, and {self._package} is not installed '
            'here, so nobody knows what is in the way; install it, or remap the topic'
        )

    def settle(self) -> None:
        """Look who publishes, not at every transform."""
        if time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        name = self._node.resolve_topic_name(self._topic)  # counting does not look at remaps
        self._is_published = self._node.count_publishers(name) > 0

    def shift(self, change: int) -> None:
        """Nothing counts from an arrival."""

    def fetch(self) -> None:
        """Nothing waits."""
