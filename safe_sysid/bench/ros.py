"""`safe-sysid bench ros`: from a sample to its torque between processes, while the loop learns.

And plans that are found while somebody shows many obstacles, all of which change all the time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bringup.processes import (
    ROBOT,
    Choices,
    Process,
    processes_of,
    started_alone,
    write_choices,
)
from safe_sysid.bringup.run import command_line, ended
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.worker import die_with_parent

PRIORITY = 50  # of SCHED_FIFO, for bridge and controller
LONGEST_START = 240.0  # [s] until the first torque: compilation at the first start
RATES = (1000, 500)  # [Hz]
SECONDS, QUICK_SECONDS = 60.0, 6.0
PATIENCE = 5.0  # times as long as is measured that a loaded machine may take
ONE, MANY = 1, 200  # boxes
LATE = 0.002  # [s]
LOOK = 0.5  # [s] between looks at what processes have used
MEASURED, PERCEPTION = 'builtin_sim_bridge', 'perception'  # who prints figures
APART, TOGETHER = Choices(), Choices(one_process=True)
COST = 'perception_cost'  # who prints what needs no loop


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Round trips at 1 kHz, lost samples at 500 Hz as well; and both ways to have a controller."""
    seconds = QUICK_SECONDS if settings.quick else SECONDS
    seed = settings.seed
    first, second = (_at_rate(rate, seconds, seed, APART, progress) for rate in RATES)
    together = _at_rate(RATES[0], seconds, seed, TOGETHER, progress)
    perception = _perception(seconds, seed, progress)
    return {**first, 'at_500_hz': second, 'in_one_process': together, 'perception': perception}


def _at_rate(
    rate: int, seconds: float, seed: int, choices: Choices, progress: Progress
) -> dict[str, object]:
    where = 'in one process' if choices.one_process else 'in two'
    progress(f'{rate} Hz for {seconds:g} s, controller and bridge {where}; all others work')
    processes = [_adapted(p, rate, seconds, seed) for p in processes_of('builtin_sim', choices)]
    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        lines = _lines(processes, Path(folder))
        lines[MEASURED][2] = 'safe_sysid.ros.probes.round_trip'  # stands for the bridge
        with _started(lines, MEASURED) as running:
            figures = _figures(running, MEASURED, seconds)
    return {'rate_hz': rate, 'seconds': seconds, **figures}


