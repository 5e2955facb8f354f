"""described_on: the URDF that a running robot publishes, fetched by a process that knows ROS."""

from __future__ import annotations

import importlib.util
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.input_file import is_there
from safe_sysid.output_file import write_text
from safe_sysid.own_python import own_environment

WAIT = 5.0  # [s] for a description
START = 60.0  # [s] for ROS to start, on a busy machine
PROBE = 'safe_sysid.ros.probes.description'


def is_topic(description: str) -> bool:
    """Whether this is a topic such as /robot_description and no file."""
    path = Path(description)
    return description.startswith('/') and not path.suffix and not is_there(path)


def described_on(topic: str, folder: Path, wait: float = WAIT) -> Path:
    """Write the URDF that a topic has into a folder, named after its robot.

    Raises:
        ModelError: there is no ROS here, nobody publishes a description, or it is no URDF.

    """
    if importlib.util.find_spec('rclpy') is None:
        raise ModelError(
            f'{topic}: rclpy is not installed, so no topic can be read; source the setup.bash of '
            'a ROS 2, or name a URDF or xacro file'
        )
    text = _text_of(topic, wait)
    try:
        name = ElementTree.fromstring(text).get('name', '')
    except (ElementTree.ParseError, ValueError) as error:
        raise ModelError(f'{topic}: what is published is no URDF: {error}') from error
    path = folder / f'{Path(name).name or "robot"}.urdf'
    write_text(path, text)
    return path


def _text_of(topic: str, wait: float) -> str:
    try:
        found = subprocess.run(
            [sys.executable, '-m', PROBE, topic, str(wait)],
            capture_output=True,
            env=own_environment(),
            text=True,
            timeout=wait + START,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ModelError(f'{topic}: ROS did not start within {START:g} s') from error
    if not found.stdout:
        words = found.stderr.strip().splitlines() or ['the process that reads it ended']
        raise ModelError(f'{topic}: {words[-1]}')
    return found.stdout
