"""What every test shares: a seeded random generator, and a ROS domain of its own."""

from collections.abc import Iterator
import fcntl
import gc
import os
from pathlib import Path
import signal
import tempfile

# Before numpy loads its BLAS: the matrices of tests are small, threads only cost time.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import numpy as np
import pytest

SEED = 20260101
WIDE = 100_000  # columns
DOMAINS = 100  # 1 to 100: ports of higher domains can meet the ones Linux hands out by itself


def _own_ros_domain() -> tuple[str, int]:
    """Domain that no other run of these tests on this machine has, and the lock that says so."""
    folder = Path(tempfile.gettempdir())
    for domain in range(1, DOMAINS + 1):
        path = folder / f'safe_sysid_tests.{os.getuid()}.domain_{domain}'
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return str(domain), lock  # until this process ends
    raise RuntimeError(f'all {DOMAINS} ROS domains have a run of tests, see {folder}')


# Before any test module can import rclpy, and for the processes that tests start.
os.environ['ROS_DOMAIN_ID'], _LOCK = _own_ros_domain()
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['SAFE_SYSID_OWN_DOMAIN'] = os.environ['ROS_DOMAIN_ID']
os.environ['FASTDDS_DEFAULT_PROFILES_FILE'] = os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'] = str(
    Path(__file__).parents[1] / 'config' / 'discovery.xml'
)
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'


# A shell's job in the background ignores Ctrl-C, and so would every program that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rng() -> np.random.Generator:
    """Random generator with the same numbers in every run."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope='session', autouse=True)
def wide_terminal() -> Iterator[None]:
    """Commands print lines as long as they are: tests look for words in them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('safe_sysid.cli.output.terminal_width', lambda: WIDE)
        yield


# Folders whose tests need reachable sets, directly or through processes.
WITH_SETS = {
    'api',
    'audit',
    'bench',
    'bringup',
    'cli',
    'integration',
    'plan',
    'reach',
    'ros',
    'track',
}
COMPILES_SETS = 'test_receding_horizon.py'


def pytest_collection_finish() -> None:
    """Take a million objects of tests not begun out of each search for garbage."""
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with one file that compiles reachable sets, and what needs none of them.

    Of two workers only one compiles them, while the other does what they are not needed for.
    """

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        return 0 if item.path.name == COMPILES_SETS else 1 + (folder in WITH_SETS)

    items.sort(key=rank)
