"""Who comes after whom for the processor: niceness that counts between sessions, too.

Linux gives each session an equal share where `sched_autogroup_enabled` is 1, as desktops have it;
there the niceness of a process counts among those of its session alone, and a node, or a process
that solves, has a session of its own. So the session of a process that leads one gets the same.
"""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import time

SESSION = Path('/proc/self/autogroup')
TRIES, PAUSE = 5, 0.12  # the kernel changes one session in a tenth of a second [s]


def come_after_others(niceness: int) -> None:
    """Add to the niceness of this process, and of its session if it leads one."""
    total = os.nice(niceness)
    if os.getsid(0) != os.getpid():
        return  # the session is that of others, too
    for _ in range(TRIES):
        with suppress(BlockingIOError):
            with suppress(FileNotFoundError, PermissionError):
                SESSION.write_text(str(total))
            return
        time.sleep(PAUSE)
