"""`safe-sysid run`: starts the processes of a way of running, keeps them alive and ends them.

A process that crashes is started again, which the supervisor of the loop notices and treats as a
fault. One that refuses its settings, or comes to its end, ends all of them.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from types import FrameType
from typing import Any

from safe_sysid.bringup.processes import Choices, Process, processes_of, write_choices

CRASHES = 9  # of one process that are put up with
PAUSE = 1.0  # [s] before a process that crashed is started again
LOOK = 0.05  # [s]
BAD_FINDING = 1  # exit status of the command
PATIENCE = (8.0, 3.0)  # [s] after SIGINT and after SIGTERM
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
SETTINGS_REFUSED, FAULT = 2, 3  # exit status of a node


def run(name: str, choices: Choices) -> int:
    """Start the processes of a way of running; the status is that of the one that ended."""
    processes = processes_of(name, choices)
    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        chosen = write_choices(processes, Path(folder) / 'choices.yaml')
        return Supervised({p.node: command_line(p, chosen) for p in processes}).run()


def command_line(process: Process, chosen: Path) -> list[str]:
    """How a node is started."""
    return [
        *(sys.executable, '-m', process.module, '--ros-args'),
        *('--params-file', str(process.settings), '--params-file', str(chosen)),
        *(('-r', f'__ns:=/{process.namespace}') if process.namespace else ()),
    ]


class Supervised:
    """Processes that live and end together."""

    def __init__(self, lines: dict[str, list[str]]) -> None:
        self._lines = lines  # command line of every node
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._crashes: dict[str, int] = {}
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
            ended(list(self._running.values()))
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._asked_to_end = number

    def _start(self, node: str) -> None:
        # a session of its own: Ctrl-C reaches it through us, once
        self._running[node] = subprocess.Popen(
            self._lines[node], start_new_session=True, preexec_fn=die_with_parent
        )

    def _look(self) -> int | None:
        """Status of a process that ends all, if there is one; others are started again."""
        for node, process in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[node]
            self._crashes[node] = self._crashes.get(node, 0) + 1
            if status in (0, SETTINGS_REFUSED):
                return status
            if status == FAULT:
                return BAD_FINDING
            if self._crashes[node] > CRASHES:
                _say(f'{node} ended with status {status} for the {CRASHES + 1}. time; all end')
                return BAD_FINDING
            _say(f'{node} ended with status {status}, it is started again')
            self._due[node] = time.monotonic() + PAUSE
        for node, due in list(self._due.items()):
            if time.monotonic() >= due:
                del self._due[node]
                self._start(node)
        return None


def _say(sentence: str) -> None:
    print(f'safe-sysid: {sentence}', file=sys.stderr, flush=True)


def ended(processes: list[subprocess.Popen[Any]]) -> None:
    """Ask everybody to end, then insist."""
    for number, patience in zip((signal.SIGINT, signal.SIGTERM), PATIENCE, strict=True):
        for process in processes:
            if process.poll() is None:
                process.send_signal(number)
        deadline = time.monotonic() + patience
        for process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                continue
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()


def die_with_parent() -> None:
    """Between fork and exec: end when the parent is killed, which then cannot ask to."""
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)
