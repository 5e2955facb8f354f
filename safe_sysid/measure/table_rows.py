"""Rows of a table: lines become numbers, and lines that are no rows are noticed."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, InvalidOperation

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.time_column import SHORT, stamps_of, unit_of

LOOKED_AT = 100  # lines, for how wide rows usually are
FEW_BAD, BAD_SHARE = 5, 0.05  # lines that are no rows; more are refused


def bare(cell: str) -> str:
    """Return what a cell says, without quotes."""
    return cell.strip().strip('"')


class TableRows:
    """Lines become numbers, block by block; lines that are no numbers are counted."""

    def __init__(
        self,
        source: str,
        names: list[str],
        columns: tuple[int, ...],
        time: int | None,
        delimiter: str | None,
        told: dict[int, str],
    ) -> None:
        self._source, self._names = source, names
        self._told = told  # names of joints that every row repeats, by column
        self._widths: set[int] = set()  # cells of rows: of the header, and of most at first
        self._columns, self._time, self._delimiter = columns, time, delimiter
        self._odd = ''  # what is no number in the first line that has none
        self._numbers: list[Array] = []
        self._times: list[Array | list[str]] = []  # short ones as numbers
        self._line = 1
        self._bad: list[int] = []
        self._torn: list[int] = []  # rows whose time is no time

    def add(self, lines: list[str]) -> None:
        """Take a block of lines."""
        try:
            self._check_widths(lines)
            numbers = self._parsed(lines)
            for offset, line in enumerate(lines if self._told else ()):
                self._check_joints(line.split(self._delimiter), self._line + 1 + offset)
            if self._time is not None:
                self._times.append(self._times_of(lines, numbers[:, -1]))
            self._numbers.append(numbers[:, : len(self._columns)])
        except (ValueError, IndexError):
            for offset, line in enumerate(lines):
                self._add_line(line, self._line + 1 + offset)
        self._line += len(lines)

    def _check_widths(self, lines: list[str]) -> None:
        """Notice lines that are not as wide as the header, nor as most rows are at first."""
        rows = [x for x in lines[:LOOKED_AT] if x.strip() and not x.startswith('#')]
        if not self._widths and rows:
            usual = Counter(map(self._cells, rows)).most_common(1)[0][0]
            self._widths = {len(self._names), usual}
        if any(self._cells(line) not in self._widths for line in lines):
            raise ValueError('rows of another width')

    def _cells(self, line: str) -> int:
        mark = self._delimiter
        return len(line.split()) if mark is None else line.count(mark) + 1

    def _is_as_wide(self, cells: list[str]) -> bool:
        """Whether a line has as many cells as a row, but for empty ones behind."""
        return len(cells) in self._widths or _filled(cells) <= len(self._names) < len(cells)

    def _check_joints(self, cells: list[str], number: int) -> None:
        """Refuse a row that names other joints than the first one."""
        if any(bare(cells[i]) != joint for i, joint in self._told.items()):
            raise MeasurementError(
                f'{self._source}: line {number} names other joints than the first row, or in '
                'another order; write one table for each order'
            )

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
        if not self._is_as_wide(cells) or self._names_columns(cells):
            self._bad.append(number)
            wide = f'it has {len(cells)} cells, and the header {len(self._names)}'
            self._odd = self._odd or wide
            return
        try:
            row = [float(cells[i].strip() or 'nan') for i in self._columns]
            self._check_joints(cells, number)
            if self._time is not None:
                Decimal(cells[self._time].strip())
                self._times.append([cells[self._time]])
        except (ValueError, IndexError, InvalidOperation):
            self._bad.append(number)
            self._odd = self._odd or self._first_odd(cells)
            return
        self._numbers.append(np.array([row]))

    def _names_columns(self, cells: list[str]) -> bool:
        """Whether a line is a header again; refuse one of another order."""
        again = [bare(cell) for cell in cells]
        if again != self._names and sorted(again) == sorted(self._names):
            raise MeasurementError(
                f'{self._source}: its columns are named again in another order; give one of the '
                'tables that were joined'
            )
        return again == self._names

    def _first_odd(self, cells: list[str]) -> str:
        """Say which cell of a line is not a number."""
        wanted = self._columns if self._time is None else (self._time, *self._columns)
        for i in wanted:
            if i >= len(cells):
                return f'it has {len(cells)} cells, and the header {len(self._names)}'
            if i == self._time and not cells[i].strip():
                return 'it has no time'
            try:
                float(cells[i].strip() or 'nan')
            except ValueError:
                return f"'{cells[i].strip()}' in column {self._names[i]} is no number"
        return ''

    def numbers(self) -> Array:
        """All rows."""
        if self._numbers:
            found: Array = np.concatenate(self._numbers)
            self._refuse_many_bad(len(found))
            return found
        if self._bad:
            raise MeasurementError(
                f'{self._source}: no line is a row of numbers, in line {self._bad[0]} {self._odd}'
            )
        return np.zeros((0, len(self._columns)))

    def _refuse_many_bad(self, rows: int) -> None:
        bad = len(self._bad)
        if bad > FEW_BAD and bad > BAD_SHARE * (bad + rows):
            raise MeasurementError(
                f'{self._source}: {bad} of {bad + rows} lines are no rows of numbers, the first '
                f'of them is {self._bad[0]}: {self._odd}'
            )

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


def _filled(cells: list[str]) -> int:
    """Return how many cells there are without empty ones behind."""
    return max((i + 1 for i, cell in enumerate(cells) if cell.strip()), default=0)
