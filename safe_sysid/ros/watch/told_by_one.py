"""ToldByOne: whether nodes of more than one name publish a topic that one node is to tell."""

from __future__ import annotations

from rclpy.node import Node

LASTING = 1.0  # [s]; while nodes find each other one may have no name yet


class ToldByOne:
    """Looks who publishes; a process that was started again has the name of the one before."""

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._begin: float | None = None  # [s] since when there are several

    def trouble(self, now: float) -> str:
        """Who they are, where there were several for a while; `now` is on a steady clock [s]."""
        names = sorted(self._names())
        if len(names) < 2:
            self._begin = None
            return ''
        self._begin = now if self._begin is None else self._begin
        if now - self._begin < LASTING:
            return ''
        return f'{self._topic} is published by {" and ".join(names)}; one of them is to be ended'

    def _names(self) -> set[str]:
        endpoints = self._node.get_publishers_info_by_topic(self._topic)
        return {f'{each.node_namespace.rstrip("/")}/{each.node_name}' for each in endpoints}
