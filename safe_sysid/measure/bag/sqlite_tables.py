"""What an sqlite3 file of a bag may be made of: tables whose rows are stored.

A view, or a column that is computed, is a program of whoever wrote the file: it can go on for
ever, or fill the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
import sqlite3

from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import is_file, is_folder, shortened
from safe_sysid.measure.recorded_file import SQLITE_MAGIC

STORED = 0  # of PRAGMA table_xinfo: what is hidden of a column


def check_tables(bag: Path) -> None:
    """Refuse a file with anything else; what is damaged is for its reader."""
    for path in _files(bag):
        try:
            computed = next(_computed(path), '')
        except sqlite3.Error:
            continue
        if computed:
            raise MeasurementError(
                f"{path}: '{shortened(computed)}' in it is computed; a bag has tables whose rows "
                'are stored'
            )


def _files(bag: Path) -> Iterator[Path]:
    """Files of a bag, or itself, that begin as sqlite3 does; their names may be others."""
    for path in sorted(bag.iterdir()) if is_folder(bag) else [bag]:
        if is_file(path):
            with path.open('rb') as file:
                if file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC:
                    yield path


def _computed(path: Path) -> Iterator[str]:
    """Names of views, of tables of extensions, and of columns that are computed."""
    address = f'{path.resolve().as_uri()}?mode=ro&immutable=1'
    with closing(sqlite3.connect(address, uri=True)) as connection:
        parts = connection.execute('SELECT type, name, sql FROM sqlite_master').fetchall()
        for kind, name, sql in parts:
            if kind == 'view' or str(sql).upper().startswith('CREATE VIRTUAL'):
                yield str(name)
        columns = 'SELECT name, hidden FROM pragma_table_xinfo(?)'
        for name in (name for kind, name, _ in parts if kind == 'table'):
            found = connection.execute(columns, (name,))
            yield from (f'{name}.{column}' for column, hidden in found if hidden != STORED)
