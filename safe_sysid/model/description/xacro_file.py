"""A xacro file becomes a URDF without ROS, its packages found as meshes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import importlib.util
import json
from pathlib import Path
import signal
import subprocess
import sys

from safe_sysid.errors import ModelError
from safe_sysid.input_file import check_file
from safe_sysid.model.description import xacro_process
from safe_sysid.model.description.xacro_process import MEMORY, REFUSED, SECONDS
from safe_sysid.own_python import own_environment
from safe_sysid.worker import die_with_parent


def expanded_xacro(
    path: Path, arguments: Mapping[str, str], package_paths: Sequence[Path] = ()
) -> str:
    """Text of the URDF that a xacro file stands for."""
    if importlib.util.find_spec('xacro') is None:
        raise ModelError(
            f"{path}: xacro is not installed: pip install 'safe_sysid[xacro]', or make a URDF of "
            f'it where ROS is: xacro {path} > arm.urdf'
        )
    check_file(path, ModelError)
    asked = {
        'path': str(path),
        'arguments': dict(arguments),
        'package_paths': [str(each) for each in package_paths],
    }
    done = subprocess.run(
        [sys.executable, '-m', xacro_process.__name__],
        input=json.dumps(asked).encode(),
        capture_output=True,
        env=own_environment(),
        preexec_fn=die_with_parent,
        check=False,
    )
    said = done.stdout.decode(errors='replace')
    if done.returncode == 0:
        return said
    if done.returncode == REFUSED:
        raise ModelError(said)
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        raise ModelError(f'{path}: its expressions take more than {SECONDS} s to compute')
    if done.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    reason = (done.stderr.decode(errors='replace').strip().splitlines() or ['no reason given'])[-1]
    raise ModelError(
        f'{path}: could not be expanded within {MEMORY / 1e9:g} GB of memory: {reason}'
    )
