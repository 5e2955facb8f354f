"""One search at a time: in a thread beside whoever has to listen meanwhile, or at once.

What would change the state of a search that goes on waits until it is over, in order; so both ways
do the same things one after the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol


class SearchThread(Protocol):
    """Where searches are done."""

    @property
    def is_busy(self) -> bool:
        """Whether a search goes on."""

    def begin(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do some work, and with its result something else, in the thread of the caller."""

    def after(self, act: Callable[[], None]) -> None:
        """Do something once no search goes on."""

    def poll(self) -> None:
        """Go on with what is done."""

    def close(self) -> None:
        """End, once what goes on is done."""


class Beside:
    """In a thread of its own; `poll` has to be called regularly."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, 'search')
        self._work: Future[Any] | None = None
        self._then: Callable[[Any], None] = _nothing
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether a search goes on."""
        return self._work is not None

    def begin(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Begin some work."""
        assert self._work is None, 'one search at a time'
        self._work, self._then = self._pool.submit(work), then

    def after(self, act: Callable[[], None]) -> None:
        """Do something now, or once the search is over."""
        if self._work is None:
            act()
        else:
            self._waiting.append(act)

    def poll(self) -> None:
        """Use the result of a search that is over, then do what had to wait."""
        if self._work is None or not self._work.done():
            return
        work, self._work = self._work, None
        self._then(work.result())
        while self._waiting and self._work is None:
            self._waiting.popleft()()

    def close(self) -> None:
        """Wait for the end of the search."""
        self._pool.shutdown()


class AtOnce:
    """In the thread of the caller, where everybody waits for the result."""

    is_busy = False

    def begin(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Do some work and use its result."""
        then(work())

    def after(self, act: Callable[[], None]) -> None:
        """Do something now."""
        act()

    def poll(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing goes on."""


def _nothing(_: Any) -> None:
    """Before the first search."""
