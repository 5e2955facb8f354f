"""Rows of a campaign on disk: a journal that survives any crash, and Parquet parts.

    campaign.json      which experiment with which choices, and the hash of the keys it plans
    journal.jsonl      a row a line, on disk before the next one is taken
    part-00000.parquet rows of the journal, once there are many or all
    tracebacks/        each text once
    lock               held by the one process that may write

A part is written under another name, brought to the disk and then named; the journal is cut after
that. A crash between the two leaves rows in both: equal rows of one key count once. Unequal ones
mean that a trial was not a pure function, and are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import fcntl
import json
import os
from pathlib import Path
import socket
from typing import Any

from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.trial import Row, result_of, traceback_name
from safe_sysid.output_file import new_file

ROWS_PER_PART = 4096
CUT = '.cut'  # end of the name of a part that can not be read


class CampaignError(SafeSysidError):
    """A campaign can not go on, or its rows can not be believed."""


class Store:
    """Everything that is known of a campaign, in one folder; use as a context to write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, Row] = {}
        self._journalled: list[str] = []
        self.set_aside: list[str] = []  # what is wrong with parts that could not be read
        self._lock: Any = None
        self._journal: Any = None

    @property
    def rows(self) -> list[Row]:
        """One row a key, in the order of the keys."""
        return [self._rows[key] for key in sorted(self._rows)]

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def __getitem__(self, key: str) -> Row:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __enter__(self) -> Store:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        self._set_aside_cut_parts()
        self.read()
        path = self.folder / 'journal.jsonl'
        torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b'\n'
        self._journal = path.open('ab', buffering=0)  # what is not written is not written later
        if torn:  # the next row begins on a line of its own
            self._journal.write(b'\n')
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()
        self._lock.close()

    def _set_aside_cut_parts(self) -> None:
        """Give parts that can not be read another name: their trials run again."""
        for part in sorted(self.folder.glob('part-*.parquet')):
            try:
                list(_read_part(part))
            except CampaignError as error:
                aside = part.replace(part.with_name(part.name + CUT))
                self.set_aside.append(f'{error}: it is now {aside.name}, its trials run again')

    def read(self) -> None:
        """Take in all that is on disk; lines that a crash has cut off are left out."""
        for part in sorted(self.folder.glob('part-*.parquet')):
            for row in _read_part(part):
                self._take(row, str(part))
        journal = self.folder / 'journal.jsonl'
        if journal.exists():
            for row in _read_lines(journal.read_bytes()):
                if self._take(row, str(journal)):
                    self._journalled.append(str(row['key']))

    def add(self, row: Row, text: str = '') -> None:
        """Keep a row, and the traceback it names."""
        if text:
            self._keep_traceback(text)
        if not self._take(row, 'the trial just done'):
            return
        try:
            _write_all(self._journal, json.dumps(row).encode() + b'\n')
            os.fsync(self._journal.fileno())
        except OSError as error:
            raise CampaignError(
                f'{self.folder / "journal.jsonl"} takes no more rows ({error}); those before are '
                f'safe, --resume {self.folder} goes on once it can be written'
            ) from error
        self._journalled.append(str(row['key']))
        if len(self._journalled) >= ROWS_PER_PART:
            self.close_part()

    def close_part(self) -> None:
        """Move the rows of the journal into a Parquet file."""
        if not self._journalled:
            return
        numbers = [int(path.name[5:10]) for path in self.folder.glob('part-*.parquet*')]
        path = self.folder / f'part-{max(numbers, default=-1) + 1:05d}.parquet'
        _write_part(path, [self._rows[key] for key in self._journalled])
        self._journal.truncate(0)
        os.fsync(self._journal.fileno())
        self._journalled.clear()

    def agree(self, plan: dict[str, Any]) -> None:
        """Write what is planned; in a folder that has a plan it has to be the same one."""
        path = self.folder / 'campaign.json'
        if not path.exists():
            _write_whole(path, json.dumps(plan, indent=2, sort_keys=True).encode() + b'\n')
            return
        there = json.loads(path.read_text(encoding='utf-8'))
        different = [name for name in plan if there.get(name) != plan[name]]
        if different:
            name = different[0]
            raise CampaignError(
                f'{self.folder} holds a campaign with {name} {there.get(name)!r}, asked for is '
                f'{plan[name]!r}; name another folder, or give what it was begun with'
            )

    def _take(self, row: Row, source: str) -> bool:
        """Whether a row is new."""
        key = str(row['key'])
        known = self._rows.setdefault(key, row)
        if known is row:
            return True
        if result_of(known) != result_of(row):
            raise CampaignError(
                f'{source}: the trial {key} came out differently from before, so it depends on '
                'more than its settings and seed; its rows can not be believed'
            )
        return False

    def _take_lock(self) -> None:
        self._lock = (self.folder / 'lock').open('a+')
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.seek(0)
            holder = self._lock.read().strip() or 'another process'
            raise CampaignError(
                f'{self.folder} is being written by {holder}; wait for it, or name another folder'
            ) from error
        self._lock.truncate(0)
        self._lock.write(f'process {os.getpid()} on {socket.gethostname()}\n')
        self._lock.flush()

    def _keep_traceback(self, text: str) -> None:
        folder = self.folder / 'tracebacks'
        folder.mkdir(exist_ok=True)
        path = folder / f'{traceback_name(text)}.txt'
        if not path.exists():
            _write_whole(path, text.encode())


def read_rows(folder: Path) -> list[Row]:
    """Return the rows of a campaign, also of one that is under way."""
    store = Store(folder)
    store.read()
    return store.rows


def _write_all(file: Any, line: bytes) -> None:
    """Write a line that the system may take in parts."""
    while line:
        line = line[file.write(line) :]


def _read_lines(content: bytes) -> Iterator[Row]:
    for line in content.split(b'\n'):
        with contextlib.suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict) and 'key' in row:
                yield row


def _read_part(path: Path) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise CampaignError(
            f'{path} can not be read ({error}); --resume puts it aside, and its trials run again'
        ) from error
    for row in table.to_pylist():
        yield json.loads(row.pop('row'))


def _write_part(path: Path, rows: list[Row]) -> None:
    """Write columns of every name there is, and each row as it is in the column `row`."""
    import pyarrow
    import pyarrow.parquet

    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: pyarrow.array(_alike([row.get(name) for row in rows])) for name in names}
    columns['row'] = pyarrow.array([json.dumps(row) for row in rows])
    with _new_on_disk(path) as part:
        pyarrow.parquet.write_table(pyarrow.table(columns), part, compression='zstd')


def _alike(values: list[Any]) -> list[Any]:
    """Return numbers of one kind; text where kinds are mixed otherwise."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values


def _write_whole(path: Path, content: bytes) -> None:
    with _new_on_disk(path) as part:
        part.write_bytes(content)


@contextlib.contextmanager
def _new_on_disk(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which is brought to the disk before it has its name."""
    with new_file(path) as part:
        yield part
        with part.open('rb') as file:
            os.fsync(file.fileno())
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
