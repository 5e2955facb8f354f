"""Text for a terminal of some width: long lines go on below their column, nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
import re
import shutil

NARROWEST = 40  # columns that are counted on, however narrow a terminal is
ENOUGH = 24  # columns in which a sentence can be read below itself
HANGING = 2  # columns by which a sentence that goes on is indented
COMMENT = re.compile(r' *# ')
CELL = re.compile(r'\S+(?: \S+)*')
UNIT = re.compile(r'(?<=\d) (?:%|(?:N m|N|kg m|kg|[nmµu]?s|[mck]?m|m?rad|k?Hz|[kMG]B)\b)')
INSEPARABLE = '\N{NO-BREAK SPACE}'
BAR = '|'  # begins a row of a table in Markdown


def terminal_width() -> int:
    """Columns of the terminal, as COLUMNS has them or the terminal itself; 80 of what is none."""
    return shutil.get_terminal_size().columns


def wrapped(text: str, width: int) -> str:
    """Return a text whose lines go on in the next one where a word would not fit."""
    width = max(width, NARROWEST)
    lines: list[str] = []
    for is_table, block in groupby(text.split('\n'), lambda line: line.startswith(BAR)):
        for line in _narrower_tables(list(block), width) if is_table else block:
            lines += _lines(line, width) if len(line) > width else [line]
    return '\n'.join(lines)


def columns_that_fit(widths: Sequence[int], gap: int, width: int | None) -> list[list[int]]:
    """Return columns by number, in as many tables as it takes, the first in each; None: in one."""
    if width is None:
        return [[*range(len(widths))]]
    tables, used = [[0]], widths[0]
    for number, size in enumerate(widths[1:], start=1):
        if used + gap + size > width and len(tables[-1]) > 1:
            tables.append([0])
            used = widths[0]
        tables[-1].append(number)
        used += gap + size
    return tables


def _narrower_tables(rows: list[str], width: int) -> Iterator[str]:
    """Yield a table in Markdown as several, where a row of it is too long."""
    cells = [row.strip(BAR + ' ').split(' | ') for row in rows]
    names, contents = cells[0], cells[2:]
    is_table = len(rows) > 1 and not set(rows[1]) - set('|-: ')
    if max(map(len, rows)) <= width or not is_table or {len(x) for x in contents} - {len(names)}:
        yield from rows
        return
    sizes = [max(len(row[i]) for row in (names, *contents)) for i in range(len(names))]
    for i, chosen in enumerate(columns_that_fit(sizes, 3, width - 4)):
        yield from ['', *_rows(names, contents, chosen)] if i else _rows(names, contents, chosen)


def _rows(names: list[str], contents: list[list[str]], chosen: list[int]) -> list[str]:
    rows = [[row[i] for i in chosen] for row in (names, *contents)]
    rows.insert(1, ['---'] * len(chosen))
    return [f'| {" | ".join(row)} |' for row in rows]


def _lines(line: str, width: int) -> list[str]:
    """Return a line that is too long as several."""
    comment = COMMENT.match(line)
    if comment is not None:
        mark = comment.group()
        return [mark + part for part in _sentence(line[len(mark) :], width - len(mark))]
    cells = list(CELL.finditer(line))
    below = cells[1].start() if len(cells) > 1 else width
    below = below if below <= width // 2 else cells[0].start() + HANGING
    lines, is_in_column = [''], True
    for cell in cells:
        begin = cell.start() if is_in_column else len(lines[-1]) + HANGING
        if begin + len(cell.group()) > width:
            is_in_column = False
            if lines[-1] and width - begin < ENOUGH:
                lines.append('')
                begin = below
        parts = _sentence(cell.group(), width - begin, 0 if lines[-1] else HANGING)
        lines[-1] = lines[-1].ljust(begin) + parts[0]
        lines += [' ' * begin + part for part in parts[1:]]
    return lines


def _sentence(text: str, width: int, hanging: int = 0) -> list[str]:
    """Return words in lines; a figure stays beside its unit."""
    lines = ['']
    kept = UNIT.sub(lambda unit: unit.group().replace(' ', INSEPARABLE), text)
    for word in kept.split(' '):
        line = f'{lines[-1]} {word}' if lines[-1].strip() else lines[-1] + word
        if len(line) <= width or not lines[-1].strip():
            lines[-1] = line
        else:
            lines.append(' ' * hanging + word)
    return [line.replace(INSEPARABLE, ' ') for line in lines]
