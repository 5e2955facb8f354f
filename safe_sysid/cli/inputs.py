"""What a command reads: looked for while the command line is read, before anything is loaded."""

from __future__ import annotations

import argparse
from pathlib import Path

from safe_sysid.share import mechanism_names, no_such_robot, robot_names


def existing(text: str) -> Path:
    """Return a file or folder that is there."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"there is no '{text}' in {_nearest(path)}")
    return path


def robot(text: str) -> str:
    """Return the name of an arm of the package, or of a file that is there."""
    if not Path(text).exists() and text not in robot_names():
        raise argparse.ArgumentTypeError(no_such_robot(text))
    return text


def robot_or_mechanism(text: str) -> str:
    """Return the name of an arm or a mechanism of the package, or of a file that is there."""
    return text if text in mechanism_names() else robot(text)


def add_package_path(parser: argparse.ArgumentParser) -> None:
    """Folders in which meshes are looked for."""
    parser.add_argument(
        '--package-path',
        metavar='DIR',
        action='append',
        default=[],
        type=existing,
        help='folder with the ROS packages that meshes of the URDF are in; repeatable. Then '
        'AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the folders above the URDF are searched',
    )


def _nearest(path: Path) -> Path:
    """Folder of a path as far as it exists."""
    try:
        return next(folder for folder in path.absolute().parents if folder.is_dir())
    except OSError as error:  # no permission to look
        raise argparse.ArgumentTypeError(f"'{path}': {error.strerror}") from error
