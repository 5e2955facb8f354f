"""Later: what is known once something has happened, and a service that answers then.

No coroutine waits for it: while one does, the events executor of rclpy goes round without a pause,
which takes a core, and on a core of real-time priority leaves nothing to anybody else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rclpy.node import Node
from rclpy.service import Service

T = TypeVar('T')


class Later(Generic[T]):
    """A value that is set once; whoever wants it is called then, or at once if it is known."""

    def __init__(self) -> None:
        self._values: list[T] = []
        self._wanted: list[Callable[[T], None]] = []

    @staticmethod
    def known(value: T) -> Later[T]:
        """Return one that is known."""
        later: Later[T] = Later()
        later.set(value)
        return later

    def set(self, value: T) -> None:
        """Tell it."""
        self._values.append(value)
        wanted, self._wanted = self._wanted, []
        for call in wanted:
            call(value)

    def then(self, call: Callable[[T], None]) -> None:
        """Have somebody called with it."""
        if self._values:
            call(self._values[0])
        else:
            self._wanted.append(call)


def create_late_service(
    node: Node, kind: Any, name: str, callback: Callable[[Any, Any], Later[Any]]
) -> Service:
    """Serve with what is known later; no executor waits for it."""
    service = node.create_service(kind, name, callback)
    send = service.send_response

    def send_once_known(response: Later[Any], header: Any) -> None:
        response.then(lambda known: send(known, header))

    service.send_response = send_once_known
    return service
