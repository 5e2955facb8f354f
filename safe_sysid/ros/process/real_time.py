"""What a process can do to be on time: priority, memory that stays, no garbage collection."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
import gc
import os
from pathlib import Path
from typing import Annotated

from safe_sysid.config import Range, Settings

LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE of <sys/mman.h>
Priority = Annotated[int, Range(at_least=0, at_most=99)]


@dataclass(frozen=True)
class RealTimeSettings(Settings):
    """Both need a permission that a user has to be given; without it there is a warning."""

    priority: Priority = 0  # of SCHED_FIFO, 1 to 99; 0: as every other process
    lock_memory: bool = False  # whether no page may be swapped out


def prepare_process(settings: RealTimeSettings) -> list[str]:
    """Priority for all threads that there are, those of the middleware included; what failed."""
    refused = []
    if settings.priority:
        try:
            for thread in Path('/proc/self/task').iterdir():
                parameters = os.sched_param(settings.priority)
                os.sched_setscheduler(int(thread.name), os.SCHED_FIFO, parameters)
        except PermissionError:
            refused.append(
                f'SCHED_FIFO {settings.priority} is not permitted; as root, or with an rtprio '
                'line in /etc/security/limits.conf, it is'
            )
    if settings.lock_memory and ctypes.CDLL(None, use_errno=True).mlockall(LOCK_ALL):
        refused.append(
            f'mlockall failed ({os.strerror(ctypes.get_errno())}); as root, or with a memlock '
            'line in /etc/security/limits.conf, it does not'
        )
    return refused


def settle_memory() -> None:
    """Once everything that stays has been made: collect, and never look at it again."""
    gc.collect()
    gc.freeze()
