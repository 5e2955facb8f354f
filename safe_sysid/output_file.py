"""Files that are written as a whole or not at all, however a disk or a person interrupts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
import os
from pathlib import Path

FILLED: list[list[Path]] = []  # files that are new, of each folder that is being filled


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of `path` in the end; else nothing stays.

    Errors of the system name `path`. Devices and pipes are written to as they are.
    """
    target = Path(os.path.realpath(path))
    is_file = target.is_file() or not os.path.lexists(target)
    part = target.with_name(f'.{os.getpid()}_{target.name[-100:]}') if is_file else target
    is_new = not os.path.lexists(target)
    try:
        yield part
        if is_file:
            part.replace(target)
        if is_new:
            for made in FILLED:
                made.append(target)
    except OSError as error:
        _remove(part, is_file)
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    except BaseException:
        _remove(part, is_file)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file as UTF-8."""
    with new_file(path) as part:
        part.write_text(text, encoding='utf-8')


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file of bytes."""
    with new_file(path) as part:
        part.write_bytes(content)


@contextmanager
def filled_folder(folder: Path) -> Iterator[Path]:
    """Make a folder to write into; what `new_file` has made goes again where that fails.

    Whatever somebody else writes there meanwhile stays, and so do folders that are not empty.
    """
    was_there = folder.is_dir()
    before = {each for each in folder.rglob('*') if each.is_dir()} if was_there else set()
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    FILLED.append(made)
    try:
        yield folder
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        folders = {each for each in folder.rglob('*') if each.is_dir()} - before
        for each in [*sorted(folders, reverse=True), *([] if was_there else [folder])]:
            with suppress(OSError):
                each.rmdir()
        raise
    finally:
        FILLED.remove(made)


def _remove(part: Path, is_file: bool) -> None:
    if is_file:
        part.unlink(missing_ok=True)
