"""UnreadMessages: why messages of a node could not be read, for as long as that counts."""

from __future__ import annotations

from collections.abc import Callable
import math
import time
from typing import TypeVar

from safe_sysid.errors import MessageError

LASTS = 1.0  # [s] that a complaint is there at least: who looks now and then sees it

Message = TypeVar('Message')


class UnreadMessages:
    """A complaint about a topic is over a moment after a message of it could be read again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._unread: dict[str, tuple[str, float]] = {}  # by topic: why, and until when [s]

    def reading(self, topic: str, take: Callable[[Message], None]) -> Callable[[Message], None]:
        """Return what takes messages of a topic, and keeps why one cannot be taken."""

        def read(msg: Message) -> None:
            try:
                take(msg)
            except MessageError as error:
                self._unread[topic] = str(error), math.inf
                return
            if self._unread:
                self._note_read(topic)

        return read

    def _note_read(self, topic: str) -> None:
        why, until = self._unread.get(topic, ('', 0.0))
        if until == math.inf:
            self._unread[topic] = why, self._clock() + LASTS

    @property
    def trouble(self) -> str:
        """Say why; empty: all could be read."""
        now = self._clock()
        self._unread = {t: (why, until) for t, (why, until) in self._unread.items() if until > now}
        return '; '.join(why for why, _ in self._unread.values())
