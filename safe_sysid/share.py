"""Where the robot descriptions and settings that come with safe_sysid are on this machine."""

from collections.abc import Sequence
from difflib import get_close_matches
import os
from pathlib import Path
import sys

from safe_sysid.errors import ConfigError

PACKAGE = 'safe_sysid'


def share_directory() -> Path:
    """Folder that holds urdf/ and config/: the source tree, a ROS prefix or a pip environment."""
    source_tree = Path(__file__).resolve().parent.parent
    if (source_tree / 'package.xml').exists():
        return source_tree
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    candidates = [Path(prefix) / 'share' / PACKAGE for prefix in prefixes if prefix]
    for candidate in candidates:
        if (candidate / 'package.xml').exists():
            return candidate
    raise ConfigError(
        f'the data files of {PACKAGE} are in none of {[str(c) for c in candidates]}; '
        'install the package with pip or colcon, or source its install/setup.bash'
    )


def robot_names() -> list[str]:
    """Robots that come with the package, by name."""
    return _names_in('robots')


def mechanism_names() -> list[str]:
    """Chains of joints without masses that come with the package, by name."""
    return _names_in('mechanisms')


def payload_names() -> list[str]:
    """Payloads that come with the package, by name."""
    return _names_in('payloads')


def world_names() -> list[str]:
    """Worlds that come with the package, by name."""
    return _names_in('worlds')


def no_such(kind: str, name: str, names: Sequence[str]) -> str:
    """Say that something is not among what comes with the package, and what was perhaps meant."""
    return (
        f"no {kind} '{name}'{_advice(name, names)} package has {list(names)}; "
        'the path of a file has to end in .yaml'
    )


def no_such_robot(robot: str, others: Sequence[str] = ()) -> str:
    """Say why a robot is not known: no name of the package, or of `others`, and no file here."""
    names = [*robot_names(), *others]
    if not Path(robot).suffix and os.sep not in robot:
        said = f"no robot '{robot}'{_advice(robot, names)} package has {names}"
        return f'{said}; or name a URDF or YAML file'
    return f"there is no file '{robot}' (looked for from {Path.cwd()}); the package has {names}"


def _names_in(folder: str) -> list[str]:
    return sorted(path.stem for path in (share_directory() / 'config' / folder).glob('*.yaml'))


def _advice(name: str, names: Sequence[str]) -> str:
    """Return what was perhaps meant, of the whole name or of its beginning."""
    beginnings = {each[: len(name)]: each for each in reversed(names)}
    near = get_close_matches(name, names, 1) or get_close_matches(name, list(beginnings), 1)
    return f"; did you mean '{beginnings.get(near[0], near[0])}'? The" if near else ', the'
