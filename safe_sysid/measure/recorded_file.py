"""What a recording is by its name and its first bytes, before anything reads it."""

from __future__ import annotations

import codecs
from pathlib import Path

from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import check_file, is_folder, is_there

TABLES = ('.csv', '.txt', '.tsv')
PACKED = ('.gz', '.bz2', '.xz', '.zip', '.7z')  # not .zstd, of which rosbags are made
STORAGE = ('.db3', '.mcap')  # files of a rosbag
METADATA = 'metadata.yaml'  # beside them
MCAP_MAGIC = b'\x89MCAP0\r\n'
SQLITE_MAGIC = b'SQLite format 3\x00'
FIRST = 65536  # bytes that are looked at


def check_recorded(path: Path) -> None:
    """Refuse what is neither a rosbag nor a table."""
    if not is_folder(path) and path.suffix.lower() in TABLES:
        check_table(path)
    else:
        check_bag(path)


def check_table(path: Path) -> None:
    """Refuse bytes that are no UTF-8, but for a last character that is cut."""
    check_file(path, MeasurementError)
    try:
        codecs.getincrementaldecoder('utf-8')().decode(_first_bytes(path))
    except UnicodeDecodeError as error:
        raise no_text(path, error) from error


def check_bag(path: Path) -> None:
    """Refuse what is no rosbag: a folder, or one of its files."""
    if is_folder(path):
        if not is_there(path / METADATA) and not any(x.suffix in STORAGE for x in path.iterdir()):
            raise no_bag(path, f'it has no {METADATA}')
        return
    check_file(path, MeasurementError)
    if path.suffix.lower() in PACKED:
        raise packed(path)
    if path.suffix not in STORAGE:
        ending = f"ends in '{path.suffix}'" if path.suffix else 'has no ending'
        raise no_bag(path, f'its name {ending}')
    if not _first_bytes(path).startswith((MCAP_MAGIC, SQLITE_MAGIC)):
        raise no_bag(path, 'it begins like neither an mcap nor an sqlite3 file')


def no_bag(path: Path, reason: str) -> MeasurementError:
    """Return the sentence that something is no rosbag."""
    return MeasurementError(
        f'{path}: is not a rosbag ({reason}); a folder with {METADATA}, or a file that ends in '
        f'{" or ".join(STORAGE)} is one'
    )


def packed(path: Path) -> MeasurementError:
    """Return the sentence that a recording has to be unpacked first."""
    return MeasurementError(
        f'{path}: is a packed file; unpack it, and give the table or bag that was in it'
    )


def no_text(path: Path, error: UnicodeDecodeError) -> MeasurementError:
    """Return the sentence that a table is not text."""
    return MeasurementError(
        f'{path}: cannot be read: it is not text in UTF-8 ({error.reason}); write it as such'
    )


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open('rb') as file:
            return file.read(FIRST)
    except OSError as error:
        raise MeasurementError(f'{path}: cannot be read ({error.strerror})') from error
