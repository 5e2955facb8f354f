"""Processes for trials that know nothing of each other, one per core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
import multiprocessing
from multiprocessing.process import BaseProcess
import os
from typing import Any, TypeVar

from safe_sysid.versions import cpu_count
from safe_sysid.worker import deaf_to_ctrl_c, die_with

T = TypeVar('T')


@contextmanager
def trial_processes() -> Iterator[ProcessPoolExecutor]:
    """One process per core; small matrices gain nothing from threads, which would fight.

    Whoever leaves by an exception, such as Ctrl-C, does not wait for trials that are under way.
    """
    name, before = 'OPENBLAS_NUM_THREADS', os.environ.get('OPENBLAS_NUM_THREADS')
    os.environ[name] = '1'
    try:
        context = multiprocessing.get_context('spawn')
        others = multiprocessing.active_children()
        with _TrialPool(cpu_count(), context, die_with, (os.getpid(),)) as pool:
            try:
                _begin(pool)
                yield pool
            except BaseException:
                _end_all_but(others)
                raise
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


class _TrialPool(ProcessPoolExecutor):
    """A pool whose processes may be ended while there is work.

    Futures that `map` of the library has cancelled by then end its thread with a traceback.
    """

    def map(self, fn: Callable[..., T], *iterables: Iterable[Any], **_: Any) -> Iterator[T]:
        """Return results in their order; nothing is cancelled where one fails."""
        futures = [self.submit(fn, *arguments) for arguments in zip(*iterables, strict=False)]
        return (future.result() for future in futures)


def _begin(pool: ProcessPoolExecutor) -> None:
    """Begin all processes at once, as a pool begins one for each task while none is idle."""
    with deaf_to_ctrl_c():
        for _ in range(cpu_count()):
            pool.submit(os.getpid)


def _end_all_but(others: list[BaseProcess]) -> None:
    for process in multiprocessing.active_children():
        if process not in others:
            process.terminate()
