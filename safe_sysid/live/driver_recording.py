"""A bag of what a driver says, made by a process that knows ROS."""

from __future__ import annotations

import importlib.util
from pathlib import Path
import subprocess
import sys

from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.own_python import own_environment

PROBE = 'safe_sysid.ros.probes.heard_driver'
BESIDES = 60.0  # [s] for the process to start and to end


def record_driver(folder: Path, topics: tuple[str, str], seconds: float) -> None:
    """Record states and commands of a driver into a folder; nothing is published."""
    if importlib.util.find_spec('rclpy') is None:
        raise MeasurementError(
            'rclpy is not installed, so no driver can be heard; source the setup.bash of a ROS 2, '
            'or name a recording'
        )
    if folder.exists():
        raise ConfigError(f'{folder} is there already; name another folder to record into')
    command = [sys.executable, '-m', PROBE, str(folder), repr(seconds), *topics]
    longest = seconds + BESIDES
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=longest,
            check=False,
            env=own_environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise MeasurementError(
            f'what listens to the driver has not ended after {longest:g} s; what it heard so far '
            f'is in {folder}, if anything'
        ) from error
    if not run.stdout:
        said = run.stderr.strip().splitlines() or ['it said nothing']
        raise MeasurementError(
            f'{said[-1]}; does the driver run, in this ROS domain, and publish there (--topic)?'
        )
