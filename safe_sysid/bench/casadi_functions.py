"""How fast an arm's CasADi functions are built and called, as they are and as C."""

from __future__ import annotations

from collections.abc import Callable
import shutil
import time
from typing import Any

import numpy as np

from safe_sysid.bench.settings import Progress
from safe_sysid.bench.timing import median_seconds
from safe_sysid.errors import ModelError
from safe_sysid.model.dynamics.pinocchio_algorithms import pinocchio_algorithms
from safe_sysid.model.robot_model import RobotModel

REPEATS = 2000
ROUNDS, CALLS = 1000, 10  # of two functions in turn, where they are compared


def casadi_figures(
    arm: RobotModel, rng: np.random.Generator, progress: Progress
) -> dict[str, object]:
    """Seconds to build all functions, and microseconds of one call; None: there is no CasADi."""
    try:
        from safe_sysid.model.symbolic.casadi_model import CasadiModel
    except ModelError as error:
        progress(str(error))
        return dict.fromkeys(('casadi_build_s', 'casadi_us', 'c_us'))
    progress('CasADi functions')
    begin = time.perf_counter()
    functions = list(CasadiModel(arm).functions())
    seconds = time.perf_counter() - begin
    calls = {f.name(): _call(f, rng) for f in functions}
    pinocchio = pinocchio_algorithms(arm, *rng.normal(size=(4, arm.n)))
    return {
        'casadi_build_s': seconds,
        'casadi_operations': {f.name(): f.n_instructions() for f in functions},
        'casadi_us': {name: _us(call) for name, call in calls.items()},
        'c_us': _of_c(functions, rng, progress),
        'pinocchio_us': {name: _us(call) for name, call in pinocchio.items()},
        'casadi_to_pinocchio': {name: _ratio(calls[name], of) for name, of in pinocchio.items()},
    }


def _of_c(
    functions: list[Any], rng: np.random.Generator, progress: Progress
) -> dict[str, float] | None:
    from safe_sysid.model.symbolic.c_code import compiled

    compiler = shutil.which('gcc') or shutil.which('cc')
    if compiler is None:
        progress('no C compiler is installed')
        return None
    progress(f'C code by {compiler}')
    return {name: _us(_call(f, rng)) for name, f in compiled(functions, compiler).items()}


def _call(function: Any, rng: np.random.Generator) -> Callable[[], object]:
    """Return a call of a function with memory that is there already, at random arguments."""
    buffer, call = function.buffer()
    kept: list[Any] = [rng.normal(size=function.nnz_in(i)) for i in range(function.n_in())]
    results: list[Any] = [np.empty(function.nnz_out(i)) for i in range(function.n_out())]
    for i, argument in enumerate(kept):
        buffer.set_arg(i, memoryview(argument))
    for i, result in enumerate(results):
        buffer.set_res(i, memoryview(result))

    def once() -> object:
        call()
        return buffer, kept, results  # they have to live as long as the call

    return once


def _ratio(work: Callable[[], object], other: Callable[[], object]) -> float:
    """Return the least time of some work over that of other work, which take turns."""
    rounds = [(_seconds(work), _seconds(other)) for _ in range(ROUNDS)]
    least, least_other = np.min(rounds, axis=0)
    return float(least / least_other)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS):
        work()
    return time.perf_counter() - begin


def _us(work: Callable[[], object]) -> float:
    return median_seconds(work, REPEATS) * 1e6
