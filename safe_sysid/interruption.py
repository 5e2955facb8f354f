"""Interruption: Ctrl-C that is noticed also where Python drops exceptions."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interruption:
    """Remembers that Ctrl-C came: raised while an object is finalized, nobody hears of it."""

    def __enter__(self) -> Interruption:
        self._is_asked_for = self._waits = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():  # no other may have handlers
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def postpone(self) -> None:
        """From now on Ctrl-C waits for `raise_again`; a second one does not wait."""
        self._waits = True

    def raise_again(self) -> None:
        """If it came and nobody heard of it."""
        if self._is_asked_for:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        waits = self._waits and not self._is_asked_for
        self._is_asked_for = True
        if not waits:
            raise KeyboardInterrupt
