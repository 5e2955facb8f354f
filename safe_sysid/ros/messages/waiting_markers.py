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
from typing import Any

from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.own_domain import is_own_domain
from safe_sysid.ros.messages.heard_markers import HeardMarker, heard_markers
from safe_sysid.ros.messages.marker_publishers import MarkerPublishers, ToldMarkers
from safe_sysid.ros.messages.qos import EVERY_LATCHED_MARKER, EVERY_MARKER

MOST = 100  # messages at a look; what is left waits for the next one
# [s] in which the middleware finds out who publishes, unless it is starved. Somebody who was there
# before may be found only when it says again that it is there: every 3 s with the settings of Fast
# DDS, every second in a domain of our own (config/discovery.xml).
DISCOVERY, ALONE = 3.5, 1.3


class WaitingMarkers:
    """Listens to live publishers and to those that keep their last messages."""

    def __init__(self, node: Node, topic: str) -> None:
        self._topic = topic
        self._node = Node(
            f'_{node.get_name()}_{topic.strip("/").replace("/", "_")}',
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,  # they are for the other node
            enable_rosout=False,
            start_parameter_services=False,
        )
        name = node.resolve_topic_name(topic)
        self._publishers = MarkerPublishers(partial(node.get_publishers_info_by_topic, topic))
        self._kept, self._live = (
            _Queue(self._node.create_subscription(MarkerArray, name, _never, qos), is_kept)
            for qos, is_kept in ((EVERY_LATCHED_MARKER, True), (EVERY_MARKER, False))
        )
        self._began = self._pause_ends = 0.0  # [s] of time.monotonic
        self._discovered = time.monotonic() + (ALONE if is_own_domain(os.environ) else DISCOVERY)
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
        self._began = time.monotonic()
        if self._began < self._pause_ends:
            return None
        heard = [self._read(told) for told in self._counting()]
        return merged(heard) if heard else None

    def note_done(self) -> None:
        """Leave as much time to others as the work on what was taken took."""
        now = time.monotonic()
        self._pause_ends = now + (now - self._began)

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_node()

    def _counting(self) -> Iterator[ToldMarkers]:
        """Take what waits, in the order in which it came."""
        for _ in range(MOST):
            told = min(self._kept, self._live, key=_Queue.received).take()
            if told is None:
                break
            yield from self._publishers.counting(told)
        if self._kept.next is None:
            yield from self._publishers.left_behind()

    def _read(self, told: ToldMarkers) -> list[HeardMarker]:
        markers = heard_markers(told.data)
        if any(each.action == Marker.DELETEALL for each in markers):
            self._publishers.forgive()
        return markers


class _Queue:
    """What waits at a subscription, with a look at what is next."""

    def __init__(self, subscription: Any, is_kept: bool) -> None:
        self._handle, self._is_kept = subscription.handle, is_kept
        self._next: ToldMarkers | None = None

    @property
    def next(self) -> ToldMarkers | None:
        """What comes next; None: nothing is waiting."""
        if self._next is None:
            with self._handle:
                found = self._handle.take_message(MarkerArray, True)
            self._next = None if found is None else ToldMarkers.of(found, self._is_kept)
        return self._next

    def received(self) -> float:
        """Return when that came [ns]; after all else if nothing is waiting."""
        told = self.next
        return float('inf') if told is None else told.received

    def take(self) -> ToldMarkers | None:
        """Return what is next, which is not waiting any more."""
        told, self._next = self.next, None
        return told


def merged(messages: Iterable[Sequence[HeardMarker]]) -> list[HeardMarker]:
    """Return markers that lead to the same scene as these messages, one after the other."""
    last: dict[tuple[str, int], HeardMarker] = {}
    begin: list[HeardMarker] = []
    for marker in (each for message in messages for each in message):
        if marker.action == Marker.DELETEALL:
            begin = [marker]
            last.clear()
            continue
        key = marker.ns, marker.id
        last.pop(key, None)  # the order is that of the markers that count
        last[key] = marker
    return [*begin, *last.values()]


def _never(msg: MarkerArray) -> None:
    """Nobody calls it: no executor knows the subscription."""
    del msg
