"""How long some work takes."""

from __future__ import annotations

from collections.abc import Callable
import statistics
import time
from typing import NamedTuple


class Spent(NamedTuple):
    """Seconds that some work took."""

    wall: float
    cpu: float  # of all threads of this process, which the load of a machine changes less


def median_spent(work: Callable[[], object], repeats: int) -> Spent:
    """Medians of some work after a warm-up."""
    work()
    every = []
    for _ in range(repeats):
        begin, cpu = time.perf_counter(), time.process_time()
        work()
        every.append((time.perf_counter() - begin, time.process_time() - cpu))
    return Spent(*(statistics.median(column) for column in zip(*every, strict=True)))


def median_seconds(work: Callable[[], object], repeats: int) -> float:
    """Median wall time of some work after a warm-up."""
    return median_spent(work, repeats).wall
