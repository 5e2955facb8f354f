"""WaitingMarkers: all that was shown since the last look, as one message without what is outdated.

Where messages come faster than they are worked on, an executor has one after the other done, and
all else waits behind them. Here they wait in queues of the middleware and are fetched together;
so the subscriptions belong to a node that no executor knows. Of several markers of one key the
last one counts, and nothing counts that was shown before all of it was taken away. Working on
them takes at most half of the time, as whoever looks also has plans to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
import os
import time

from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.own_domain import is_own_domain
from safe_sysid.ros.messages.heard_markers import HeardMarker, heard_markers
from safe_sysid.ros.messages.marker_publishers import MarkerPublishers
from safe_sysid.ros.messages.qos import EVERY_LATCHED_MARKER, EVERY_MARKER
from safe_sysid.ros.messages.told_messages import (
    MOST,
    HalfTheTime,
    MessageQueue,
    ToldMessage,
    listener,
)

# [s] in which the middleware finds out who publishes, unless it is starved. Somebody who was there
# before may be found only when it says again that it is there: every 3 s with the settings of Fast
# DDS, every second in a domain of our own (config/discovery.xml).
DISCOVERY, ALONE = 3.5, 1.3


class WaitingMarkers:
    """Listens to live publishers and to those that keep their last messages."""

    def __init__(self, node: Node, topic: str) -> None:
        self._topic = topic
        self.listener = listener(node, topic)  # for others as well
        name = node.resolve_topic_name(topic)
        self._publishers = MarkerPublishers(partial(node.get_publishers_info_by_topic, topic))
        self._kept, self._live = (
            MessageQueue(self.listener, MarkerArray, name, qos, is_kept=is_kept)
            for qos, is_kept in ((EVERY_LATCHED_MARKER, True), (EVERY_MARKER, False))
        )
        self._turns = HalfTheTime()
        began = getattr(node, 'made', time.monotonic())
        self._discovered = began + (ALONE if is_own_domain(os.environ) else DISCOVERY)
        self.is_discovered = False  # whether who publishes was looked at after that time

    @property
    def awaited(self) -> str:
        """Who has to show again what was shown before; empty: nobody."""
        names = self._publishers.awaited
        if not names:
            return ''
        return (
            f'{names} publishes on topic {self._topic} and nothing has come since this node was '
            'started; until it is shown again there are no plans'
        )

    @property
    def unclear(self) -> str:
        """Why not all is known that is shown, a fault; empty: it is."""
        trouble = self._publishers.unclear
        return f'obstacles on topic {self._topic}: {trouble}' if trouble else ''

    def discover(self) -> None:
        """Wait until who publishes is known; a plan before that would leave out what they show."""
        time.sleep(max(0.0, self._discovered - time.monotonic()))
        self.settle()

    def settle(self) -> None:
        """Look who publishes."""
        is_over = time.monotonic() >= self._discovered
        self._publishers.look()
        if is_over:
            self.is_discovered = True
            self._publishers.note_all_discovered()

    def take(self) -> list[HeardMarker] | None:
        """Return what has come; None: nothing, or it is not time yet."""
        if not self._turns.is_due():
            return None
        heard = [self._read(told) for told in self._counting()]
        return merged(heard) if heard else None

    def note_done(self) -> None:
        """Leave as much time to others as the work on what was taken took."""
        self._turns.note_done()

    def close(self) -> None:
        """Stop listening."""
        self.listener.destroy_node()

    def _counting(self) -> Iterator[ToldMessage]:
        """Take what waits, in the order in which it came."""
        for _ in range(MOST):
            told = min(self._kept, self._live, key=MessageQueue.received).take()
            if told is None:
                break
            yield from self._publishers.counting(told)
        if self._kept.next is None:
            yield from self._publishers.left_behind()

    def _read(self, told: ToldMessage) -> list[HeardMarker]:
        markers = heard_markers(told.data)
        if any(each.action == Marker.DELETEALL and not each.ns for each in markers):
            self._publishers.forgive()
        return markers


def merged(messages: Iterable[Sequence[HeardMarker]]) -> list[HeardMarker]:
    """Return markers that lead to the same scene as these messages, one after the other."""
    last: dict[tuple[str, int], HeardMarker] = {}
    begin: list[HeardMarker] = []
    for marker in (each for message in messages for each in message):
        if marker.action == Marker.DELETEALL:
            begin = [each for each in begin if marker.ns and each.ns != marker.ns] + [marker]
            last = {key: each for key, each in last.items() if marker.ns not in ('', key[0])}
            continue
        key = marker.ns, marker.id
        last.pop(key, None)  # the order is that of the markers that count
        last[key] = marker
    return [*begin, *last.values()]
