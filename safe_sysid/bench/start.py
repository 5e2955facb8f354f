"""`safe-sysid bench start`: how long a user waits for commands, kernels and the first plan.

Every figure is of processes of its own, from their start to their end, and so holds all imports.
Those but the warm-up find the kernels compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
import json
import os
from pathlib import Path
import resource
import signal
import statistics
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

import numpy as np

from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bench.timing import Spent
from safe_sysid.bringup.isolation import isolated
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion, measured_torque
from safe_sysid.worker import die_with_parent

ROBOT = 'kinova_gen3'
MINUTE, PERIOD = 60.0, 0.002  # [s] of the recording, and between its samples
TORQUE_ERROR = 0.02  # of the recording, as a share of the torque
AIMS = {  # [s] of wall time on two idle cores
    'import_s': 0.1,
    'missing_file_s': 0.2,
    'identify_minute_s': 3.0,
    'doctor_s': 4.0,
    'first_plan_s': 3.0,
    'warm_up_s': 45.0,
}
SAFE_SYSID = (sys.executable, '-m', 'safe_sysid.cli.main')
FINDINGS = (0, 1)  # status of `doctor`, which finds something or not
FOUND = 'new plan'  # how the monitor begins to tell of one
PATIENCE = 240.0  # [s] for the first plan
ENDING = 30.0  # [s] for a run to end


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Import, help, a missing file, a minute of data, doctor, the first plan, and warm-up."""
    load, repeats = os.getloadavg()[0], settings.trials or (1 if settings.quick else 5)
    spent: dict[str, Spent] = {}
    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        recording = Path(folder) / 'minute.csv'
        _write_minute(recording, settings.seed)
        lines = {
            'import_s': ((sys.executable, '-c', 'import safe_sysid'), (0,)),
            'help_s': ((*SAFE_SYSID, '--help'), (0,)),
            'missing_file_s': ((*_identify(Path(folder) / 'nothing.csv'),), (2,)),
            'identify_minute_s': ((*_identify(recording),), (0,)),
            'doctor_s': ((*SAFE_SYSID, 'doctor', '--robot', ROBOT), FINDINGS),
        }
        for name, (line, allowed) in lines.items():
            progress(' '.join(line[1:4]))
            spent[name] = _median(partial(_command, line, allowed), repeats)
        progress('the first plan of a run')
        spent['first_plan_s'] = _median(_first_plan, repeats)
        if not settings.quick:
            progress('all kernels from an empty cache')
            empty = {'NUMBA_CACHE_DIR': folder}
            spent['warm_up_s'] = _command((*SAFE_SYSID, 'warm-up'), (0,), empty)
    return {
        **{name: each.wall for name, each in spent.items()},
        **({'warm_up_s': None} if settings.quick else {}),
        'cpu_s': {name.removesuffix('_s'): each.cpu for name, each in spent.items()},
        'aims': AIMS,
        'load': load,
    }


def _identify(recording: Path) -> tuple[str, ...]:
    return (*SAFE_SYSID, 'identify', str(recording), '--robot', ROBOT, '--json')


def _write_minute(path: Path, seed: int) -> None:
    """Write a recording of an arm that moves all its joints."""
    rng, model = np.random.default_rng(seed), RobotModel.named(ROBOT)
    moved = fourier_motion(rng, model.n, MINUTE, PERIOD)
    torque = measured_torque(model, moved)
    torque /= 1.0 + TORQUE_ERROR * rng.uniform(-1.0, 1.0, torque.shape)
    effort = torque / (model.sensors.effort_sign * model.sensors.effort_scale)
    kinds = ('position', 'velocity', 'effort')
    header = [f'{joint}.{kind}' for kind in kinds for joint in model.layout.joint_names]
    columns = np.hstack([moved.t[:, None], moved.q, moved.qd, effort])
    np.savetxt(path, columns, '%.9g', ',', header=','.join(['time', *header]), comments='')


def _median(work: Callable[[], Spent], repeats: int) -> Spent:
    """Medians after a first time, which does not count: it reads files from the disk."""
    work()
    every = [work() for _ in range(repeats)]
    return Spent(*(statistics.median(column) for column in zip(*every, strict=True)))


def _command(
    line: tuple[str, ...], allowed: tuple[int, ...], added: dict[str, str] | None = None
) -> Spent:
    """Carry out a command to its end, with one of these statuses and without a traceback."""
    before, begin = _used(), time.monotonic()
    done = subprocess.run(
        line,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **(added or {})},
        text=True,
        check=False,
        preexec_fn=die_with_parent,
    )
    spent = Spent(time.monotonic() - begin, _used() - before)
    if done.returncode not in allowed or 'Traceback' in done.stderr:
        raise SafeSysidError(
            f'{" ".join(line[1:])} ended with status {done.returncode}: {done.stderr.strip()}'
        )
    return spent


def _first_plan() -> Spent:
    """From the start of `safe-sysid run` until its planner has found a plan; CPU to its end."""
    alone = isolated('builtin_sim', {})
    line = (*SAFE_SYSID, 'run', 'builtin_sim', '--robot', ROBOT, '-p', 'monitor:form:="json"')
    before, begin = _used(), time.monotonic()
    process = subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **alone},
        text=True,
        start_new_session=True,  # Ctrl-C reaches it through us, once
        preexec_fn=die_with_parent,
    )
    previous = signal.signal(signal.SIGALRM, lambda *_: process.send_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        assert process.stdout is not None
        wall = next((time.monotonic() - begin for said in process.stdout if _tells(said)), None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=ENDING)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
    if wall is None:
        raise SafeSysidError(f'{" ".join(line[1:])} found no plan in {PATIENCE:g} s')
    return Spent(wall, _used() - before)


def _tells(said: str) -> bool:
    """Whether the monitor tells of a new plan."""
    try:
        return str(json.loads(said).get('plan', '')).startswith(FOUND)
    except ValueError:
        return False


def _used() -> float:
    """CPU time of all processes of ours that have ended [s]."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
