"""What a command reads: looked for while the command line is read, before anything is loaded.

What is there is looked at as well, as far as no numeric library is needed for that: whatever its
reader would refuse in the end for being no YAML, URDF or recording at all is refused at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import os
from pathlib import Path

from safe_sysid.errors import SafeSysidError
from safe_sysid.input_file import shortened
from safe_sysid.share import (
    mechanism_names,
    no_such,
    no_such_robot,
    payload_names,
    robot_names,
    world_names,
)

SETTINGS = ('.yaml', '.yml')
FIRST = 256  # bytes that are looked at
BLANK, UTF_16 = b'\xef\xbb\xbf \t\r\n', (b'\xff\xfe', b'\xfe\xff')


def existing(text: str) -> Path:
    """Return a file or folder that is there."""
    path = Path(text)
    if not _is_there(path):
        raise argparse.ArgumentTypeError(f"there is no '{text}' in {_nearest(path)}")
    return path


def settings_file(text: str) -> Path:
    """Return a file that is there and holds a mapping in YAML."""
    from safe_sysid.config import read_yaml

    return _looked_at(existing(text), read_yaml)


def settings_name(text: str) -> str:
    """Return the same as it was typed."""
    return str(settings_file(text))


def bag_or_table(text: str) -> Path:
    """Return a bag or a table that is there."""
    from safe_sysid.measure.recorded_file import check_recorded

    return _looked_at(existing(text), check_recorded)


def table(text: str) -> Path:
    """Return a table that is there, of any name."""
    from safe_sysid.measure.recorded_file import check_table

    return _looked_at(existing(text), check_table)


def bag(text: str) -> Path:
    """Return a bag that is there: a folder, or a file of it."""
    from safe_sysid.measure.recorded_file import check_bag

    return _looked_at(existing(text), check_bag)


def bag_name(text: str) -> str:
    """Return the same as it was typed."""
    return str(bag(text))


def urdf(text: str) -> Path:
    """Return a URDF that is there."""
    from safe_sysid.model.urdf_root import check_root

    return _looked_at(existing(text), check_root)


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
    if Path(text).suffix in SETTINGS:
        return settings_name(text)
    if text not in names:
        raise argparse.ArgumentTypeError(no_such(kind, text, names))
    return text


def robot(text: str) -> str:
    """Return the name of an arm of the package, or of a file that may describe one."""
    return _described(named_robot(text))


def named_robot(text: str) -> str:
    """Return the name of an arm of the package, or of a file that is there, whatever is in it."""
    return _named(text, robot_names())


def robot_or_mechanism(text: str) -> str:
    """Return the same, or the name of a mechanism of the package."""
    return _described(_named(text, robot_names(), mechanism_names()), mechanism_names())


def _named(text: str, arms: Sequence[str], others: Sequence[str] = ()) -> str:
    if not _is_there(Path(text)) and text not in (*arms, *others):
        raise argparse.ArgumentTypeError(no_such_robot(text, others))
    return text


def _described(text: str, others: Sequence[str] = ()) -> str:
    """Refuse a file that is neither settings nor a URDF, which may have any name."""
    if text in (*robot_names(), *others):
        return text
    if Path(text).suffix in SETTINGS and not _begins_as_xml(Path(text)):
        settings_file(text)
    else:
        urdf(text)
    return text


def add_config(parser: argparse.ArgumentParser) -> None:
    """Which settings an arm has that is given as a URDF."""
    parser.add_argument(
        '--config', metavar='YAML', type=settings_file, help='settings beside a URDF'
    )


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


def _looked_at(path: Path, check: Callable[[Path], object]) -> Path:
    """Return a file of which a look at it says nothing against."""
    try:
        check(path)
    except SafeSysidError as error:
        raise argparse.ArgumentTypeError(' '.join(str(error).split())) from error
    except OSError as error:
        raise argparse.ArgumentTypeError(f"'{path}': {error.strerror}") from error
    return path


def _begins_as_xml(path: Path) -> bool:
    """Whether settings are none, but a URDF of another name."""
    if not path.is_file():
        return False
    with path.open('rb') as file:
        return file.read(FIRST).lstrip(BLANK).startswith((b'<', *UTF_16))


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


READ = (
    *(existing, settings_file, settings_name, bag_or_table, bag, bag_name, table, urdf),
    *(payload, world, robot, named_robot, robot_or_mechanism),
)
