"""SinglePublisherCheck: notices when somebody else publishes on a topic that has one publisher."""

from __future__ import annotations

SILENCE = 0.5  # [s] after which a source counts as gone, and after which an intruder does


class SinglePublisherCheck:
    """Stays with the source it heard first, until that is silent."""

    def __init__(self) -> None:
        self._source: str | None = None
        self._heard_at = -SILENCE
        self._other = ''
        self._other_at = -SILENCE

    def accepts(self, source: str, now: float) -> bool:
        """Whether a message is of the source that counts; `now` on a steady clock [s]."""
        if source == self._source or self._source is None or now - self._heard_at > SILENCE:
            self._source, self._heard_at = source, now
            return True
        self._other, self._other_at = source, now
        return False

    def intruder(self, now: float) -> str:
        """Who else publishes; empty if nobody does."""
        if now - self._other_at > SILENCE or self._source is None:
            return ''
        return f"'{self._other}' publishes as well as '{self._source}'"
