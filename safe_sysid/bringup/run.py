"""`safe-sysid run`: starts the processes of a way of running, keeps them alive and ends them.

A process that crashes is started again, which the supervisor of the loop notices and treats as a
fault. One that refuses its settings at its start, or comes to its end, ends all of them. To end is
a request: every process is told once and leaves when the arm is in other hands; the bridge,
without which nothing holds the arm until then, is never killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
import os
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from types import FrameType

from safe_sysid.bringup.copies import Running, copied, prepare, started
from safe_sysid.bringup.isolation import is_secured, isolated, soon_found, where
from safe_sysid.bringup.processes import (
    BRIDGES,
    OBSERVERS,
    Choices,
    Process,
    processes_of,
    started_alone,
    write_choices,
)
from safe_sysid.own_domain import OWN_DOMAIN

CRASHES = 9  # of one process that are put up with
PAUSE = 1.0  # [s] before a process that crashed is started again
LOOK = 0.05  # [s]
BAD_FINDING, INTERRUPTED = 1, 130  # exit status of the command; the second as of Ctrl-C in a shell
PATIENCE = (8.0, 3.0)  # [s] until SIGTERM, and from there until SIGKILL
REMINDER = 15.0  # [s] between two words about whom all wait for
SETTINGS_REFUSED, FAULT = 2, 3  # exit status of a node


def run(name: str, choices: Choices) -> int:
    """Start the processes of a way of running; the status is that of the one that ended."""
    processes = processes_of(name, choices)
    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        chosen = write_choices(processes, Path(folder) / 'choices.yaml')
        added = isolated(name, os.environ)
        _say(where(added, os.environ))
        os.environ.update(added | soon_found(os.environ))  # for all nodes
        alone = started_alone(processes)
        lines = {each.node: command_line(each, chosen) for each in sorted(alone, key=_turn)}
        return Supervised(lines, copied, prepare).run()


def _turn(process: Process) -> int:
    """Place in the order of starting: the first plan waits for the planner, then for samples."""
    return 0 if process.node == 'planner' else 1 if process.node in BRIDGES else 2


def command_line(process: Process, chosen: Path) -> list[str]:
    """How a node is started."""
    return [
        *(sys.executable, '-m', process.module, '--ros-args'),
        *('--params-file', str(process.settings), '--params-file', str(chosen)),
        *(('-r', f'__ns:=/{process.namespace}') if process.namespace else ()),
        *(('-r', f'/clock:={process.clock}') if process.clock != '/clock' else ()),
        *(('--enclave', process.enclave) if is_secured(os.environ) else ()),
    ]


class Supervised:
    """Processes that live and end together."""

    def __init__(
        self,
        lines: dict[str, list[str]],
        start: Callable[[list[str]], Running] = started,
        prepare: Callable[[list[str]], None] = lambda _: None,
    ) -> None:
        self._lines = lines  # command line of every node
        self._prepare, self._begin = prepare, start
        self._running: dict[str, Running] = {}
        self._crashes: dict[str, int] = {}
        self._due: dict[str, float] = {}  # when a process is started again [s]
        self._ends: dict[str, str] = {}  # how those ended, which is said once they are
        self._signals = self._told = 0  # that we got, and that we passed on
        self._asked = 0  # status that the first signal asks for
        self._status: int | None = None  # once all are to end
        self._untold: set[str] = set()  # started since, so that nobody has told them
        bridges = [node for node in lines if node in BRIDGES]
        self._last = bridges or [node for node in lines if node == 'supervisor']

    def run(self) -> int:
        """Until somebody asks to end, or a process ends all; its status."""
        before = {s: signal.signal(s, self._on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
        try:
            for node, line in self._lines.items():
                self._prepare(line)  # which takes seconds
                if self._signals:
                    break
                self._start(node)
            while self._status is None:
                time.sleep(LOOK)
                self._look()
                if self._signals and self._status is None:
                    self._end(self._asked)
            return self._ended()
        finally:
            for process in self._running.values():  # after an error of ours, and then only
                process.send_signal(signal.SIGTERM)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if not self._signals:
            self._asked = INTERRUPTED if number == signal.SIGINT else 0
        self._signals += 1

    def _end(self, status: int) -> None:
        """Tell every process once."""
        self._status, self._told = status, self._signals
        self._due = {node: due for node, due in self._due.items() if node in self._last}
        for process in self._running.values():
            process.send_signal(signal.SIGINT)

    def _ended(self) -> int:
        """Wait for those who hold the arm, however long it takes; then for the others."""
        assert self._status is not None
        reminder = time.monotonic() + REMINDER
        while holding := [n for n in self._last if n in self._running or n in self._due]:
            time.sleep(LOOK)
            self._look()
            if self._signals > self._told:  # the answer is theirs
                self._told = self._signals
                for node in {'supervisor', *self._last} & self._running.keys():
                    self._running[node].send_signal(signal.SIGINT)
            if time.monotonic() > reminder:
                reminder += REMINDER
                _say(f'waiting for {", ".join(holding)}, without which nothing may hold the arm')
                self._tell_late()
        insist(list(self._running.values()))
        left = {each for each, process in self._running.items() if process.returncode == FAULT}
        if left - {*OBSERVERS}:
            self._status = BAD_FINDING if self._status in (0, INTERRUPTED) else self._status
        self._running.clear()
        return self._status

    def _tell_late(self) -> None:
        """Tell who was started again while all are ending, once nobody else is there to."""
        late = self._untold & self._running.keys() if 'supervisor' not in self._running else set()
        self._untold -= late
        for node in late:
            self._running[node].send_signal(signal.SIGINT)

    def _start(self, node: str) -> None:
        if self._status is not None:
            self._untold.add(node)
        self._running[node] = self._begin(self._lines[node])

    def _look(self) -> None:
        """Notice who has ended, and start again whom it is time for."""
        for node, process in list(self._running.items()):
            status = process.poll()
            if status is not None:
                del self._running[node]
                self._notice_end(node, status)
        for node, due in list(self._due.items()):
            if time.monotonic() >= due:
                del self._due[node]
                _say(f'{self._ends.pop(node)}, it is started again')
                os.environ.pop(OWN_DOMAIN, None)  # somebody may have joined meanwhile
                self._start(node)

    def _notice_end(self, node: str, status: int) -> None:
        """End all when a process came to its end or refused its settings, not at a crash."""
        is_first = not self._crashes.get(node)
        if self._status is not None:  # all are ending, and who knows of a fault may be the last
            if status == FAULT and node not in OBSERVERS:
                self._status = self._status or BAD_FINDING
            if node not in self._last or status in (0, FAULT, SETTINGS_REFUSED):
                return
            if status == -signal.SIGALRM or (is_first and status == -signal.SIGINT):
                return  # after its work was over; or before it began, too
        elif status == SETTINGS_REFUSED and is_first:
            self._end(status)
            return
        elif node not in OBSERVERS and status in (0, FAULT):
            self._end(BAD_FINDING if status == FAULT else 0)
            return
        self._crashes[node] = self._crashes.get(node, 0) + 1
        said = f'{node} ended with status {status}'
        if self._crashes[node] <= CRASHES:
            self._ends[node], self._due[node] = said, time.monotonic() + PAUSE
        elif node in OBSERVERS:
            _say(f'{said} for the {CRASHES + 1}. time; the others go on without it')
        else:
            _say(f'{said} for the {CRASHES + 1}. time; all end')
            if self._status is None:
                self._end(BAD_FINDING)


def _say(sentence: str) -> None:
    with suppress(OSError):  # the terminal may be gone
        print(f'safe-sysid: {sentence}', file=sys.stderr, flush=True)


def ended(processes: Sequence[Running]) -> None:
    """Ask everybody to end, then insist; for processes that hold no arm."""
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    insist(processes)


def insist(processes: Sequence[Running]) -> None:
    """Wait for the end of processes that were asked to, then ask again, then end them."""
    for number, patience in zip((signal.SIGTERM, signal.SIGKILL), PATIENCE, strict=True):
        deadline = time.monotonic() + patience
        for process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.send_signal(number)
    for process in processes:
        process.wait()
