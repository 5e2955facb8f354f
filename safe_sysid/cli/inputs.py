"""What a command reads: looked for while the command line is read, before anything is loaded."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from safe_sysid.input_file import shortened
from safe_sysid.share import (
    mechanism_names,
    no_such,
    no_such_robot,
    payload_names,
    robot_names,
    world_names,
)


def existing(text: str) -> Path:
    """Return a file or folder that is there."""
    path = Path(text)
    if not _is_there(path):
        raise argparse.ArgumentTypeError(f"there is no '{text}' in {_nearest(path)}")
    return path


def new_file(text: str) -> Path:
    """Return where a file can be written, or over one that is there; or a device."""
    path = Path(text)
    is_there = bool(text) and _is_there(path)
    if not text or (is_there and path.is_dir()):
        raise argparse.ArgumentTypeError(f"'{text}' is a folder, and has to be a file")
    if not is_there or path.is_file():
        new_folder(str(path.parent))
    return path


def new_folder(text: str) -> Path:
    """Return a folder that is there, or can be made."""
    path = Path(text)
    nearest = next((each for each in (path, *path.parents) if os.path.lexists(each)), Path())
    if not nearest.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' can't be written: '{nearest}' is no folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(
            f"'{text}' can't be written: no permission in '{nearest}'"
        )
    return path


def payload(text: str) -> str:
    """Return the name of a payload of the package, or of a file that is there."""
    return _shipped_or_file('payload', text, payload_names())


def world(text: str) -> str:
    """Return the name of a world of the package, or of a file that is there."""
    return _shipped_or_file('world', text, world_names())


def _shipped_or_file(kind: str, text: str, names: list[str]) -> str:
    if Path(text).suffix in ('.yaml', '.yml'):
        return str(existing(text))
    if text not in names:
        raise argparse.ArgumentTypeError(no_such(kind, text, names))
    return text


def robot(text: str) -> str:
    """Return the name of an arm of the package, or of a file that is there."""
    if not _is_there(Path(text)) and text not in robot_names():
        raise argparse.ArgumentTypeError(no_such_robot(text))
    return text


def robot_or_mechanism(text: str) -> str:
    """Return the name of an arm or a mechanism of the package, or of a file that is there."""
    names = mechanism_names()
    if not _is_there(Path(text)) and text not in [*robot_names(), *names]:
        raise argparse.ArgumentTypeError(no_such_robot(text, names))
    return text


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


def _is_there(path: Path) -> bool:
    """Whether a file or folder is there, as far as anybody may look."""
    try:
        return path.exists()
    except OSError as error:  # no permission to look, or no name of a file
        said = f"'{shortened(str(path))}': {error.strerror}"
        raise argparse.ArgumentTypeError(said) from error


def _nearest(path: Path) -> Path:
    """Folder of a path as far as it exists."""
    try:
        return next(folder for folder in path.absolute().parents if folder.is_dir())
    except OSError as error:  # no permission to look
        raise argparse.ArgumentTypeError(f"'{path}': {error.strerror}") from error
