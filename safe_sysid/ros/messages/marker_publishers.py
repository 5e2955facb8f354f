"""MarkerPublishers: who shows obstacles, which of their messages count, and what was lost.

A publisher that keeps its last messages is heard twice: by a subscription that gets what came
before it (kept), and by one for those that keep nothing (live). Each message counts once and in
its order: what came live waits until the kept one is at hand, and counts by itself where that one
never comes, as its publisher had few places or has left. Messages of one publisher are numbered;
where numbers are missing, obstacles may be missing.

Distributions before Kilted do not tell of whom a message is. There live messages count unless all
publishers keep theirs, whoever is heard speaks for all, and losses go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.topic_endpoint_info import TopicEndpointInfo

from safe_sysid.ros.messages.told_messages import MessageNumbers, ToldMessage

TYPE = 'visualization_msgs/msg/MarkerArray'
NAMED = 3  # publishers of a sentence


class MarkerPublishers:
    """Knows all that are there; `endpoints` asks the middleware for them."""

    def __init__(self, endpoints: Callable[[], Sequence[TopicEndpointInfo]]) -> None:
        self._endpoints = endpoints
        self._there: dict[bytes, TopicEndpointInfo] = {}
        self._numbers = MessageNumbers()
        self._held: dict[bytes, list[ToldMessage]] = {}
        self._heard: set[bytes] = set()
        self._is_somebody_heard = self._is_complete = False
        self._lost = 0

    def look(self) -> None:
        """Ask who is there."""
        self._there = {bytes(each.endpoint_gid): each for each in self._endpoints()}
        self._heard &= self._there.keys() | self._held.keys()

    def note_all_discovered(self) -> None:
        """Whoever comes once all have been heard is heard from the first message on."""
        if self._is_somebody_heard and not self._silent():
            self._is_complete = True

    @property
    def awaited(self) -> str:
        """Who was there before and has shown nothing since; empty: nobody."""
        return '' if self._is_complete else _names(self._silent())

    @property
    def unclear(self) -> str:
        """Why not all is known that somebody shows; empty: it is."""
        for each in self._there.values():
            if each.topic_type != TYPE:
                return f'{_names([each])} publishes {each.topic_type}; it has to be {TYPE}'
            if each.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT:
                return (
                    f'{_names([each])} offers best effort, which may lose obstacles and is not '
                    'heard; it has to publish reliably'
                )
        if self._lost:
            return (
                f'{self._lost} messages were lost; what they have shown is not known until all '
                'that there is was shown again, after a DELETEALL'
            )
        return ''

    def forgive(self) -> None:
        """Somebody took all away: what was lost before is of no account."""
        self._lost = 0

    def counting(self, told: ToldMessage) -> list[ToldMessage]:
        """Return what counts now that this has come, in order."""
        self._is_somebody_heard = True
        if not told.publisher:
            return [told] if told.is_kept or not self._are_all_latched() else []
        self._heard.add(told.publisher)
        if told.is_kept:
            held = self._held.pop(told.publisher, [])
            before = [each for each in held if each.number < told.number]
            self._hold(each for each in held if each.number > told.number)
            return self._numbered([*before, told])
        if self._is_volatile(told.publisher):
            return self._numbered([told])
        self._hold([told])
        return []

    def left_behind(self) -> list[ToldMessage]:
        """Return what was held of publishers that are gone; nothing kept of them is waiting."""
        if not self._held:
            return []
        self.look()
        gone = [publisher for publisher in self._held if publisher not in self._there]
        held = (self._numbered(self._held.pop(publisher)) for publisher in gone)
        return [each for messages in held for each in messages]

    def _silent(self) -> list[TopicEndpointInfo]:
        """Who is there, could be heard, and has shown nothing yet."""
        if self._is_somebody_heard and not self._heard:  # nobody tells who it was
            return []
        return [each for key, each in self._there.items() if key not in self._heard]

    def _numbered(self, messages: Iterable[ToldMessage]) -> list[ToldMessage]:
        """Return those that have not counted yet, and note those between that never came."""
        counting = []
        for told in messages:
            missing = self._numbers.note(told)
            if missing is not None:
                self._lost += missing
                counting.append(told)
        return counting

    def _hold(self, messages: Iterable[ToldMessage]) -> None:
        for told in messages:
            if told.number > self._numbers.last(told.publisher):
                self._held.setdefault(told.publisher, []).append(told)

    def _is_volatile(self, publisher: bytes) -> bool:
        if publisher not in self._there:
            self.look()
        there = self._there.get(publisher)
        return there is not None and not _is_latched(there)

    def _are_all_latched(self) -> bool:
        self.look()
        return all(_is_latched(each) for each in self._there.values()) and bool(self._there)


def _is_latched(endpoint: TopicEndpointInfo) -> bool:
    return bool(endpoint.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL)


def _names(endpoints: Sequence[TopicEndpointInfo]) -> str:
    """Name nodes, a few of them."""
    names = [f'{each.node_namespace.rstrip("/")}/{each.node_name}' for each in endpoints]
    more = [f'{len(names) - NAMED} more'] if len(names) > NAMED else []
    return ' and '.join([*names[:NAMED], *more])
