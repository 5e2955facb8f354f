"""A report in Markdown as a page: its headings, paragraphs, lists and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from safe_sysid.report.html_page import Page, Plot, Section, Table

REFUSED, CAUTION = '**Refused.** ', '**Caution.** '


def explained(share: float) -> tuple[str, str]:
    """Return the answer of a fit that left a share of the held-out torque."""
    return (
        f'{100.0 * (1.0 - share):.1f} % of the torque is explained.',
        'Of recordings, or ends of them, that the fit did not see; the rest is '
        f'{100.0 * share:.2f} % of the filtered torque.',
    )


def page_of_markdown(
    text: str, answer: tuple[str, str], plots: Mapping[str, tuple[Plot, ...]]
) -> Page:
    """Return the page of a report; `plots` are added to the sections with these headings."""
    head, *parts = text.split('\n## ')
    title, *said = head.strip().splitlines()
    refused = [line.removeprefix(REFUSED) for line in said if line.startswith(REFUSED)]
    cautions = [line.removeprefix(CAUTION) for line in said if line.startswith(CAUTION)]
    verdict = ('Refused.', refused[0]) if refused else ('Done.', 'Nothing was refused.')
    if cautions and not refused:
        verdict = ('With caution.', ' '.join(cautions))
    return Page(
        title.removeprefix('# '),
        '',
        is_good=not refused and not cautions,
        verdict=verdict,
        facts=(),
        scene=None,
        sections=tuple(_section(part, plots) for part in parts),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
        answer=None if refused else answer,
    )


def _section(text: str, plots: Mapping[str, tuple[Plot, ...]]) -> Section:
    heading, *lines = text.strip().splitlines()
    blocks = {kind: list(_blocks(lines, kind)) for kind in ('', '- ', '|')}
    return Section(
        heading,
        ' '.join(line for block in blocks[''] for line in block),
        plots.get(heading, ()),
        tuple(_table(block) for block in blocks['|']),
        tuple(line.removeprefix('- ') for block in blocks['- '] for line in block),
    )


def _blocks(lines: list[str], kind: str) -> Iterator[list[str]]:
    """Yield lines that stand together and begin in one way; '' is a paragraph."""
    for begins, block in groupby(lines, _kind):
        if begins == kind:
            found = [line for line in block if line]
            if found:
                yield found


def _kind(line: str) -> str:
    return next((kind for kind in ('- ', '|') if line.startswith(kind)), '')


def _table(lines: list[str]) -> Table:
    cells = [[cell.strip() for cell in line.strip('|').split(' | ')] for line in lines]
    return Table(tuple(lines[0].strip('| ').split(' | ')), tuple(tuple(c) for c in cells[2:]))
