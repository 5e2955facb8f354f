"""SinglePublisherCheck: notices when somebody else publishes on a topic that has one publisher."""

from __future__ import annotations

SILENCE = 0.5  # [s] after which a source counts as gone, and after which an intruder does
STEP = 0.5 * SILENCE  # [s] at most that one message adds to a silence


class SinglePublisherCheck:
    """Stays with the source it heard first, until that is silent.

    Messages are in the order in which they came, but may be read late. So a source is silent while
    several messages of another follow each other without one of its own, and a pause in which this
    process read nothing counts as one step: what came meanwhile is still to be read.
    """

    def __init__(self) -> None:
        self._source: str | None = None
        self._next, self._read_at, self._silence = '', 0.0, 0.0  # who may follow it
        self._other = ''
        self._other_at = -SILENCE

    def accepts(self, source: str, now: float) -> bool:
        """Whether a message is of the source that counts; `now` on a steady clock [s]."""
        if self._source is None or source == self._source:
            self._source = source
            if self._next:  # both publish: the other one does not follow this one
                self._other, self._other_at, self._next = self._next, self._read_at, ''
            return True
        if source != self._next:
            self._next, self._silence = source, 0.0
        else:
            self._silence += min(now - self._read_at, STEP)
        self._read_at = now
        if self._silence <= SILENCE:
            return False
        self._source, self._next = source, ''
        return True

    def intruder(self, now: float) -> str:
        """Who else publishes; empty if nobody does."""
        if now - self._other_at > SILENCE or self._source is None:
            return ''
        return f"'{self._other}' publishes as well as '{self._source}'"
