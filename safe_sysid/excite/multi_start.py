"""Many searches side by side, each in a process of its own, until time or starts run out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
from dataclasses import dataclass
import math
from multiprocessing.connection import Connection, wait
import os
from pathlib import Path
import pickle
import socket
import tempfile
import time

from safe_sysid.errors import SafeSysidError
from safe_sysid.excite.certificate import MotionCertificate, certify
from safe_sysid.excite.criteria import stages_of
from safe_sysid.excite.design import MotionCandidate, search
from safe_sysid.excite.design_problem import DesignProblem
from safe_sysid.excite.settings import Effort
from safe_sysid.trajectory.motion_basis import Motion
from safe_sysid.worker import Worker

REPORT_EVERY = 0.2  # [s]


class NoMotionError(SafeSysidError):
    """No start led to a motion that keeps every limit."""


@dataclass(frozen=True)
class Progress:
    """What is known while searches run."""

    elapsed: float  # [s]
    cpu: float  # [s] of all processes, their start included
    busiest: float  # [s] CPU of the process that has used most: wall time on idle cores
    finished: int  # starts
    best: MotionCandidate | None


Message = tuple[MotionCandidate | SafeSysidError | None, float, int]  # see `serve`
Watch = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class Design:
    """A motion with what is proven of it, and how it was found."""

    motion: Motion
    condition: float
    goal: float
    certificate: MotionCertificate
    start: int
    history: tuple[Progress, ...]  # one entry each time a better motion was found, and the end


def design(problem: DesignProblem, criterion: str, effort: Effort, watch: Watch) -> Design:
    """Return the best motion of many starts that is proven to keep every limit."""
    stages_of(criterion)  # an unknown name is an error here, not in another process
    best: dict[int, MotionCandidate] = {}  # of each start
    history: list[Progress] = []
    for progress in _progress(problem, criterion, effort, best):
        found, last = progress.best, history[-1].best if history else None
        if found is not None and (last is None or found.goal < last.goal):
            history.append(progress)
        watch(progress)
    history.append(progress)
    reasons: list[str] = []
    for candidate in sorted(best.values(), key=lambda one: (one.goal, one.start)):
        motion = problem.motion(candidate.x)
        certificate = certify(problem.model, problem.contacts, motion, problem.required)
        if certificate.holds:
            return Design(
                motion,
                candidate.condition,
                candidate.goal,
                certificate,
                candidate.start,
                tuple(history),
            )
        reasons += certificate.failures
    raise NoMotionError(
        f'no motion that keeps every limit after {progress.finished} starts in '
        f'{progress.elapsed:.1f} s: ' + (reasons[0] if reasons else _without_motion(progress))
    )


def _without_motion(progress: Progress) -> str:
    """Say why a search has not even a candidate."""
    if not progress.cpu:
        return 'no process had begun to search, so the machine is busy; give it more time'
    if not progress.finished:
        return 'no start was through, and none free of contact yet; give it more time'
    return 'none came free of contact; give it more time'


def _progress(
    problem: DesignProblem, criterion: str, effort: Effort, best: dict[int, MotionCandidate]
) -> Iterator[Progress]:
    """Yield what the processes report until the effort is spent; keep the best of each start."""
    begin = time.monotonic()
    finished, cpu = 0, [0.0] * effort.processes
    top: MotionCandidate | None = None
    with _processes(problem, criterion, effort) as connections:
        open_ones = dict(zip(connections, range(len(connections)), strict=True))
        while open_ones:
            left = effort.seconds - (time.monotonic() - begin)
            if left <= 0.0 or max(cpu) >= effort.cpu_seconds:
                break
            for ready in wait(list(open_ones), timeout=min(left, REPORT_EVERY)):
                assert isinstance(ready, Connection)
                number = open_ones[ready]
                try:
                    message: Message = ready.recv()
                except (EOFError, ConnectionResetError):
                    del open_ones[ready]
                    continue
                candidate, cpu[number], ended = message
                if isinstance(candidate, SafeSysidError):
                    raise candidate
                finished += ended
                if candidate is None:
                    continue
                known = best.get(candidate.start)
                if known is None or candidate.goal < known.goal:
                    best[candidate.start] = candidate
                if top is None or candidate.goal < top.goal:
                    top = candidate
            yield Progress(time.monotonic() - begin, sum(cpu), max(cpu), finished, top)
    yield Progress(time.monotonic() - begin, sum(cpu), max(cpu), finished, top)


@contextlib.contextmanager
def _processes(
    problem: DesignProblem, criterion: str, effort: Effort
) -> Iterator[list[Connection]]:
    """Yield processes that search, each with every n-th start, ended on the way out."""
    workers: list[Worker] = []
    connections: list[Connection] = []
    try:
        for _ in range(effort.processes):
            workers.append(Worker(serve))
            connections.append(Connection(os.dup(workers[-1].socket.fileno())))
        with tempfile.TemporaryDirectory() as folder:
            task = Path(folder) / 'task'  # too long for a socket whose reader is still starting
            task.write_bytes(pickle.dumps((problem, criterion, effort)))
            for number, connection in enumerate(connections):
                connection.send((task, number))
            yield connections
    finally:
        for connection in connections:
            connection.close()
        for worker in workers:
            worker.process.terminate()  # at once, as each may be inside a search
        for worker in workers:
            worker.close()


def serve(stream: socket.socket) -> None:
    """Search for another process until it closes the connection or the starts run out.

    Sends (candidate, error or None, CPU seconds of this process so far, starts that have ended).
    """
    connection = Connection(stream.detach())
    task, number = connection.recv()
    problem, criterion, effort = pickle.loads(task.read_bytes())
    connection.send((None, time.process_time(), 0))
    start = number
    while effort.starts is None or start < effort.starts:
        goal, told = math.inf, time.monotonic()
        try:
            for candidate in search(problem, criterion, effort.seed, start):
                if candidate is not None and candidate.goal < goal:
                    goal = candidate.goal
                    connection.send((candidate, time.process_time(), 0))
                elif time.monotonic() > told + REPORT_EVERY:
                    told = time.monotonic()
                    connection.send((None, time.process_time(), 0))
        except SafeSysidError as error:
            connection.send((error, time.process_time(), 0))
            return
        connection.send((None, time.process_time(), 1))
        start += effort.processes
