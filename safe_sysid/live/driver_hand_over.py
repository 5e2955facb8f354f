"""Hands a payload over to a driver that runs, and hears what a loop knows of it, by processes.

Those know ROS, and this one does not have to.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

from safe_sysid.errors import ConfigError
from safe_sysid.own_python import own_environment

START = 60.0  # [s] for ROS to start, on a busy machine
PROBE = 'safe_sysid.ros.probes.hand_over'
LISTENER = 'safe_sysid.ros.probes.heard_estimate'


def hand_over(request: dict[str, Any], wait: float) -> dict[str, Any]:
    """Return the answer: `success` and `lacking` fields, or `error`."""
    words = [PROBE, str(wait)]
    # the loop and the driver are waited for one after the other
    most = 3.0 * wait if 'loop' in request else wait
    return _answer(words, json.dumps(request), most, str(request['name']))


def heard_estimate(namespace: str, wait: float) -> dict[str, Any]:
    """Return what the loop in a namespace knows of what it holds; an error if nothing is heard."""
    heard = _answer([LISTENER, namespace, str(wait)], '', wait, 'the loop')
    if 'error' in heard:
        raise ConfigError(f'nothing is handed over: {heard["error"]}')
    return heard


def _answer(words: list[str], given: str, seconds: float, who: str) -> dict[str, Any]:
    if importlib.util.find_spec('rclpy') is None:
        raise ConfigError(
            f'rclpy is not installed, so {who} cannot be asked; source the setup.bash of a ROS 2'
        )
    try:
        found = subprocess.run(
            [sys.executable, '-m', *words],
            input=given, capture_output=True, text=True, timeout=seconds + START, check=False,
            env=own_environment(),
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise ConfigError(f'{who}: ROS did not start within {START:g} s') from error
    if not found.stdout.strip():
        said = found.stderr.strip().splitlines() or ['the process that asks it ended']
        raise ConfigError(f'{who}: {said[-1]}')
    answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return answer
