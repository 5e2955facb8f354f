"""Time steps shared out among the cores: every thread runs a compiled kernel over some of them.

Kernels release the interpreter lock, so threads of Python are enough. Handing a share over takes
some 50 microseconds, which is why a kernel gets one contiguous range and not single steps.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
import os
from typing import Any

FEWEST = 8  # steps that are worth a thread of their own

Steps = tuple[int, int]  # the first, and the one behind the last


def over_steps(kernel: Callable[..., Any], count: int, *arguments: Any, together: int = 1) -> None:
    """Call kernel(steps, *arguments) for ranges that make up 0 to `count`, one a core.

    Ranges begin at multiples of `together`, for a kernel that does so many steps at a time.
    """
    groups = -(-count // together)
    shares = max(1, min(cores(), count // FEWEST, groups))
    ends = [min(count, together * (groups * i // shares)) for i in range(shares + 1)]
    here, *elsewhere = pairwise(ends)
    others = [_threads().submit(kernel, steps, *arguments) for steps in elsewhere]
    try:
        kernel(here, *arguments)
    finally:
        for other in others:
            other.result()


@cache
def cores() -> int:
    """How many cores this process may use: OMP_NUM_THREADS, or those it is allowed to run on."""
    told = os.environ.get('OMP_NUM_THREADS', '')
    if told.isdecimal() and int(told) > 0:
        return int(told)
    return len(os.sched_getaffinity(0))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores() - 1, 'steps')


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of them
