"""A table with named columns (CSV) becomes a Recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
import csv
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
import re
from typing import TextIO

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import check_file
from safe_sysid.measure.recording import Recording, Samples, recording_of
from safe_sysid.measure.time_column import NAMES, SHORT, check_steps, stamps_of, unit_of

# {joint}: its name; {i}: its number from 0; {n}: its number from 1. The first that fits is used.
_NAMED = ('{joint}.%s', '{joint}_%s', '{joint}/%s', '%s_{joint}', '%s.{joint}', '%s/{joint}')
_NUMBERED = ('%s_{i}', '%s{i}', '%s[{i}]', '%s_{n}', '%s{n}')
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
            place = _Places.of(str(path), names, joints, columns, signal)
            table = _Table(str(path), names, place, delimiter)
            for block in filter(None, chain([first], blocks)):
                lines = _with_points(str(path), block, delimiter, len(names))
                _check_width(str(path), lines[0], delimiter, len(names))
                table.add(lines)
    except UnicodeDecodeError as error:
        raise MeasurementError(
            f'{path}: cannot be read: it is not text in UTF-8 ({error.reason}); write it as such'
        ) from error
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
        place = _Places.of(str(path), names, joints, untimed, EFFORTS)
        lines = [line for line in text if line.strip() and not line.startswith('#')]
    n = len(joints)
    if not lines:
        return np.zeros((0, n)), np.zeros((0, n))
    lines = _with_points(str(path), lines, delimiter, len(names))
    numbers = np.loadtxt(
        lines, delimiter=delimiter, usecols=place.numbers[: 2 * n], ndmin=2, comments=None
    )
    return numbers[:, :n], numbers[:, n:]


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
    if delimiter is not None and '"' in lines[0]:  # spreadsheets write decimal commas so
        rows = csv.reader(lines, delimiter=delimiter)
        return [delimiter.join(x.replace(',', '.') for x in row) for row in rows]
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
        source: str, names: list[str], joints: tuple[str, ...], columns: Columns, signal: str
    ) -> _Places:
        """Places by name."""
        position = _found(source, names, joints, 'position', columns.position)
        effort = (
            _found(source, names, joints, 'effort', columns.effort)
            if signal == EFFORTS
            else _wrench(names)
        )
        velocity = _found(source, names, joints, 'velocity', columns.velocity)
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
    source: str, names: list[str], joints: tuple[str, ...], what: str, pattern: str | None
) -> list[int] | None:
    """Columns of one quantity, joint by joint; none if there are none."""
    patterns = [pattern] if pattern else [p % w for p in _NAMED + _NUMBERED for w in WORDS[what]]
    for candidate in patterns:
        wanted = [filled_pattern(candidate, joint, i) for i, joint in enumerate(joints)]
        places = [_place(names, name) for name in wanted]
        if all(place is not None for place in places):
            return [place for place in places if place is not None]
    if pattern:
        raise MeasurementError(
            f"{source}: no columns '{pattern}' for all of {list(joints)}; its columns are {names}"
        )
    return None


def filled_pattern(pattern: str, joint: str, i: int) -> str:
    """Return a name with that of a joint and its number, from 0 and from 1, put in."""
    if other := re.search(r'[{}]', re.sub(r'\{(joint|i|n)\}', '', pattern)):
        raise MeasurementError(
            f"the pattern '{pattern}' may hold {{joint}}, {{i}} and {{n}}, and no other "
            f"'{other.group()}'"
        )
    parts = {'{joint}': joint, '{i}': str(i), '{n}': str(i + 1)}
    return re.sub(r'\{(?:joint|i|n)\}', lambda found: parts[found.group()], pattern)


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


class _Table:
    """Lines become numbers, block by block; lines that are no numbers are counted."""

    def __init__(
        self, source: str, names: list[str], places: _Places, delimiter: str | None
    ) -> None:
        self._source, self._names = source, names
        self._columns, self._time, self._delimiter = places.numbers, places.time, delimiter
        self._odd = ''  # what is no number in the first line that has none
        self._numbers: list[Array] = []
        self._times: list[Array | list[str]] = []  # short ones as numbers
        self._line = 1
        self._bad: list[int] = []
        self._torn: list[int] = []  # rows whose time is no time

    def add(self, lines: list[str]) -> None:
        """Take a block of lines."""
        try:
            numbers = self._parsed(lines)
            if self._time is not None:
                self._times.append(self._times_of(lines, numbers[:, -1]))
            self._numbers.append(numbers[:, : len(self._columns)])
        except (ValueError, IndexError):
            for offset, line in enumerate(lines):
                self._add_line(line, self._line + 1 + offset)
        self._line += len(lines)

    def _times_of(self, lines: list[str], numbers: Array) -> Array | list[str]:
        """Return times of a block, as text where a float is not near enough."""
        if (np.abs(numbers) < SHORT).all():
            return numbers
        assert self._time is not None
        return [line.split(self._delimiter, self._time + 1)[self._time] for line in lines]

    def _parsed(self, lines: list[str]) -> Array:
        """Numbers of the columns, and of the time last, if there is one."""
        columns = self._columns if self._time is None else (*self._columns, self._time)
        numbers: Array = np.loadtxt(
            lines, delimiter=self._delimiter, usecols=columns, ndmin=2, comments=None
        )
        if len(numbers) != len(lines):
            raise ValueError('blank lines')
        return numbers

    def _add_line(self, line: str, number: int) -> None:
        cells = line.split(self._delimiter)
        if not line.strip() or line.startswith('#'):
            return
        try:
            row = [float(cells[i].strip() or 'nan') for i in self._columns]
            if self._time is not None:
                Decimal(cells[self._time].strip())
                self._times.append([cells[self._time]])
        except (ValueError, IndexError, InvalidOperation):
            self._bad.append(number)
            self._odd = self._odd or self._first_odd(cells)
            return
        self._numbers.append(np.array([row]))

    def _first_odd(self, cells: list[str]) -> str:
        """Say which cell of a line is not a number."""
        wanted = self._columns if self._time is None else (self._time, *self._columns)
        for i in wanted:
            if i >= len(cells):
                return f'it has {len(cells)} cells, and the header {len(self._names)}'
            try:
                float(cells[i].strip() or 'nan')
            except ValueError:
                return f"'{cells[i].strip()}' in column {self._names[i]} is no number"
        return ''

    def numbers(self) -> Array:
        """All rows."""
        if self._numbers:
            return np.concatenate(self._numbers)
        if self._bad:
            raise MeasurementError(
                f'{self._source}: no line is a row of numbers, in line {self._bad[0]} {self._odd}'
            )
        return np.zeros((0, len(self._columns)))

    def torn(self, numbers: Array) -> Array:
        """Return the rows, those without a time as numbers that are not finite."""
        if self._torn:
            numbers = numbers.copy()
            numbers[self._torn] = np.nan
        return numbers

    def stamp(self, rate: float | None) -> IntArray:
        """Stamps to the nanosecond."""
        if self._time is None:
            assert rate is not None
            stamps: IntArray = np.round(np.arange(len(self.numbers())) * (1e9 / rate))
            return stamps.astype(np.int64)
        stamps, self._torn = stamps_of(self._times, unit_of(self._names[self._time]))
        return stamps

    def remarks(self) -> list[str]:
        """How many lines were no numbers."""
        if not self._bad:
            return []
        return [f'{len(self._bad)} lines are not rows of numbers, the first is {self._bad[0]}']
