"""What the onlooker prints, passed on, and whether it told that the identifier gave up.

A replay has no supervisor that could name a fault, so the words of the onlooker are where the
process that started it learns of one.
"""

from __future__ import annotations

import os
import sys
from threading import Event, Thread
import time

ENDING = 'Bounds fall back to the prior'  # how every `IdentificationFault` ends
FIRST_WORD = 30.0  # [s] to wait for an onlooker that has not said anything yet
LAST_WORD = 1.0  # [s] after its first word, in which it hears of every node a few times


class OnlookerWords:
    """The other end of the onlooker's standard output."""

    def __init__(self) -> None:
        reading, self.writing = os.pipe()
        self.fault = ''  # the sentence of an identifier that gave up
        self._has_spoken = Event()
        self._thread = Thread(target=self._pass_on, args=(reading,), daemon=True)
        self._thread.start()

    def hear_out(self) -> None:
        """Wait until the onlooker had the time to hear of a fault that there is by now."""
        if not self._has_spoken.wait(FIRST_WORD):
            return
        deadline = time.monotonic() + LAST_WORD
        while not self.fault and time.monotonic() < deadline:
            time.sleep(0.01)

    def close(self) -> None:
        """After the onlooker has ended: pass on its last words."""
        os.close(self.writing)
        self._thread.join()

    def _pass_on(self, reading: int) -> None:
        with os.fdopen(reading, encoding='utf-8', errors='replace') as lines:
            for line in lines:
                sys.stdout.write(line)
                sys.stdout.flush()
                if ENDING in line and not self.fault:
                    self.fault = line.strip()
                self._has_spoken.set()
