"""A table of an experiment, as text for a terminal and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from safe_sysid.report.terminal_lines import columns_that_fit


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

    def as_text(self, width: int | None = None) -> str:
        """Return the table in columns as wide as their widest entry; several where it is wider."""
        every = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in every) for i in range(len(self.columns))]
        parts = []
        for chosen in columns_that_fit([2 + widths[0], *widths[1:]], 2, width):
            lines = ('  '.join(row[i].ljust(widths[i]) for i in chosen) for row in every)
            parts.append('\n'.join(f'  {line}'.rstrip() for line in lines))
        return '\n'.join([self.heading, '\n\n'.join(parts)])


def _line(cells: tuple[str, ...]) -> str:
    return f'| {" | ".join(cells)} |'
