"""Progress on standard error for work that takes more than two seconds."""

from __future__ import annotations

import sys
import time

PATIENCE = 2.0  # [s] nothing is shown before
REDRAW = 0.2  # [s]
LINE = 10.0  # [s] between lines where standard error is not a terminal
WIDTH = 30


class ProgressBar:
    """A bar on a terminal, now and then a line in a file; silent if the work is short."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = self._shown = time.monotonic()
        self._is_drawn = False

    def show(self, share: float, detail: str = '') -> None:
        """Say how far the work is, from 0 to 1."""
        now = time.monotonic()
        on_terminal = sys.stderr.isatty()
        if now - self._begin < PATIENCE or now - self._shown < (REDRAW if on_terminal else LINE):
            return
        self._shown, self._is_drawn = now, True
        filled = round(WIDTH * min(max(share, 0.0), 1.0))
        bar = '█' * filled + '·' * (WIDTH - filled)
        text = f'{self._what} {bar} {100 * share:3.0f} %  {detail}'.rstrip()
        print(f'\r\033[K{text}' if on_terminal else text, end='' if on_terminal else '\n',
              file=sys.stderr, flush=True)  # fmt: skip

    def end(self) -> None:
        """Leave a clean line."""
        if self._is_drawn and sys.stderr.isatty():
            print('\r\033[K', end='', file=sys.stderr, flush=True)
