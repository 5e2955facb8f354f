"""Subscriptions: topics of a node whose messages may be such that nobody can read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rclpy.node import Node
from rclpy.qos import QoSProfile

from safe_sysid.errors import MessageError

Message = TypeVar('Message')


class Subscriptions:
    """Listens for a node, and complains about messages instead of ending it.

    A complaint is over, with '', once a message of the same topic can be read.
    """

    def __init__(self, node: Node, complain: Callable[[str], None]) -> None:
        self._node, self._complain = node, complain
        self._unread: dict[str, str] = {}  # why, by topic, of those whose last message was

    def add(
        self, message: type[Message], topic: str, hear: Callable[[Message], None], qos: QoSProfile
    ) -> None:
        """Hear every message of a topic."""

        def hear_or_complain(msg: Message) -> None:
            try:
                hear(msg)
            except MessageError as error:
                self._unread[topic] = str(error)
                self._complain(str(error))
            else:
                if self._unread.pop(topic, ''):
                    self._complain(next(iter(self._unread.values()), ''))

        self._node.create_subscription(message, topic, hear_or_complain, qos)
