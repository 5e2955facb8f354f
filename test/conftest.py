"""What every test shares: a seeded random generator, and a ROS domain of its own."""

import os
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
