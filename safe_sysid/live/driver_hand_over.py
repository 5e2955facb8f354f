"""Hands a payload over to a driver that runs, by a process that knows ROS."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

from safe_sysid.errors import ConfigError

START = 60.0  # [s] for ROS to start, on a busy machine
PROBE = 'safe_sysid.ros.probes.hand_over'


def hand_over(request: dict[str, Any], wait: float) -> dict[str, Any]:
    """Return the answer: `success` and `lacking` fields, or `error`."""
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigError(
            'rclpy is not installed, so no driver can be asked; source the setup.bash of a ROS 2'
        )
    try:
        found = subprocess.run(
            [sys.executable, '-m', PROBE, str(wait)],
            input=json.dumps(request), capture_output=True, text=True, timeout=wait + START,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f'{request["name"]}: ROS did not start within {START:g} s') from error
    if found.returncode or not found.stdout.strip():
        words = found.stderr.strip().splitlines() or ['the process that asks it ended']
        raise ConfigError(f'{request["name"]}: {words[-1]}')
    answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return answer
