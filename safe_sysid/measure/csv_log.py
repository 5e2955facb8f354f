"""A table with named columns (CSV) becomes a Recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
import csv
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TextIO

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import check_file
from safe_sysid.measure.numbered_columns import (
    NUMBERED,
    filled_names,
    named_in_rows,
    refuse_more,
    refuse_two_numberings,
)
from safe_sysid.measure.recorded_file import no_text
from safe_sysid.measure.recording import Recording, Samples, recording_of
from safe_sysid.measure.table_rows import TableRows, bare
from safe_sysid.measure.time_column import NAMES, check_steps

# {joint}: its name; {i}: its number from 0; {n}: its number from 1. The first that fits is used.
_NAMED = ('{joint}.%s', '{joint}_%s', '{joint}/%s', '%s_{joint}', '%s.{joint}', '%s/{joint}')
WORDS = {
    'position': ('position', 'pos', 'q'),
    'velocity': ('velocity', 'vel', 'qd', 'dq'),
    'effort': ('effort', 'torque', 'tau'),
}
FORCES = tuple(  # names of force and moment of a sensor
    tuple(f.format(a=a) for f in pair for a in axes)
    for pair, axes in (
        (('wrench.force.{a}', 'wrench.torque.{a}'), 'xyz'),
        (('force.{a}', 'torque.{a}'), 'xyz'),
        (('force_{a}', 'torque_{a}'), 'xyz'),
        (('f{a}', 't{a}'), 'xyz'),
        (('f{a}', 'm{a}'), 'xyz'),
        (('F{a}', 'T{a}'), 'xyz'),
        (('F{a}', 'M{a}'), 'xyz'),
    )
)
EFFORTS, WRENCH = 'effort', 'wrench'  # what the second columns are
BEGINNINGS = tuple('+-.0123456789')  # of a row of numbers
LONGEST_LINE = 1_000_000  # letters
BLOCK = 4_000_000  # letters that are in memory as text


@dataclass(frozen=True)
class Columns:
    """Patterns of column names where the usual ones do not fit, and the rate without times."""

    time: str | None = None
    position: str | None = None
    velocity: str | None = None
    effort: str | None = None
    rate: float | None = None  # [Hz] where no column has the time

    def __post_init__(self) -> None:
        if self.rate is not None and not 0.0 < self.rate < np.inf:
            raise MeasurementError(f'rate is {self.rate} Hz, it has to be above 0')


def read_csv(path: Path, joints: tuple[str, ...], columns: Columns) -> Recording:
    """Return what a table says about these joints; velocity may be missing."""
    return _read(path, joints, columns, EFFORTS)


def read_wrench_csv(path: Path, joints: tuple[str, ...], columns: Columns) -> Recording:
    """Return the same with force and moment of a sensor for efforts, six columns."""
    return _read(path, joints, columns, WRENCH)


def read_positions_csv(path: Path, joint: str, columns: Columns) -> Recording:
    """Return the same of one joint whose name a column of positions carries, and of that alone."""
    usual = [pattern % word for pattern in _NAMED for word in WORDS['position']]
    for pattern in [columns.position] if columns.position else usual:
        if '{joint}' in pattern:
            same = replace(columns, position=pattern, velocity=pattern, effort=pattern)
            with suppress(MeasurementError):
                return _read(path, (joint,), same, EFFORTS)
    raise MeasurementError(f"{path}: no column of positions carries the name '{joint}'")


def _read(path: Path, joints: tuple[str, ...], columns: Columns, signal: str) -> Recording:
    check_file(path, MeasurementError)
    try:
        with path.open(encoding='utf-8-sig') as file:
            blocks = _blocks(path, file)
            header, first = _with_header(next(blocks, ['']))
            delimiter = _delimiter(header)
            names = [name.strip().strip('"') for name in header.lstrip('#').split(delimiter)]
            _refuse_rate_beside_times(str(path), names, columns)
            told = _names_in_rows(names, first, delimiter, joints)
            place = _Places.of(str(path), names, (joints, told), columns, signal)
            table = TableRows(str(path), names, place.numbers, place.time, delimiter, told)
            for block in filter(None, chain([first], blocks)):
                lines = _with_points(str(path), block, delimiter, len(names))
                _check_width(str(path), lines[0], delimiter, len(names))
                table.add(lines)
    except UnicodeDecodeError as error:
        raise no_text(path, error) from error
    except OSError as error:
        raise MeasurementError(f'{path}: cannot be read ({error})') from error
    stamp = table.stamp(columns.rate)
    numbers = table.torn(table.numbers())
    if place.time is not None:
        check_steps(str(path), names[place.time], stamp)
    n = len(joints)
    position, effort, velocity = np.split(
        numbers, [n, n + (n if signal == EFFORTS else 6)], axis=1
    )
    samples = Samples(stamp, position, velocity if velocity.shape[1] else None, effort)
    return recording_of(str(path), joints, samples, (*place.remarks, *table.remarks()))


def pose_columns(path: Path, joints: tuple[str, ...], columns: Columns) -> tuple[Array, Array]:
    """Positions and efforts of a table that has a row for every pose and no times."""
    with path.open(encoding='utf-8-sig') as file:
        header, text = _with_header([line for block in _blocks(path, file) for line in block])
        delimiter = _delimiter(header)
        names = [name.strip().strip('"') for name in header.lstrip('#').split(delimiter)]
        untimed = replace(columns, rate=columns.rate or 1.0)
        told = _names_in_rows(names, text, delimiter, joints)
        place = _Places.of(str(path), names, (joints, told), untimed, EFFORTS)
        lines = [line for line in text if line.strip() and not line.startswith('#')]
    n = len(joints)
    if not lines:
        return np.zeros((0, n)), np.zeros((0, n))
    lines = _with_points(str(path), lines, delimiter, len(names))
    numbers = np.loadtxt(
        lines, delimiter=delimiter, usecols=place.numbers[: 2 * n], ndmin=2, comments=None
    )
    return numbers[:, :n], numbers[:, n:]


def _names_in_rows(
    names: list[str], lines: list[str], delimiter: str | None, joints: tuple[str, ...]
) -> dict[int, str]:
    """Return the names that the first row gives the joints, by column; empty: it names none."""
    places = named_in_rows(names)
    row = next((x for x in lines if x.strip() and not x.startswith('#')), '').split(delimiter)
    if not places or max(places) >= len(row):
        return {}
    told = {place: bare(row[place]) for place in places}
    return told if set(joints) <= set(told.values()) else {}


def _blocks(path: Path, file: TextIO) -> Iterator[list[str]]:
    """Yield some lines at a time; refuse what has none: no text, or a disk that was full."""
    rest, count = '', 0
    while chunk := file.read(BLOCK):
        *lines, rest = (rest + chunk).split('\n')
        count += len(lines)
        if len(rest) > LONGEST_LINE or (not count and '\0' in rest):
            raise MeasurementError(f'{path}: is no table: line {count + 1} is not text')
        if lines:
            yield lines
    if rest:
        yield [rest]


def _with_header(lines: list[str]) -> tuple[str, list[str]]:
    """Return the line with the names, and the others: the first, but for remarks above it."""
    if not lines:
        return '', []
    place = _names_after_remarks(lines) if lines[0].startswith('#') else 0
    return lines[place], [*lines[:place], *lines[place + 1 :]]


def _names_after_remarks(lines: list[str]) -> int:
    """Return the first line with as many cells as a row of numbers has."""
    first = next((i for i, x in enumerate(lines) if x.lstrip().startswith(BEGINNINGS)), 0)
    cells = _cells(lines[first])
    return next((i for i in range(first) if _cells(lines[i]) == cells), 0)


def _cells(line: str) -> int:
    return len(line.lstrip('#').split(_delimiter(line)))


def _with_points(source: str, lines: list[str], delimiter: str | None, columns: int) -> list[str]:
    """Return lines with points in place of decimal commas; refuse commas that are both."""
    if delimiter is not None and any('"' in line for line in lines):
        return [_unquoted(line, delimiter) for line in lines]
    if delimiter == ',':
        cells = max(line.count(',') + 1 for line in lines[:10])
        if columns > 1 and cells == 2 * columns:
            raise MeasurementError(
                f'{source}: its rows have {cells} cells and its header {columns}: numbers with '
                'decimal commas between commas; write it with points, or semicolons between'
            )
        return lines
    if any(',' in line for line in lines[:10]):
        return [line.replace(',', '.') for line in lines]
    return lines


def _unquoted(line: str, delimiter: str) -> str:
    """Return a line with points for decimal commas, which spreadsheets write in quotes.

    Each line by itself, as a quote that nobody closes ends with it.
    """
    if '"' not in line:
        return line if delimiter == ',' else line.replace(',', '.')
    try:
        row = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # a cell of more letters than a number has
        return line
    return delimiter.join(x.replace(',', '.').replace(delimiter, ' ') for x in row)


def _check_width(source: str, line: str, delimiter: str | None, columns: int) -> None:
    """Refuse a header with fewer names than columns: nobody knows which it leaves out."""
    more = [cell for cell in line.split(delimiter)[columns:] if cell.strip()]
    if more and not line.startswith('#'):
        raise MeasurementError(
            f'{source}: its rows have {columns + len(more)} cells and its header {columns}; name '
            'every column'
        )


def _delimiter(header: str) -> str | None:
    counts = {mark: header.count(mark) for mark in ',;\t'}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else None


@dataclass(frozen=True)
class _Places:
    """Which column is what."""

    time: int | None
    numbers: tuple[int, ...]  # position, effort, then velocity if there is any
    remarks: tuple[str, ...]

    @staticmethod
    def of(
        source: str,
        names: list[str],
        named: tuple[tuple[str, ...], dict[int, str]],
        columns: Columns,
        signal: str,
    ) -> _Places:
        """Places by name; joints, and what rows name them by columns."""
        joints = named[0]
        patterns: dict[str, str] = {}  # that fit, but for those that were told
        position = _found(source, names, named, ('position', columns.position), patterns)
        effort = (
            _found(source, names, named, ('effort', columns.effort), patterns)
            if signal == EFFORTS
            else _wrench(names)
        )
        velocity = _found(source, names, named, ('velocity', columns.velocity), patterns)
        refuse_two_numberings(source, patterns)
        time = _time_column(source, names, columns)
        if signal == WRENCH and effort is None:
            raise MeasurementError(
                f'{source}: no columns for force and moment of a sensor, such as '
                f'{", ".join(FORCES[3])}; its columns are {names}'
            )
        if position is None or effort is None:
            what = 'position' if position is None else 'effort'
            raise MeasurementError(
                f'{source}: no columns for the {what} of {list(joints)}; its columns are {names}. '
                f"Name them, for example with --columns {what}='{_NAMED[0] % what}'"
            )
        if time is None and columns.rate is None:
            raise MeasurementError(
                f'{source}: no column for the time, such as {list(NAMES[:3])}; its columns are '
                f'{names}. Name it with --columns time=NAME, or give --rate HZ'
            )
        remarks = [
            f'columns {_listed(names, position)} are positions, {_listed(names, effort)} efforts',
            'no velocity: central differences of the positions'
            if velocity is None
            else f'{_listed(names, velocity)} velocities',
        ]
        if time is None:
            remarks.append(f'no time: one sample every {1e3 / (columns.rate or 1.0):g} ms')
        numbers = [*position, *effort, *(velocity or [])]
        return _Places(time, tuple(numbers), tuple(remarks))


def _listed(names: list[str], places: list[int]) -> str:
    return f'{names[places[0]]} to {names[places[-1]]}' if len(places) > 1 else names[places[0]]


def _found(
    source: str,
    names: list[str],
    named: tuple[tuple[str, ...], dict[int, str]],
    asked: tuple[str, str | None],
    patterns: dict[str, str],
) -> list[int] | None:
    """Columns of one quantity, joint by joint; none if there are none.

    A usual pattern that fits is noted under the name of the quantity.
    """
    what, pattern = asked
    joints, told = named[0], list(named[1].values())
    usual = [p % w for p in _NAMED + NUMBERED for w in WORDS[what]]
    for candidate in [pattern] if pattern else usual:
        wanted = filled_names(candidate, joints, told)
        places = [_place(names, name) for name in wanted]
        if all(place is not None for place in places):
            if not (pattern or told):
                refuse_more(source, names, candidate, len(joints), what)
                patterns[what] = candidate
            return [place for place in places if place is not None]
    if pattern:
        raise MeasurementError(
            f"{source}: no columns '{pattern}' for all of {list(joints)}; its columns are {names}"
        )
    return None


def _wrench(names: list[str]) -> list[int] | None:
    """Columns of force and moment; none if there are none."""
    for wanted in FORCES:
        places = [_place(names, name) for name in wanted]
        if all(place is not None for place in places):
            return [place for place in places if place is not None]
    return None


def _place(names: list[str], wanted: str) -> int | None:
    """Return the column of that name; a path in front of it is ignored."""
    if names.count(wanted) > 1:
        raise MeasurementError(f"column '{wanted}' is there {names.count(wanted)} times")
    if wanted in names:
        return names.index(wanted)
    ends = [i for i, name in enumerate(names) if name.endswith('/' + wanted)]
    return ends[0] if len(ends) == 1 else None


def _time_column(source: str, names: list[str], columns: Columns) -> int | None:
    if columns.time is not None:
        if columns.time not in names:
            raise MeasurementError(
                f"{source}: no column '{columns.time}' for the time; its columns are {names}"
            )
        return names.index(columns.time)
    return None if columns.rate is not None else _usual_time_column(names)


def _usual_time_column(names: list[str]) -> int | None:
    lower = [name.lower() for name in names]
    return next((lower.index(name) for name in NAMES if name in lower), None)


def _refuse_rate_beside_times(source: str, names: list[str], columns: Columns) -> None:
    """Refuse to choose between times and a rate, which may contradict each other."""
    usual = _usual_time_column(names)
    time = names[usual] if columns.time is None and usual is not None else columns.time
    if columns.rate is not None and time is not None:
        raise MeasurementError(
            f"{source}: its times are in column '{time}', and --rate is for a table without; "
            'leave out the one that is wrong'
        )
