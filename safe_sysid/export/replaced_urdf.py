"""Which URDF in a folder another one may replace: none that files beside it were made for.

Inertias and friction are identified with a geometry, so geometry comes first. Put into an arm
that is calibrated it would stand beside figures of another one; calibrated without, it is lost.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm
from safe_sysid.model.promise_file import is_of_urdf, promise_file, promise_path

WITH_SETTINGS = ' --config YAML'  # of whoever has not named them


def check_geometry_may_replace(folder: Path, arm: Arm, robot: str, settings: str) -> None:
    """Refuse to write geometry over the URDF of a calibrated arm, or of other settings.

    `robot` and `settings` are how the arm was named, for what is said to do instead.
    """
    urdf = folder / f'{arm.model.name}.urdf'
    beside = _made_for(urdf, arm)
    if beside is None:
        return
    own = 'geometry' if folder.name != 'geometry' else 'own_geometry'
    raise ConfigError(
        f'{beside} was made for {urdf}, which geometry from {arm.urdf} would replace: inertias '
        'and friction are those of the geometry that they were identified with. Geometry comes '
        'first, in a folder of its own: `safe-sysid calibrate-kinematics POSES --robot '
        f'{quote(robot)} --out {own}`, then `safe-sysid calibrate BAG --robot '
        f'{own}/{quote(urdf.name)}{settings} --out {quote(str(folder))}`'
    )


def check_calibration_may_replace(folder: Path, arm: Arm, settings: str = WITH_SETTINGS) -> None:
    """Refuse to write a calibrated arm over a URDF that calibrate neither reads nor wrote."""
    urdf = folder / f'{arm.model.name}.urdf'
    if not urdf.exists() or _is_read(urdf, arm) or _is_whole(urdf):
        return
    raise ConfigError(
        f'{urdf} is not as calibrate has written it, and the arm is read from {arm.urdf}: '
        f'geometry in it would be lost. Read it with `--robot {quote(str(urdf))}{settings}`, or '
        'write into another folder'
    )


def _made_for(urdf: Path, arm: Arm) -> Path | None:
    """Return a file beside a URDF that is wrong once the arm's geometry is in its place."""
    for path in (promise_path(urdf), promise_file(urdf)):
        if path.exists():
            return path
    settings = urdf.with_suffix('.yaml')
    if urdf.exists() and settings.exists() and not _is_read(urdf, arm):
        return settings
    return None


def _is_read(urdf: Path, arm: Arm) -> bool:
    return arm.urdf.exists() and urdf.samefile(arm.urdf)


def _is_whole(urdf: Path) -> bool:
    """Whether settings stand beside a URDF, and a promise only if it is of this URDF."""
    promise = promise_file(urdf)
    return urdf.with_suffix('.yaml').exists() and (
        not promise.exists() or is_of_urdf(promise, urdf)
    )
