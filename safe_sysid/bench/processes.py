"""Processes for trials that know nothing of each other, one per core."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
import multiprocessing
import os

from safe_sysid.versions import cpu_count
from safe_sysid.worker import die_with


@contextmanager
def trial_processes() -> Iterator[ProcessPoolExecutor]:
    """One process per core; small matrices gain nothing from threads, which would fight."""
    name, before = 'OPENBLAS_NUM_THREADS', os.environ.get('OPENBLAS_NUM_THREADS')
    os.environ[name] = '1'
    try:
        context = multiprocessing.get_context('spawn')
        with ProcessPoolExecutor(cpu_count(), context, die_with, (os.getpid(),)) as pool:
            yield pool
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
