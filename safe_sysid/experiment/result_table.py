"""A table of an experiment, as text for a terminal and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ResultTable:
    """Rows of words and numbers, and what they mean."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]

    def as_markdown(self) -> str:
        """Return the table with its heading, as a section."""
        lines = (
            [f'## {self.heading}', '', *self.sentences]
            if self.sentences
            else [f'## {self.heading}']
        )
        lines += ['', _line(self.columns), _line(('---',) * len(self.columns))]
        return '\n'.join([*lines, *map(_line, self.rows)])

    def as_text(self) -> str:
        """Return the table in columns as wide as their widest entry."""
        every = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in every) for i in range(len(self.columns))]
        lines = ['  '.join(x.ljust(w) for x, w in zip(row, widths, strict=True)) for row in every]
        return '\n'.join([self.heading, *(f'  {line}'.rstrip() for line in lines)])


def _line(cells: tuple[str, ...]) -> str:
    return f'| {" | ".join(cells)} |'
