"""What every test shares: a seeded random generator, a ROS domain of its own, and who is first."""

import os
from pathlib import Path
import zlib

# Before numpy loads its BLAS: the matrices of tests are small, threads only cost time.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import numpy as np
import pytest

SEED = 20260101
DOMAINS = 100  # 1 to 100: ports of higher domains can meet the ones Linux hands out by itself


def _own_ros_domain() -> str:
    """Domain of this run, so that two runs on one machine don't hear each other."""
    run = f'{os.environ.get("PYTEST_XDIST_WORKER", "main")} {os.getpid()}'
    return str(1 + zlib.crc32(run.encode()) % DOMAINS)


# Before any test module can import rclpy, and for the processes that tests start.
os.environ['ROS_DOMAIN_ID'] = _own_ros_domain()
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'


@pytest.fixture
def rng() -> np.random.Generator:
    """Random generator with the same numbers in every run."""
    return np.random.default_rng(SEED)


# Files that run for more than ten seconds, the longest first: a worker that took one of them last
# would run alone. Processes in real time are among them, as they leave time to the other worker.
LONG = (
    'ros/nodes/test_faults.py',
    'test_tutorial.py',
    'ros/nodes/test_services.py',
    'cli/demo/test_demo.py',
    'reach/test_newton_euler.py',
    'reach/test_torque_reach.py',
    'excite/test_design.py',
    'identify/test_momentum_observation.py',
    'api/test_public_api.py',
    'api/test_python_page.py',
    'identify/test_set_membership.py',
    'track/test_robust_law.py',
    'calibrate/test_closed_chain_fit.py',
    'api/test_examples.py',
    'cli/test_identify.py',
    'track/test_torque_guard.py',
    'track/baselines/test_adaptive.py',
    'bench/experiments/test_tracking.py',
    'ros/nodes/test_shipped_loops.py',
    'ros/nodes/test_lockstep.py',
    'simulate/test_closed_chain_body.py',
    'simulate/test_rigid_body.py',
    'reach/test_joint_reach.py',
    'identify/test_log_cholesky_fit.py',
    'cli/test_calibrate.py',
    'plan/test_receding_horizon.py',
    'test_packaging.py',
)
TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; `--no-loadscope-reorder` leaves it at that."""
    rank = {TESTS / name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path, len(LONG)))
