"""Inbox: subscriptions to serialised messages, emptied together instead of one by one.

An executor wakes up once per message and would be busy with that alone at a few thousand messages
per second. Here messages wait in queues of the middleware, which stamps them, and are fetched many
at a time. So the subscriptions belong to a node of their own that no executor knows.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from safe_sysid.measure.bag.topic import Delivery

DEPTH = 2000  # messages per topic: 2 s at 1 kHz


def inbox_of(node: str) -> str:
    """Name of the node in which another one subscribes."""
    return f'_{node}_inbox'


class Letter(NamedTuple):
    """A serialised message."""

    received: int  # [ns]
    published: int  # [ns]
    topic: int
    data: bytes


class Inbox:
    """Every message of the topics subscribed to, in the order in which they came."""

    def __init__(self, node: Node) -> None:
        self._node = Node(
            inbox_of(node.get_name()),
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,  # they are for the other node
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._subscriptions: dict[int, Any] = {}  # by number of the topic
        self._early: list[Letter] = []  # that wait for the next time

    def subscribe(self, number: int, topic: str, message: type, delivery: Delivery) -> None:
        """Begin to listen; `number` is how letters name the topic."""
        qos = _profile(delivery)
        self._subscriptions[number] = self._node.create_subscription(
            message, topic, _never, qos, raw=True
        )

    def unsubscribe(self, number: int) -> None:
        """Stop listening to one; what it has and was not fetched is lost."""
        self._node.destroy_subscription(self._subscriptions.pop(number))

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_node()

    def put(self, letter: Letter) -> None:
        """Add a message that came in another way."""
        self._early.append(letter)

    def fetch(self) -> list[Letter]:
        """Messages that have come until now and were not fetched yet, ordered by stamp.

        The middleware gives those of a topic in their order. One that got lost and was sent again
        was received after some that follow it: these count as received when it was.
        """
        now = time.time_ns()
        letters = self._early
        for number, subscription in self._subscriptions.items():
            handle, received = subscription.handle, 0
            with handle:
                while (taken := handle.take_message(subscription.msg_type, True)) is not None:
                    data, info = taken
                    received = max(received, info['received_timestamp'] or now)
                    published = info['source_timestamp'] or received
                    letters.append(Letter(received, published, number, data))
        letters.sort()
        self._early = [letter for letter in letters if letter.received > now]
        return letters[: len(letters) - len(self._early)]


def _profile(delivery: Delivery) -> QoSProfile:
    reliability, durability = delivery.value
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=DEPTH,
        reliability=ReliabilityPolicy(reliability),
        durability=DurabilityPolicy(durability),
    )


def _never(data: bytes) -> None:
    """Nobody calls it: no executor knows the subscription."""
    del data
