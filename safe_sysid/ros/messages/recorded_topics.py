"""RecordedTopics: which topics go into a bag, each under one number, as they come and go.

A topic whose publishers are gone is listened to further, as they may come back at once, but where
there is no room for another one. One that comes back has the number and the type that it had.
"""

from __future__ import annotations

from collections.abc import Callable
import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from safe_sysid.errors import MessageError
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.ros.messages.definitions import definition, message_class
from safe_sysid.ros.messages.inbox import Inbox
from safe_sysid.ros.process.distributions import type_hash_of

MOST = 1000  # topics that are listened to at once
NAMES = 10_000  # topics of a bag, which lists them all
SEARCH = 1.0  # [s] between two searches for topics that are gone


class RecordedTopics:
    """Listens by an inbox; `add` takes a topic into the bag.

    `fetch` writes what has come, and says whether the recording goes on after that.
    """

    def __init__(
        self,
        node: Node,
        inbox: Inbox,
        add: Callable[[BagTopic], int],
        fetch: Callable[[], bool],
    ) -> None:
        self._node, self._inbox, self._add, self._fetch = node, inbox, add, fetch
        self._listened: dict[str, int] = {}  # those subscribed to, by the number in the bag
        self._refused: set[str] = set()  # those that are there and cannot be recorded
        self._numbers: dict[str, tuple[int, str]] = {}  # number and type of all in the bag
        self._beyond = ''  # the first topic for which there was no room
        self._searched = -SEARCH  # [s]
        self._is_over = False

    @property
    def trouble(self) -> str:
        """Say that topics are left out; empty: none is."""
        if not self._beyond:
            return ''
        return (
            f'{self._beyond}, and maybe others, were left out of the recording: there is room for '
            f'{MOST} topics at once and {NAMES} in a bag'
        )

    def look(self, is_wanted: Callable[[str], bool]) -> None:
        """Subscribe to topics that are new and have a publisher."""
        there = self._node.get_topic_names_and_types()
        self._refused &= {topic for topic, _ in there}
        for topic, types in there:
            is_known = topic in self._listened or topic in self._refused
            if not is_known and not self._is_over and is_wanted(topic):
                self._subscribe(topic, types)

    def number(self, topic: BagTopic) -> int:
        """Return number of a topic in the bag, which one of them is written by us as well."""
        if topic.name not in self._numbers:
            self._numbers[topic.name] = self._add(topic), topic.type
        return self._numbers[topic.name][0]

    def is_of(self, number: int, name: str) -> bool:
        """Whether a number is that of a topic."""
        return name in self._numbers and self._numbers[name][0] == number

    def _subscribe(self, topic: str, types: list[str]) -> None:
        publishers = self._node.get_publishers_info_by_topic(topic)
        if not publishers or not self._has_room(topic):
            return
        before = self._numbers.get(topic, (0, types[0]))[1]
        if len(types) > 1 or types[0] != before:
            had = '' if types[0] == before else f', and had the type {before}'
            self._refuse(topic, f'it has the types {types}{had}')
            return
        try:
            message, text = message_class(types[0]), definition(types[0])
        except MessageError as error:
            self._refuse(topic, str(error))
            return
        delivery = _delivery([publisher.qos_profile for publisher in publishers])
        type_hash = type_hash_of(publishers[0])
        number = self.number(BagTopic(topic, types[0], text, type_hash, delivery))
        self._listened[topic] = number
        self._inbox.subscribe(number, topic, message, delivery)

    def _refuse(self, topic: str, why: str) -> None:
        self._refused.add(topic)
        self._node.get_logger().error(f'{topic} is not recorded: {why}')

    def _has_room(self, topic: str) -> bool:
        """Whether a topic may be listened to, one that is gone in exchange if need be."""
        is_new = topic not in self._numbers
        if len(self._listened) >= MOST:
            self._leave_gone()
        if self._is_over:
            return False
        if len(self._listened) < MOST and not (is_new and len(self._numbers) >= NAMES):
            return True
        if not self._beyond:
            self._beyond = topic
            self._node.get_logger().error(self.trouble)
        return False

    def _leave_gone(self) -> None:
        """Listen no more to topics that nobody publishes; what came of them is written first."""
        now = time.monotonic()
        if now - self._searched < SEARCH:
            return
        self._searched = now
        gone = [name for name in self._listened if not self._node.count_publishers(name)]
        self._is_over = bool(gone) and not self._fetch()
        for name in [] if self._is_over else gone:
            self._inbox.unsubscribe(self._listened.pop(name))


def _delivery(offered: list[QoSProfile]) -> Delivery:
    """Return the most that every publisher offers, so that none is left out."""
    if any(qos.reliability is not ReliabilityPolicy.RELIABLE for qos in offered):
        return Delivery.BEST_EFFORT
    if all(qos.durability is DurabilityPolicy.TRANSIENT_LOCAL for qos in offered):
        return Delivery.LATCHED
    return Delivery.RELIABLE
