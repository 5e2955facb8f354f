"""What is read whole has to be a file, of a size that such a file has, and is found somewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import errno
import hashlib
from pathlib import Path
import stat
from typing import Any

from safe_sysid.errors import SafeSysidError

MB = 1_000_000
LARGEST_TEXT = 50 * MB  # of YAML, URDF and JSON
LARGEST_MESH = 200 * MB
LONGEST_NAME = 200  # letters of a name of anything: it stands in messages, logs and settings
SHOWN = 40  # letters of a text that is too long
LISTED = 20  # names in one message
NAMING = ('robot', 'payload', 'library', 'world', 'file')  # settings of a loop that name files
FILES = ('.yaml', '.yml', '.casadi')  # how these end, other than names of what is shipped


def is_there(path: Path) -> bool:
    """Whether there is a file or folder of a name, which may be one that none can have."""
    return _unless_too_long(path.exists)


def is_file(path: Path) -> bool:
    """Whether there is such a file."""
    return _unless_too_long(path.is_file)


def is_folder(path: Path) -> bool:
    """Whether there is such a folder."""
    return _unless_too_long(path.is_dir)


def _unless_too_long(look: Callable[[], bool]) -> bool:
    try:
        return look()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False


def check_file(path: Path, refusal: type[SafeSysidError], largest: int | None = None) -> None:
    """Refuse a folder, a pipe, a device, and a file of more than `largest` bytes."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # a name with a zero byte
        reason = getattr(error, 'strerror', None) or error
        where = '' if path.is_absolute() else f'; it was looked for in {Path.cwd()}'
        raise refusal(f'{path}: cannot be read ({reason}{where})') from error
    if stat.S_ISDIR(found.st_mode):
        raise refusal(f'{path}: cannot be read (it is a folder, not a file)')
    if not stat.S_ISREG(found.st_mode):
        raise refusal(
            f'{path}: cannot be read (it is a pipe or a device; write what comes out of it into '
            'a file)'
        )
    if largest is not None and found.st_size > largest:
        raise refusal(
            f'{path}: has {found.st_size / MB:.0f} MB; a file of its kind may have '
            f'{largest // MB} MB'
        )


def name_trouble(name: str) -> str:
    """Why something may not be called so; empty: nobody minds its length."""
    if len(name) <= LONGEST_NAME:
        return ''
    return f"the name '{name[:SHOWN]}...' has {len(name)} letters; {LONGEST_NAME} are allowed"


def shortened(text: str) -> str:
    """Return a text as a message may show it."""
    return text if len(text) <= LONGEST_NAME else f'{text[:SHOWN]}... ({len(text)} letters)'


def listed(names: Sequence[str]) -> str:
    """Return names as a list that a message may show."""
    shown = str([shortened(name) for name in names[:LISTED]])
    return shown if len(names) <= LISTED else f'{shown} and {len(names) - LISTED} more'


def known_as(name: str) -> str:
    """Return what something is called in messages: its name, or one of its own that is short."""
    if not name_trouble(name):
        return name
    digest = hashlib.blake2b(name.encode(errors='replace'), digest_size=16).hexdigest()
    return f'{name[:SHOWN]}... {digest}'


def check_folder(path: Path, refusal: type[SafeSysidError]) -> None:
    """Refuse a folder with pipes or devices, for readers that open what they find there."""
    for entry in path.iterdir():
        if not entry.is_dir():
            check_file(entry, refusal)


def text_of(path: Path, refusal: type[SafeSysidError]) -> str:
    """Text of a file in UTF-8."""
    check_file(path, refusal, LARGEST_TEXT)
    try:
        return path.read_text(encoding='utf-8')
    except OSError as error:
        raise refusal(f'{path}: cannot be read ({error.strerror})') from error
    except UnicodeDecodeError as error:
        raise refusal(f'{path}: is not text in UTF-8 ({error.reason})') from error


def with_files_beside(values: Mapping[str, Any], source: Path) -> dict[str, Any]:
    """Return settings of a loop file, what they name beside it by its whole path.

    A name without a file beside the loop file stays as it is: it counts from where we stand.
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            found[key] = with_files_beside(value, source)
        elif str(key).rpartition('.')[2] not in NAMING:
            found[key] = value
        elif isinstance(value, list):
            found[key] = [_beside(each, source) for each in value]
        else:
            found[key] = _beside(value, source)
    return found


def _beside(name: Any, source: Path) -> Any:
    if not isinstance(name, str) or Path(name).suffix not in FILES:
        return name
    there = source.absolute().parent / name
    try:
        return str(there) if there.is_file() else name
    except (OSError, ValueError):  # no name of a file, which whoever reads it refuses
        return name