def _perception(seconds: float, seed: int, progress: Progress) -> dict[str, object]:
    """Return what 200 boxes at 10 Hz cost, and how often there is a plan among as many and one."""
    progress('processor time of a message and of a search')
    probe = [sys.executable, '-m', f'safe_sysid.ros.probes.{COST}', str(seed)]
    done = subprocess.run(probe, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SafeSysidError(f'the probe {COST} ended with status {done.returncode}')

    def among(count: int, choices: Choices) -> dict[str, object]:
        where = 'in one process' if choices.one_process else 'in two'
        progress(f'{count} boxes at 10 Hz for {seconds:g} s, controller and bridge {where}')
        return _among_boxes(count, seconds, seed, choices)

    return {
        **among(MANY, TOGETHER),
        'with_one_box': among(ONE, TOGETHER),
        'in_two_processes': among(MANY, APART),
        'cost': json.loads(done.stdout),
    }


def _among_boxes(count: int, seconds: float, seed: int, choices: Choices) -> dict[str, object]:
    processes = [_learning(p, seed) for p in processes_of('builtin_sim', choices)]
    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        lines = _lines(processes, Path(folder))
        probe = [sys.executable, '-m', f'safe_sysid.ros.probes.{PERCEPTION}', '--ros-args']
        frames = RobotModel.named(ROBOT).frames
        base = next(name for name, frame in frames.items() if frame.joint == -1)
        said = f'boxes:={count}', f'measured:={seconds:.1f}', f'seed:={seed}', f'frame:={base}'
        lines[PERCEPTION] = [*probe, *(word for each in said for word in ('-p', each))]
        with _started(lines, PERCEPTION) as running:
            return _figures(running, PERCEPTION, seconds)


def _lines(processes: list[Process], folder: Path) -> dict[str, list[str]]:
    """Return command lines of all but the monitor."""
    chosen = write_choices(processes, folder / 'choices.yaml')
    alone = [process for process in started_alone(processes) if process.node != 'monitor']
    return {process.node: command_line(process, chosen) for process in alone}


def _learning(process: Process, seed: int) -> Process:
    """Return a loop that learns for ever, whatever else the machine does."""
    changed: dict[str, dict[str, object]] = {
        'planner': {'mission.exciting': 1000, 'mission.shrinking': 0.0, 'failures': 1000},
        'supervisor': {'stale': 5.0},
        'builtin_sim_bridge': {'seed': seed, 'guard.max_age': 5.0},
    }
    return replace(process, parameters={**process.parameters, **changed.get(process.node, {})})


def _adapted(process: Process, rate: int, seconds: float, seed: int) -> Process:
    """Return the settings of the arm, but learning goes on and nothing stops the watch."""
    period = 1.0 / rate
    fast = {'real_time.priority': PRIORITY}
    changed: dict[str, dict[str, object]] = {
        'controller': {**fast},
        'planner': {
            'mission.exciting': 1000,
            'mission.shrinking': 0.0,
            'failures': 1000,
        },
        'identifier': {'identifier.observation.longest_step': 1.5 * period},
        'supervisor': {'stale': 5.0},
        MEASURED: {
            **fast,
            'measured': seconds,
            'late': LATE,
            'seed': seed,
            'guard.max_age': 5.0,
        },
    }
    parameters = {**process.parameters, 'period': period, **changed.get(process.node, {})}
    return replace(process, parameters=parameters)


@contextmanager
def _started(
    lines: dict[str, list[str]], probe: str
) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Yield processes on a domain of their own, on this machine alone."""
    environment = {
        **os.environ,
        'ROS_DOMAIN_ID': str(1 + os.getpid() % 100),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'OPENBLAS_NUM_THREADS': '1',
    }
    running: dict[str, subprocess.Popen[str]] = {}
    try:
        for node, line in lines.items():
            output = subprocess.PIPE if node == probe else sys.stderr
            running[node] = subprocess.Popen(
                line,
                stdout=output,
                env=environment,
                text=True,
                start_new_session=True,  # as `safe-sysid run` does, to which shares refer
                preexec_fn=die_with_parent,
            )
        yield running
    finally:
        ended(list(running.values()))


def _figures(
    running: dict[str, subprocess.Popen[str]], measured: str, seconds: float
) -> dict[str, object]:
    """Return what the probe prints, and the share of a core that each process took meanwhile."""
    probe = running[measured]
    deadline = time.monotonic() + LONGEST_START + PATIENCE * seconds
    history: deque[tuple[float, dict[str, float]]] = deque(maxlen=round(seconds / LOOK))
    while probe.poll() is None:
        if time.monotonic() > deadline:
            raise SafeSysidError(
                f'the loop did not run for {seconds:g} s within '
                f'{LONGEST_START + PATIENCE * seconds:g} s; the load of the machine is '
                f'{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores'
            )
        history.append((time.monotonic(), _used(running)))
        time.sleep(LOOK)
    assert probe.stdout is not None
    text = probe.stdout.read()
    closed_late = probe.returncode == -signal.SIGALRM  # by then its figures are told
    if (probe.returncode != 0 and not closed_late) or not text:
        raise SafeSysidError(f'the probe ended with status {probe.returncode} and no figures')
    (began, before), (ended_at, after) = history[0], history[-1]
    elapsed = ended_at - began
    share = {node: (used - before[node]) / elapsed for node, used in after.items()}
    return {**json.loads(text), 'cpu_share': share, 'load': os.getloadavg()[0]}


def _used(running: dict[str, subprocess.Popen[str]]) -> dict[str, float]:
    """CPU time of processes with their children [s]."""
    ticks = os.sysconf('SC_CLK_TCK')
    used = dict.fromkeys(running, 0.0)
    owners = {process.pid: node for node, process in running.items()}
    for path in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_text().rpartition(')')[2].split()
        except OSError:  # it has ended meanwhile
            continue
        owner = owners.get(int(path.parent.name)) or owners.get(int(fields[1]))
        if owner is not None:
            used[owner] += sum(int(x) for x in fields[11:13]) / ticks
    return used
