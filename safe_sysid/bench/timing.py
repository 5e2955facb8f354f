"""How long some work takes."""

from __future__ import annotations

from collections.abc import Callable
import statistics
import time


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """Median time of some work after a warm-up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
