"""Compile kernels of plans, loop, recordings and excitation before anything waits for them.

Each process does some of the work that needs them; what it compiles is kept on disk beside the
package, or in numba's folder of the user. Numba has no other way to compile in parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import fcntl
import gc
import hashlib
import json
import multiprocessing
from multiprocessing.queues import Queue
import os
from pathlib import Path
import queue
import sys
from tempfile import NamedTemporaryFile, TemporaryDirectory
import time
from typing import Any

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.worker import deaf_to_ctrl_c, die_with

ARM = 'kinova_gen3'  # kernels are the same for every arm
SAMPLES = 300  # of a standing arm, which fill a window
RECORDED = 3.0  # [s] of an arm that moves
LOOK = 0.2  # [s] between two looks at how far it is
PACKAGE = Path(__file__).parents[1]
KERNEL = ('\n@jit\n', '\n@inline_jit\n')  # how a kernel begins
PART = '\n@part_jit\n'  # compiled in its caller
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class WarmUp:
    """What was done, and how long it took."""

    compiled: int  # kernels; 0: they were compiled before
    seconds: float  # of wall time
    folder: str  # in which they are kept; empty: none can be written to

    def __str__(self) -> str:
        if not self.folder:
            return (
                'kernels can be kept nowhere, every process compiles its own: set NUMBA_CACHE_DIR '
                'to a folder that can be written to'
            )
        if self.compiled == 0:
            return f'kernels are compiled, in {self.folder}'
        return f'{self.compiled} kernels compiled in {self.seconds:.0f} s, into {self.folder}'


def warm_up(progress: Progress | None = None) -> WarmUp:
    """Compile what the loop, its planner, recordings and searches for excitation need.

    It is done in processes side by side.

    Args:
        progress: called with the share done (0 to 1) and a sentence.

    Returns:
        How many kernels were compiled; none where the same ones were compiled before.

    """
    begin, kept = time.monotonic(), _folder()
    if kept is None:
        return WarmUp(0, 0.0, '')
    told, mark, wanted = progress or (lambda *_: None), kept / 'warm_up.json', _digest()
    compiled = 0
    with _alone(kept / 'warm_up.lock', told):
        if _read(mark).get('kernels') != wanted:
            before = _read(mark).get('count', 0)  # the most that there were; 0 of a first time
            compiled = _compile(told, before or _kernels())
            _keep(mark, json.dumps({'kernels': wanted, 'count': max(compiled, before)}))
    return WarmUp(compiled, time.monotonic() - begin, str(kept))


@contextmanager
def _alone(path: Path, progress: Progress) -> Iterator[None]:
    """Wait while another process does the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)  # it may be that of another user
    with os.fdopen(opened) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                progress(0.0, 'another process compiles the kernels')
                time.sleep(LOOK)
        yield


