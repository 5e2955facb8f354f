"""Which linear solvers the installed Ipopt can use: each is tried in a copy of one process.

Asking Ipopt for a solver it doesn't have can end the whole process with a segmentation fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from safe_sysid.own_python import own_environment
from safe_sysid.worker import die_with_parent

if TYPE_CHECKING:  # the doctor has to run where numpy is what is missing
    from safe_sysid.arrays import Array

CANDIDATES = (
    'mumps',
    'ma27',
    'ma57',
    'ma77',
    'ma86',
    'ma97',
    'spral',
    'pardiso',
    'pardisomkl',
    'wsmp',
)
SECONDS = 60.0  # most of it is Python importing cyipopt on a slow disk
COMMAND = ['-m', 'safe_sysid.plan.search.linear_solvers']


def found(candidates: Sequence[str] = CANDIDATES) -> dict[str, str]:
    """Solvers that solve a small problem, each with the version of the Ipopt that used it."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, *candidates],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=own_environment(),
        text=True,
        start_new_session=True,
        preexec_fn=die_with_parent,  # who may be told to end while a solver hangs
    )
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
    lines = [line.split() for line in said.splitlines()]  # Ipopt says something as well
    versions = {words[0]: words[1] for words in lines if len(words) == 2}
    return {name: versions[name] for name in candidates if name in versions}


class _SmallProblem:
    """Minimise (x - 3)^2 + (y - 1)^2 on the line x + y = 2; the solution is (2, 0)."""

    def objective(self, x: Array) -> float:
        return float((x[0] - 3.0) ** 2 + (x[1] - 1.0) ** 2)

    def gradient(self, x: Array) -> list[float]:
        return [2.0 * (x[0] - 3.0), 2.0 * (x[1] - 1.0)]

    def constraints(self, x: Array) -> list[float]:
        return [x[0] + x[1]]

    def jacobian(self, _: Array) -> list[float]:
        return [1.0, 1.0]


def _solve_with_each(solvers: Sequence[str]) -> None:
    """Try each solver in a copy of this process, which has loaded Ipopt."""
    from safe_sysid.ipopt_library import cyipopt

    tries = []
    for solver in solvers:
        process = os.fork()
        if process == 0:
            die_with_parent()
            with suppress(BaseException):
                if _solves(solver):
                    version = '.'.join(map(str, cyipopt.IPOPT_VERSION))
                    os.write(1, f'\n{solver} {version}\n'.encode())
            os._exit(0)  # without the clean-up in which Ipopt would crash
        tries.append(process)
    for process in tries:
        os.waitpid(process, 0)


def _solves(solver: str) -> bool:
    """Whether the solver is there, and solves the small problem."""
    from safe_sysid.ipopt_library import cyipopt

    problem = cyipopt.Problem(2, 1, _SmallProblem(), cl=[2.0], cu=[2.0])
    problem.add_option('linear_solver', solver)  # a TypeError if there is none
    problem.add_option('hessian_approximation', 'limited-memory')
    problem.add_option('print_level', 0)
    problem.add_option('sb', 'yes')
    x, _ = problem.solve([0.0, 0.0])
    return bool(abs(x[0] - 2.0) <= 1e-6 and abs(x[1]) <= 1e-6)


if __name__ == '__main__':
    _solve_with_each(sys.argv[1:])
