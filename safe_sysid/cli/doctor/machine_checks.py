"""What the doctor looks at on a machine: Python, libraries, Ipopt, ROS 2, cores, numba's cache.

Libraries are tried in another process: one that crashes is a finding, not the end. All of them
are in one, which loads numpy once; only where it fails does each get a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
import importlib.util
import json
import os
import platform
import signal
import subprocess
import sys

from safe_sysid.cli.doctor.findings import DoctorFinding, failed, passed, warning
from safe_sysid.own_python import own_environment
from safe_sysid.plan.search import linear_solvers
from safe_sysid.versions import cpu_count, version

OLDEST, NEWEST = (3, 10), (3, 13)
LIBRARIES = {  # import name: how to get it
    'numpy': 'pip install numpy',
    'scipy': 'pip install scipy',
    'numba': 'pip install numba',
    'pinocchio': 'pip install pin, or with ROS 2: sudo apt install ros-$ROS_DISTRO-pinocchio',
    'yaml': 'pip install PyYAML',
    'highspy': 'pip install highspy',
    'cyipopt': "pip install 'cyipopt-wheels==1.7.0.dev0'",
    'matplotlib': 'pip install matplotlib',
}
IMPORT_SECONDS = 60.0
MIDDLEWARE_SECONDS = 45.0
NUMBA_PROBE = """
import numba
from safe_sysid.cli.doctor import numba_cache
print(numba.njit(cache=True)(numba_cache.doubled).stats.cache_path)
"""


def findings() -> Iterator[DoctorFinding]:
    """Everything there is to say about this machine."""
    yield _python()
    yield passed('safe_sysid', version('safe_sysid') or 'run from the source tree')
    yield _cores()
    together = ['-c', f'import {", ".join(LIBRARIES)}']
    with ThreadPoolExecutor(cpu_count()) as pool:  # each waits for a process
        tried = pool.submit(_run_python, together, IMPORT_SECONDS)
        others = [pool.submit(look) for look in (_ipopt, _numba_cache)]
        yield from pool.map(_library if tried.result().returncode else _found, LIBRARIES)
        yield from (other.result() for other in others)
    yield _middleware()  # by itself, as it says how soon a message came


def _python() -> DoctorFinding:
    text = platform.python_version()
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return passed('Python', text)
    return warning('Python', text, 'the tests run on Python 3.10 to 3.13; install one of these')


def _run_python(arguments: list[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run this Python in a process group that does not outlive its time."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=own_environment(),
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return subprocess.CompletedProcess(arguments, 1, '', f'no answer within {seconds:g} s')
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def _last_words(process: subprocess.CompletedProcess[str]) -> str:
    """Return the most telling line of a process that failed."""
    lines = process.stderr.strip().splitlines()
    if process.returncode < 0:
        return f'ended by signal {signal.Signals(-process.returncode).name}'
    return lines[-1] if lines else f'exit status {process.returncode}, without a word'


def _library(name: str) -> DoctorFinding:
    process = _run_python(['-c', f'import {name}'], IMPORT_SECONDS)
    if process.returncode == 0:
        return _found(name)
    return failed(name, _last_words(process), LIBRARIES[name])


def _found(name: str) -> DoctorFinding:
    return passed(name, version(name) or 'version unknown')


def _ipopt() -> DoctorFinding:
    item = 'Ipopt linear solvers'
    solvers = linear_solvers.found()
    if 'mumps' in solvers:
        return passed(item, f'{", ".join(solvers)} (Ipopt {solvers["mumps"]})')
    detail = f'{", ".join(solvers) or "none"} of {", ".join(linear_solvers.CANDIDATES)} works'
    return failed(item, detail, f'{LIBRARIES["cyipopt"]} brings an Ipopt with MUMPS')


def _middleware() -> DoctorFinding:
    item = 'ROS 2 middleware'
    if importlib.util.find_spec('rclpy') is None:
        return warning(
            item,
            'rclpy is not installed; everything but the nodes works without it',
            "source /opt/ros/<distribution>/setup.bash, or pip install '.[ros]' in the checkout",
        )
    process = _run_python(['-m', 'safe_sysid.ros.probes.middleware'], MIDDLEWARE_SECONDS)
    if not process.stdout.strip():
        return failed(item, _last_words(process), _middleware_remedy(_last_words(process)))
    heard = json.loads(process.stdout.splitlines()[-1])
    if heard['seconds'] is not None:
        return passed(
            item,
            f'{heard["middleware"]}, rclpy {version("rclpy") or "of unknown version"}: two '
            f'processes exchanged a message, the first after {heard["seconds"]:.2f} s',
        )
    return failed(
        item,
        'two nodes on this machine do not hear each other',
        'bring the loopback interface up (ip link set lo up), let UDP on it through the '
        'firewall, and unset FASTDDS_DEFAULT_PROFILES_FILE (before Kilted: '
        'FASTRTPS_DEFAULT_PROFILES_FILE) and CYCLONEDDS_URI to try without',
    )


def _middleware_remedy(words: str) -> str:
    """Return what to do when the nodes could not even be started."""
    if 'cannot open shared object' in words or 'librcl' in words:
        return (
            'the libraries of ROS are not on the path: source its setup.bash; for the ROS of pip, '
            'unset _ROS_WHEELS_BOOTSTRAP_COMPLETE, which another environment has left behind'
        )
    if 'log directory' in words:
        return (
            'ROS keeps its logs in ~/.ros/log: make it a folder that can be written to, or set '
            'ROS_LOG_DIR to one'
        )
    if 'rmw' in words.lower():
        return 'unset RMW_IMPLEMENTATION, or install the middleware it names'
    return 'source one ROS 2 only, in a new terminal, and see what this says: ' + (
        'python3 -m safe_sysid.ros.probes.middleware'
    )


def _cores() -> DoctorFinding:
    count = cpu_count()
    if count >= 2:
        return passed('cores', f'{count} for this process')
    return warning(
        'cores',
        f'{count} for this process',
        'planning and control run at the same time: give the machine two cores or more',
    )


def _numba_cache() -> DoctorFinding:
    process = _run_python(['-c', NUMBA_PROBE], IMPORT_SECONDS)
    if process.returncode == 0:
        return passed('compiled code is kept', f'in {process.stdout.strip()}')
    return failed(
        'compiled code is kept',
        _last_words(process),
        'name a folder that can be written to: export NUMBA_CACHE_DIR=$HOME/.cache/numba',
    )
