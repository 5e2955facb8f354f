"""Which linear solvers the installed Ipopt can use: each is tried in a process of its own.

Asking Ipopt for a solver it doesn't have can end the whole process with a segmentation fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

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
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        versions = pool.map(_version_if_it_works, candidates)
    return {name: version for name, version in zip(candidates, versions, strict=True) if version}


def _version_if_it_works(solver: str) -> str | None:
    try:
        process = subprocess.run(
            [sys.executable, *COMMAND, solver],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    if process.returncode != 0:
        return None
    return str(json.loads(process.stdout.splitlines()[-1])['ipopt'])


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


def _solve_with(solver: str) -> None:
    """Print the version of Ipopt when it solves the small problem, else exit with 1."""
    import cyipopt

    problem = cyipopt.Problem(2, 1, _SmallProblem(), cl=[2.0], cu=[2.0])
    try:
        problem.add_option('linear_solver', solver)
    except TypeError:
        os._exit(1)  # without the clean-up in which Ipopt would crash
    problem.add_option('hessian_approximation', 'limited-memory')
    problem.add_option('print_level', 0)
    problem.add_option('sb', 'yes')
    x, _ = problem.solve([0.0, 0.0])
    if abs(x[0] - 2.0) > 1e-6 or abs(x[1]) > 1e-6:
        os._exit(1)
    sys.stdout.write(json.dumps({'ipopt': '.'.join(map(str, cyipopt.IPOPT_VERSION))}))


if __name__ == '__main__':
    _solve_with(sys.argv[1])
