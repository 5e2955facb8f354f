"""Nodes as copies of this process, which imports once the numerics that all of them need.

A node alone imports for one to two seconds of a processor, and there are seven of them on few
cores. A copy has them at once, one that takes the place of another that crashed as well. It is as
apart from the others as any process: memory, threads and signals are its own. ROS is left to the
copies, as it begins threads when it is imported.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cache
import gc
import importlib
import os
from pathlib import Path
import signal
import subprocess
import sys
import time
import traceback
from typing import NoReturn, Protocol

from safe_sysid.bringup.process_name import name_process
from safe_sysid.own_python import own_environment
from safe_sysid.worker import die_with_parent

PACKAGE = Path(__file__).parents[1]
ROS = f'{PACKAGE.name}.ros.'
# What several nodes would import as soon as they begin: kernels with linear algebra, and messages,
# whose support is found through a parser of their definitions.
SOON = ('scipy.linalg', 'numba.np.linalg', 'rosidl_generator_py')
LOOK = 0.01  # [s]
CRASH = 1  # exit status of a node that ends by an exception, as Python has it
TO_END = (signal.SIGINT, signal.SIGTERM)


class Running(Protocol):
    """What is asked of a process that runs; `subprocess.Popen` is one."""

    returncode: int | None

    def poll(self) -> int | None:
        """Return the exit status, or minus the signal that ended it; None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the same once it has ended."""

    def send_signal(self, sig: int) -> None:
        """Send a signal, if it runs."""


def started(line: list[str]) -> Running:
    """Start a command line in a session of its own: Ctrl-C reaches it through us, once."""
    ours = own_environment()
    return subprocess.Popen(line, env=ours, start_new_session=True, preexec_fn=_before_it_begins)


def prepare(line: list[str]) -> None:
    """Import the numerics of `[python, '-m', module, ...]`, for copies of this process."""
    with suppress(Exception):  # whoever becomes this module says what is wrong with it
        for each in numerics_of(line[2]):
            importlib.import_module(each)
        _make_numba_ready()
        for each in SOON:
            with suppress(ImportError):
                importlib.import_module(each)


def copied(line: list[str]) -> Running:
    """Start a command line as a copy of this process, which is prepared for it.

    Where a library has begun threads, of which a copy would have none, it is started as any other.
    """
    return started(line) if _threads() > 1 else Copy(line[2], line[3:])


def numerics_of(module: str) -> list[str]:
    """Return modules outside of `ros` that one of `ros` imports, by others of `ros` as well."""
    found: dict[str, None] = {}
    seen, left = {module}, [module]
    while left:
        for each in _imported(left.pop()):
            if not each.startswith(ROS):
                found[each] = None
            elif each not in seen:
                seen.add(each)
                left.append(each)
    return list(found)


@cache
def _imported(module: str) -> list[str]:
    """Return modules of the package that one imports when it is imported."""
    path = PACKAGE.parent.joinpath(*module.split('.')).with_suffix('.py')
    tree = ast.parse(path.read_text(encoding='utf-8'))
    named = [each.module or '' for each in tree.body if isinstance(each, ast.ImportFrom)]
    return [each for each in named if each.startswith(f'{PACKAGE.name}.')]


def _make_numba_ready() -> None:
    """Have the first kernel loaded; before it LLVM and numba's runtime are made ready."""
    import numpy as np

    from safe_sysid.sets.taylor_kernels import norm

    norm(np.zeros((1, 1)), 0, 0, 1)


def _threads() -> int:
    return sum(1 for _ in Path('/proc/self/task').iterdir())


class Copy:
    """A copy of this process in which a module runs its `main`."""

    def __init__(self, module: str, arguments: list[str]) -> None:
        self.returncode: int | None = None
        _flush()  # or both would write what is left
        gc.freeze()  # a search for garbage would write to, and so copy, all that is shared
        before = signal.pthread_sigmask(signal.SIG_BLOCK, TO_END)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _become(module, arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def poll(self) -> int | None:
        """Return the exit status, or minus the signal that ended it; None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the same once it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                assert timeout is not None
                raise subprocess.TimeoutExpired(f'process {self.pid}', timeout)
            time.sleep(LOOK)
        return status

    def send_signal(self, sig: int) -> None:
        """Send a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, sig)


def _become(module: str, arguments: list[str]) -> NoReturn:
    """Be the process of a module, whose signals are as those of a new one, until its end."""
    status = CRASH
    try:
        os.setsid()
        _before_it_begins()
        for number in TO_END:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        name_process(module)
        loaded = importlib.import_module(module)
        sys.argv = [loaded.__file__ or module, *arguments]
        status = loaded.main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else CRASH
    except BaseException:  # noqa: BLE001 - this is the edge of a process
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


def _flush() -> None:
    """Write what is left of output, as far as anybody is there to take it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def _before_it_begins() -> None:
    """Let Ctrl-C wait in a new process until it listens, instead of interrupting its imports."""
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
