"""Two computations at the same time, where numpy's products of matrices leave a core for it.

These free the lock of the interpreter, so threads are enough. Where products take several cores
themselves (OPENBLAS_NUM_THREADS is not 1; commands set it), threads of ours would only fight with
theirs, and one comes after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
import os
from typing import Any

from safe_sysid.sets.steps import cores


def two_at_a_time() -> Executor:
    """Return who computes in up to two threads, or at once what is handed to it."""
    is_alone = os.environ.get('OPENBLAS_NUM_THREADS') == '1'
    return ThreadPoolExecutor(2) if is_alone and cores() > 1 else _AtOnce()


class _AtOnce(Executor):
    """Has computed what is handed to it by the time that `submit` returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Compute now; errors are those of the result, as in a thread."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future
