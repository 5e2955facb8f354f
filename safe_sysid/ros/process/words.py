"""Words for a terminal that may be gone: it is closed, or its launcher was killed."""

from __future__ import annotations

from contextlib import suppress
import sys
from typing import TextIO


def say(sentence: str, stream: TextIO | None = None) -> None:
    """Write a line; without a reader nobody misses it, and no torque may depend on one."""
    with suppress(OSError, ValueError):
        stream = sys.stderr if stream is None else stream
        stream.write(f'{sentence}\n')
        stream.flush()
