"""Messages that wait in queues of the middleware, as bytes and with who has published them.

Where messages come faster than they are worked on, an executor has one after the other done, and
all else waits behind them. Here they wait until somebody looks, who takes them together; so the
subscriptions belong to a node that no executor knows. Messages of one publisher are numbered:
where numbers are missing, messages were lost. Distributions before Kilted do not tell of whom a
message is; there losses go unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

MOST = 100  # messages at a look; what is left waits for the next one
REMEMBERED = 1000  # publishers whose last number is known


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """A message as bytes, and where it comes from."""

    data: bytes
    publisher: bytes  # its identifier; empty: nobody tells
    number: int  # among the messages of its publisher, from 1 on
    received: int  # [ns]
    is_kept: bool  # heard by a subscription that gets earlier messages, too

    @staticmethod
    def of(found: tuple[bytes, Any], is_kept: bool) -> ToldMessage:
        """Return what a subscription gave."""
        data, info = found
        number = info.get('publication_sequence_number') or 0
        publisher = (info.get('publisher_gid') or {}).get('data', b'') if number else b''
        return ToldMessage(data, publisher, number, info['received_timestamp'], is_kept)


class MessageNumbers:
    """Knows the number of the message that counted last of each publisher."""

    def __init__(self) -> None:
        self._last: dict[bytes, int] = {}

    def last(self, publisher: bytes) -> int:
        """Return the number; 0 where none has counted."""
        return self._last.get(publisher, 0)

    def note(self, told: ToldMessage) -> int | None:
        """Return how many are missing before this message; None: it has counted already."""
        last = self._last.pop(told.publisher, None)  # the latest publisher is the last one
        self._last[told.publisher] = max(told.number, last or 0)
        while len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]
        if last is None:
            return 0
        return told.number - last - 1 if told.number > last else None


class MessageQueue:
    """What waits at a subscription, with a look at what is next."""

    def __init__(
        self, listener: Node, message: Any, topic: str, qos: QoSProfile, *, is_kept: bool
    ) -> None:
        self._handle = listener.create_subscription(message, topic, _never, qos).handle
        self._message, self._is_kept = message, is_kept
        self._next: ToldMessage | None = None

    @property
    def next(self) -> ToldMessage | None:
        """What comes next; None: nothing is waiting."""
        if self._next is None:
            with self._handle:
                found = self._handle.take_message(self._message, True)
            self._next = None if found is None else ToldMessage.of(found, self._is_kept)
        return self._next

    def received(self) -> float:
        """Return when that came [ns]; after all else if nothing is waiting."""
        told = self.next
        return float('inf') if told is None else told.received

    def take(self) -> ToldMessage | None:
        """Return what is next, which is not waiting any more."""
        told, self._next = self.next, None
        return told


class HalfTheTime:
    """Says when to look, so that the work takes at most half of the time."""

    def __init__(self) -> None:
        self._began = self._pause_ends = 0.0  # [s] of time.monotonic

    def is_due(self) -> bool:
        """Whether to look now; then the work begins."""
        self._began = time.monotonic()
        return self._began >= self._pause_ends

    def note_done(self) -> None:
        """Leave as much time to others as the work took."""
        now = time.monotonic()
        self._pause_ends = now + (now - self._began)


def listener(node: Node, topic: str) -> Node:
    """Return a node beside another one that listens to a topic, which no executor knows."""
    return Node(
        f'_{node.get_name()}_{topic.strip("/").replace("/", "_")}',
        namespace=node.get_namespace(),
        context=node.context,
        use_global_arguments=False,  # they are for the other node
        enable_rosout=False,
        start_parameter_services=False,
    )


def _never(msg: Any) -> None:
    """Nobody calls it: no executor knows the subscription."""
    del msg
