"""WaitingMarkers: all that was shown since the last look, as one message without what is outdated.

Where messages come faster than they are worked on, an executor has one after the other done, and
all else waits behind them. Here they wait in queues of the middleware and are fetched together;
so the subscriptions belong to a node that no executor knows. Of several markers of one key the
last one counts, and nothing counts that was shown before all of it was taken away. Working on
them takes at most half of the time, as whoever looks also has plans to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.ros.messages.heard_markers import HeardMarker, heard_markers
from safe_sysid.ros.messages.qos import LATCHED_OBSTACLES, OBSTACLES

MOST = 100  # messages at a look; what is left waits for the next one


class WaitingMarkers:
    """Listens to live publishers and to those that keep their last messages."""

    def __init__(self, node: Node, topic: str) -> None:
        self._asked, self._topic = node, topic
        self._node = Node(
            f'_{node.get_name()}_{topic.strip("/").replace("/", "_")}',
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,  # they are for the other node
            enable_rosout=False,
            start_parameter_services=False,
        )
        name = node.resolve_topic_name(topic)
        self._live, self._kept = (
            self._node.create_subscription(MarkerArray, name, _never, qos)
            for qos in (OBSTACLES, LATCHED_OBSTACLES)
        )
        self._began = self._pause_ends = 0.0  # [s] of time.monotonic

    def take(self) -> list[HeardMarker] | None:
        """Return what has come; None: nothing, or it is not time yet."""
        self._began = time.monotonic()
        if self._began < self._pause_ends:
            return None
        heard, live = _taken(self._kept), _taken(self._live)
        if live and not self._is_all_kept():
            heard += live
        return merged(heard) if heard else None

    def note_done(self) -> None:
        """Leave as much time to others as the work on what was taken took."""
        now = time.monotonic()
        self._pause_ends = now + (now - self._began)

    def close(self) -> None:
        """Stop listening."""
        self._node.destroy_node()

    def _is_all_kept(self) -> bool:
        """Whether what comes live also comes on the subscription that hears earlier messages."""
        publishers = self._asked.get_publishers_info_by_topic(self._topic)
        durability = {each.qos_profile.durability for each in publishers}
        return durability == {DurabilityPolicy.TRANSIENT_LOCAL}


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


def _taken(subscription: Any) -> list[list[HeardMarker]]:
    """Take what waits in the queue of a subscription, as bytes."""
    taken: list[list[HeardMarker]] = []
    handle = subscription.handle
    with handle:
        while len(taken) < MOST and (found := handle.take_message(MarkerArray, True)) is not None:
            taken.append(heard_markers(found[0]))
    return taken


def _never(msg: MarkerArray) -> None:
    """Nobody calls it: no executor knows the subscription."""
    del msg
