"""`safe-sysid run`: starts the processes of a way of running, keeps them alive and ends them.

A process that crashes is started again, which the supervisor of the loop notices and treats as a
fault. One that refuses its settings (status 2), or comes to its end (0, 1), ends all of them.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from types import FrameType

from safe_sysid.errors import ConfigError
from safe_sysid.report.processes import Choices, Process, processes_of

PAUSE = 1.0  # [s] before a process that crashed is started again
LOOK = 0.05  # [s]
PATIENCE = (8.0, 3.0)  # [s] after SIGINT and after SIGTERM
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
ENDS_ALL = (0, 1, 2)  # done, done with a fault, settings refused


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid run`; the status is that of the process that came to its end."""
    choices = Choices(
        options.robot,
        options.config,
        options.world,
        options.payload,
        options.record,
        options.bag,
        options.lockstep,
    )
    processes = processes_of(options.name, choices)
    onlooker = Process('onlooker', processes[0].settings, {'once': options.once})
    return Supervised([*processes, onlooker], parse_extra(options.extra)).run()


def parse_extra(texts: list[str]) -> list[str]:
    """Arguments after --ros-args for parameters that were given one by one."""
    for text in texts:
        if ':=' not in text:
            raise ConfigError(f"parameter '{text}' is not NAME:=VALUE")
    return [word for text in texts for word in ('-p', text)]


def command_line(process: Process, extra: list[str]) -> list[str]:
    """How a node is started, with its parameters."""
    parameters = [
        word
        for name, value in process.parameters.items()
        for word in ('-p', f'{name}:={_yaml(value)}')
    ]
    return [
        *(sys.executable, '-m', process.module, '--ros-args'),
        *('--params-file', str(process.settings)),
        *parameters,
        *extra,
    ]


def _yaml(value: object) -> str:
    """A parameter as YAML; texts in quotes, so that none is taken for a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


class Supervised:
    """Processes that live and end together."""

    def __init__(self, processes: list[Process], extra: list[str]) -> None:
        self._lines = {p.node: command_line(p, extra) for p in processes}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._due: dict[str, float] = {}  # when a process is started again [s]
        self._asked_to_end = 0

    def run(self) -> int:
        """Until somebody asks to end, or a process ends all; its status."""
        before = {s: signal.signal(s, self._on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            for node in self._lines:
                self._start(node)
            status = None
            while status is None and not self._asked_to_end:
                time.sleep(LOOK)
                status = self._look()
            return 0 if status is None else status
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._asked_to_end = number

    def _start(self, node: str) -> None:
        # a session of its own: Ctrl-C reaches it through us, once
        self._running[node] = subprocess.Popen(
            self._lines[node], start_new_session=True, preexec_fn=_die_with_parent
        )

    def _look(self) -> int | None:
        """Status of a process that ends all, if there is one; others are started again."""
        for node, process in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[node]
            if status in ENDS_ALL:
                return status
            print(
                f'safe-sysid: {node} ended with status {status}, it is started again',
                file=sys.stderr,
                flush=True,
            )
            self._due[node] = time.monotonic() + PAUSE
        for node, due in list(self._due.items()):
            if time.monotonic() >= due:
                del self._due[node]
                self._start(node)
        return None

    def _end(self) -> None:
        """Ask everybody to end, then insist."""
        for number, patience in zip((signal.SIGINT, signal.SIGTERM), PATIENCE, strict=True):
            for process in self._running.values():
                if process.poll() is None:
                    process.send_signal(number)
            deadline = time.monotonic() + patience
            for process in self._running.values():
                try:
                    process.wait(max(0.0, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue
        for process in self._running.values():
            if process.poll() is None:
                process.kill()
                process.wait()


def _die_with_parent() -> None:
    """Between fork and exec: end when the parent is killed, which then cannot ask to."""
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)
    os.environ.pop('PYTHONSTARTUP', None)
