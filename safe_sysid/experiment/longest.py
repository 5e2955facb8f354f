"""An end to what never ends: an exception after some processor time, then the process ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import ctypes
import os
import threading
import time

LOOKS = 20  # at the clocks until the limit
LEAST = 5.0  # [s] more, or the limit again, after which a process that did not listen is ended
IDLE = 10.0  # times the limit in wall time, for what waits and never works
STATUS = 75  # of a process that is ended


class TookTooLong(Exception):  # noqa: N818 - it is no error, it is a limit
    """More processor time went by than there is for one trial."""


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Raise `TookTooLong` here after so much processor time of this process.

    Compiled code is not interrupted; where it goes on for as long again the process ends.
    """
    over, here = threading.Event(), threading.get_ident()
    watch = threading.Thread(target=_watch, args=(seconds, here, over), daemon=True)
    watch.start()
    try:
        yield
    except TookTooLong:
        raise TookTooLong(
            f'it took more than {seconds:g} s of processor time, or waited {IDLE:g} times as long'
        ) from None
    finally:
        over.set()
        watch.join()


def _watch(seconds: float, here: int, over: threading.Event) -> None:
    cpu, wall, told = time.process_time(), time.monotonic(), 0.0
    while not over.wait(min(1.0, seconds / LOOKS)):
        used = max(time.process_time() - cpu, (time.monotonic() - wall) / IDLE)
        if told and used > told + max(seconds, LEAST):
            os._exit(STATUS)
        if used > seconds and not told:
            told = used
            raised = ctypes.py_object(TookTooLong)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(here), raised)
