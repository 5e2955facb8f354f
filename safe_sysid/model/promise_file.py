"""ARM.promise.yaml: whether it is about the arm beside it, and what a loop cannot take of it.

ARM.promise.npz, which only `identify` reads, has the recordings that it is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import hashlib
from pathlib import Path
from typing import Any
import zipfile
import zlib

import numpy as np

from safe_sysid.config import read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.input_file import MB
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.facts import facts_path, read_facts, urdf_path

VERSION = 1
UNREADABLE = (  # what the arrays and figures of files raise that nobody of us has written
    *(KeyError, TypeError, ValueError, AttributeError, EOFError, MemoryError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
RECORDINGS = '.promise.npz'
LARGEST = 1000 * MB  # of all arrays, unpacked


def check_size(arrays: Path) -> None:
    """Refuse arrays that would fill the memory once they are unpacked."""
    with zipfile.ZipFile(arrays) as packed:
        size = sum(each.file_size for each in packed.infolist())
    if size > LARGEST:
        raise ConfigError(
            f'{arrays}: has {size / MB:.0f} MB unpacked; arrays may have {LARGEST // MB} MB'
        )


def promise_file(urdf: Path) -> Path:
    """Return where the promise of the arm of a URDF is, if there is one."""
    return urdf.with_name(f'{urdf.stem}.promise.yaml')


def promise_path(urdf: Path) -> Path:
    """Return where the recordings of the empty arm of a URDF are, if there are any."""
    return urdf.with_name(urdf.stem + RECORDINGS)


def is_of_urdf(promise: Path, urdf: Path) -> bool:
    """Whether a promise (YAML) was written for this URDF as it is now."""
    try:
        return bool(read_yaml(promise)['arm']['urdf_sha256'] == _digest(urdf))
    except (KeyError, TypeError, AttributeError) as error:
        raise not_written_by_us(promise, error) from error


def check_promise_beside(arm: Arm) -> None:
    """Refuse an arm whose URDF is not the one that the promise beside it was written for."""
    about = promise_file(arm.urdf)
    if about.exists() and not is_of_urdf(about, arm.urdf):
        raise changed_urdf(promise_path(arm.urdf), arm)


def changed_urdf(path: Path, arm: Arm) -> ConfigError:
    """Return what to say of a promise that the arm's URDF is not the one of."""
    return ConfigError(
        f'{arm.urdf} has changed since {path} was written: calibrate again, or give the '
        'empty recordings with --empty'
    )


def is_promise(path: Path) -> bool:
    """Whether a path names such a file instead of a recording."""
    return path.name.endswith(RECORDINGS)


def promised_arm(robot: str) -> Arm | None:
    """Return the arm that a loop names, if there is a promise beside it."""
    config = Path(robot) if Path(robot).suffix in ('.yaml', '.yml') else facts_path(robot)
    if not promise_file(urdf_path(config, read_facts(config))).exists():
        return None
    return arm_of(robot, None)


def read_promise_file(arm: Arm) -> dict[str, Any]:
    """Read what the promise beside an arm says; one that is not about this arm is refused."""
    path = promise_file(arm.urdf)
    content = read_yaml(path)
    try:
        _check(content, path, arm)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise not_written_by_us(path, error) from error
    return content


@contextmanager
def written_by_us(path: Path) -> Iterator[None]:
    """Refuse a file whose arrays or figures are not what calibrate writes."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:  # it cannot be opened
            raise
        raise not_written_by_us(path, error) from error
    except UNREADABLE as error:
        raise not_written_by_us(path, error) from error


def not_written_by_us(path: Path, error: Exception) -> ConfigError:
    """Return what to say of a file that lacks what calibrate writes."""
    return ConfigError(f'{path} is not what calibrate has written ({error!r})')


def recording_names(content: dict[str, Any]) -> str:
    """Names of the empty recordings."""
    return ', '.join(about['name'] for about in content['recordings'])


def friction_left_out(content: dict[str, Any], arm: Arm) -> str | None:
    """Return why a loop cannot take intervals of friction, which its drives have to overcome."""
    if arm.model.sensors.sensing.torque.sensor == 'link':
        return 'torques are measured behind the gears, where friction of the drives is not felt'
    return left_out(content)


def left_out(content: dict[str, Any]) -> str | None:
    """Return what of the recordings a loop cannot take: friction or a unit that it has not."""
    terms = ', '.join(content['friction']['terms'])
    if terms:
        return f'the recordings ask for {terms} friction, which the loop does not have'
    if content.get('gain_log_covariance') is not None:
        return 'the unit of the effort is known with a deviation, which its intervals leave out'
    return None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _check(content: dict[str, Any], path: Path, arm: Arm) -> None:
    """Refuse the promise of another arm."""
    given, sensors = content.get('arm', {}), arm.model.sensors
    if content.get('version') != VERSION or 'confidence' not in content.get('friction', {}):
        raise ConfigError(f'{path} was written by another version: calibrate again')
    names = list(arm.model.layout.joint_names)
    if given['joints'] != names:
        raise ConfigError(f'{path} is about joints {given["joints"]}; the arm has {names}')
    if given['urdf_sha256'] != _digest(arm.urdf):
        raise ConfigError(f'{arm.urdf} has changed since {path} was written: calibrate again')
    now = np.array([sensors.effort_sign, sensors.effort_scale])
    if not np.allclose(now, [given['effort_sign'], given['effort_scale']]):
        raise ConfigError(f'{path} is about another sign or scale of the effort: calibrate again')
