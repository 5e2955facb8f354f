"""Where the robot descriptions and settings that come with safe_sysid are on this machine."""

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
    return sorted(path.stem for path in (share_directory() / 'config' / 'robots').glob('*.yaml'))


def mechanism_names() -> list[str]:
    """Chains of joints without masses that come with the package, by name."""
    return sorted(
        path.stem for path in (share_directory() / 'config' / 'mechanisms').glob('*.yaml')
    )


def no_such_robot(robot: str) -> str:
    """Say why a robot is not known: no name of the package, and no file here."""
    names = robot_names()
    near = get_close_matches(robot, names, 1)
    advice = f"; did you mean '{near[0]}'? The" if near else ', the'
    if not Path(robot).suffix and os.sep not in robot:
        return f"no robot '{robot}'{advice} package has {names}; or name a URDF or YAML file"
    return f"there is no file '{robot}' (looked for from {Path.cwd()}); the package has {names}"
