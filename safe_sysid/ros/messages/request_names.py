"""RequestNames: by which number everybody knows a request.

It is the stamp of its message [ns], or the time it came where it has none. A message of the same
topic, stamp and content is the same request. Another request of a stamp that one has had already
is named by the next nanosecond that is free, so that nobody takes it for the one before.
"""

from __future__ import annotations

from collections.abc import Hashable
import hashlib
from typing import Any

from safe_sysid.ros.messages.codec import stamp_of

REMEMBERED = 1000  # requests


class RequestNames:
    """Knows the requests that came last."""

    def __init__(self) -> None:
        self._names: dict[Hashable, int] = {}  # the newest is the last one
        self._newest: int | None = None

    def new(self, topic: str, msg: Any, now: int) -> int | None:
        """Return the name of a request that came now [ns]; None for the newest, told again."""
        stamp = stamp_of(msg.header.stamp)
        request = (topic, _digest(msg)) if stamp else object()
        name = self._names.pop(request, None)
        if name is None:
            name = self._free(stamp or now)
        self._names[request] = name
        while len(self._names) > REMEMBERED:
            del self._names[next(iter(self._names))]
        if name == self._newest:
            return None
        self._newest = name
        return name

    def _free(self, name: int) -> int:
        taken = set(self._names.values())
        while name in taken:
            name += 1
        return name


def _digest(msg: Any) -> bytes:
    """Of all fields; the bytes of a message would not do, as between fields they may be any."""
    return hashlib.sha256(repr(msg).encode(errors='backslashreplace')).digest()