def _keep(mark: Path, text: str) -> None:
    """Write it anew, as the file may be that of another user."""
    with NamedTemporaryFile('w', dir=mark.parent, encoding='utf-8', delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(mark)


def _compile(progress: Progress, expected: int) -> int:
    """Do all work; return how many kernels were compiled for it."""
    context = multiprocessing.get_context('spawn')
    done: Queue[str] = context.Queue()
    us = os.getpid()
    processes = [context.Process(target=_do, args=(work, done, us), daemon=True) for work in WORK]
    count = 0
    try:
        with deaf_to_ctrl_c():
            for process in processes:
                process.start()
        while any(process.is_alive() for process in processes) or not done.empty():
            try:
                done.get(timeout=LOOK)
                count += 1
            except queue.Empty:
                pass
            progress(min(count / expected, 1.0), f'{count} kernels')
    finally:
        for process in processes:
            if process.pid is not None:
                process.terminate()
    ends = [process.exitcode for process in processes]
    if any(ends):
        raise SafeSysidError(
            'kernels could not be compiled ahead of time: processes ended with status '
            f'{" and ".join(map(str, ends))}; why is said above, -9 is want of memory'
        )
    return count


def _do(work: tuple[Callable[[], None], ...], done: Queue[str], parent: int) -> None:
    """Do the work of one process, and report every kernel that it compiles."""
    from numba.core import event

    gc.disable()  # compiling makes many objects that live for as long as it does
    die_with(parent)

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:
            kernel = event.data['dispatcher'].py_func
            if kernel.__module__.startswith(__package__.partition('.')[0]):
                done.put(kernel.__name__)

    event.register('numba:compile', Listener())
    for one in work:
        one()


def _plan() -> None:
    """Search a plan that teaches and one that leads somewhere; compare it with new obstacles."""
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.loop_file import read_loop
    from safe_sysid.api.motion import plan
    from safe_sysid.reach.swept_arm import SweptArm

    goal = read_loop(load_arm(ARM), None).position(None) + 0.1
    plan(ARM, world='shelf', seconds=0.0)
    motion = plan(ARM, goal=goal, world='shelf', seconds=0.0)
    SweptArm.of(motion.certificates[0]).nearest(motion.obstacles, 0.0)


def _bound_along_plan() -> None:
    """Bound inertia and tracking error of an arm along a plan: it stands still."""
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.loop_file import read_loop
    from safe_sysid.reach.congruent_inertia import Ellipsoids
    from safe_sysid.reach.error_tube import position_shapes, rest_shape
    from safe_sysid.reach.plan_inertia import arm_inertia, congruence, inverse_factors

    settings = read_loop(load_arm(ARM), None)
    model, prior, K_r = settings.model, settings.prior, settings.gains.K_r
    arm, center = arm_inertia(model, prior.bounds), settings.position(None)[None]
    X, Q = inverse_factors(model, arm.bodies, center), 1e-6 * np.eye(model.n)[None]
    congruence(arm, Ellipsoids(center, 1e-3 * np.eye(model.n)[None], X), 2)
    position_shapes(K_r, Q, np.ones(1), rest_shape(K_r, Q[0]))


def _stand() -> None:
    """Identify and hold an arm that stands still."""
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.loop_file import read_loop
    from safe_sysid.identify.online_identifier import OnlineIdentifier
    from safe_sysid.identify.solves import SolvesAtOnce
    from safe_sysid.measure.clock import Clock
    from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
    from safe_sysid.track.chosen_law import law_for
    from safe_sysid.trajectory.bezier import Bezier
    from safe_sysid.trajectory.plan import Plan

    settings = read_loop(load_arm(ARM), None)
    model, prior, start = settings.model, settings.prior, settings.position(None)
    still = np.zeros(model.n)
    curve = Bezier(start, still, still, 1.0)
    plan = Plan(0.0, 0.0, curve, still, prior.bounds, None, prior.theta)
    simulator = ArmSettings(settings.simulator.period, settings.simulator.sensors)
    arm = SimulatedArm(model, start, np.random.default_rng(0), simulator)
    law = law_for(model, settings.gains, Clock(0), settings.sampling)
    identifier = OnlineIdentifier(model, prior, settings.identifier, SolvesAtOnce)
    try:
        for _ in range(SAMPLES):
            sample = arm.measure()
            identifier.step(sample)
            arm.apply(law.brake(sample, plan, prior))
    finally:
        identifier.close()


def _excite() -> None:
    """Look at one motion of a search for an excitation trajectory."""
    from safe_sysid.excite.design import design_problem
    from safe_sysid.excite.design import warm_up as look_at_one
    from safe_sysid.excite.settings import read_settings
    from safe_sysid.model.robot_model import RobotModel

    model = RobotModel.named(ARM)
    look_at_one(design_problem(model, model, read_settings()))


def _identify() -> None:
    """Identify what an arm holds from a recording."""
    from safe_sysid.api.payload import identify_payload
    from safe_sysid.api.simulated_recording import simulate_recording

    with TemporaryDirectory(prefix='safe_sysid_') as folder:
        recording = Path(folder) / 'moved.csv'
        simulate_recording(recording, ARM, motion=RECORDED)
        identify_payload(recording, ARM)


# Of processes, on two cores: a third one would only compile once more what others are about to.
WORK = ((_plan, _excite), (_identify, _stand, _bound_along_plan))


def _folder() -> Path | None:
    """Folder in which numba keeps the kernels of `sets`."""
    from safe_sysid.sets.taylor_kernels import norm

    kept = norm.stats.cache_path
    return None if kept is None else Path(kept)


def _sources() -> dict[str, str]:
    """Texts of all files that hold kernels, by the name of the module."""
    found = {}
    for path in sorted(PACKAGE.rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        if any(word in text for word in (*KERNEL, PART)):
            parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
            found['.'.join(parts)] = text
    return found


def _kernels() -> int:
    """How many kernels there are."""
    return sum(text.count(word) for text in _sources().values() for word in KERNEL)


def _digest() -> str:
    """Return a digest of sources, numba, Python and processor, which make the kernels."""
    import llvmlite.binding as llvm
    import numba

    from safe_sysid.sets.compiled import text_stamp

    told = [numba.__version__, sys.version, llvm.get_host_cpu_name()]
    told += [text_stamp(module) for module in _sources()]
    return hashlib.sha256('\n'.join(told).encode()).hexdigest()


def _read(mark: Path) -> dict[str, Any]:
    """Return what was written when all was compiled; nothing if it never was."""
    try:
        found = json.loads(mark.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
