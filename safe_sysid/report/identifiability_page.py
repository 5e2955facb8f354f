"""Identifiability as one HTML page that needs no network: picture, table, sentences."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
import re

from safe_sysid.identifiability.links import Identifiability, written
from safe_sysid.identifiability.parameter_classes import MEANINGS, SYMBOLS
from safe_sysid.report.arm_drawing import COLOURS, INK, drawing
from safe_sysid.report.html_page import page_style
from safe_sysid.report.identifiability_text import kind_of, row_labels, summary

SUBTITLE = (
    'Which inertial parameters of the links a motion can show at all: decided in exact '
    'arithmetic, for every motion, before anything is recorded.'
)
STYLE = """
.picture { margin-top: 18px; }
svg { width: 100%; max-width: 44rem; display: block; margin: auto; }
.wide { overflow-x: auto; }
.wide table { min-width: 0; } .wide th, .wide td { padding: .15rem .55rem; text-align: center; }
th[scope=row] { text-align: right; font-weight: normal; }
td.class { border: 1px solid var(--card); font-weight: bold; }
.key span { display: inline-block; margin: .1rem 1rem .1rem 0; }
.key b { padding: 0 .5rem; margin-right: .4rem; }
h2 { font-size: 18px; font-weight: 620; margin: 38px 0 2px; }
code { white-space: pre-wrap; }
"""


def page(answer: Identifiability) -> str:
    """Return the whole page."""
    title = escape(f'What can be known of {answer.name}')
    said = summary(answer).removeprefix(f'{answer.name}: ')
    sections = ''.join(_sections(answer))
    headings = [m.group(1) for m in re.finditer('<h2>(.*?)</h2>', sections)]
    for number in range(len(headings)):
        sections = sections.replace('<h2>', f'<h2 id="part{number + 1}">', 1)
    parts = [
        f'<header><h1>{title}</h1><p>{SUBTITLE}</p>',
        f'<div class="answer"><strong>{escape(said[:1].upper() + said[1:])}</strong></div>',
        f'{_contents(headings)}</header>',
        f'<div class="picture card">{drawing(answer)}{_key(answer)}</div>',
        sections,
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{page_style()}{STYLE}</style></head>\n<body><main>\n{chr(10).join(parts)}\n'
        '</main></body></html>'
    )


def _sections(answer: Identifiability) -> Iterable[str]:
    yield '<h2>Every parameter</h2>'
    yield _table(answer)
    yield from _links(answer)
    yield '<h2>Base parameters</h2>'
    yield _list(f'<code>{escape(text)}</code>' for text in _combinations(answer))
    yield from _snapped(answer)
    yield '<h2>What this assumes</h2>'
    yield _list(escape(note) for note in answer.notes)


def _contents(headings: list[str]) -> str:
    links = (f'<a href="#part{i + 1}">{heading}</a>' for i, heading in enumerate(headings))
    return f'<nav class="contents" aria-label="contents">{"".join(links)}</nav>'


def _key(answer: Identifiability) -> str:
    marks = (
        f'<span><b style="background:{COLOURS[kind]};color:{INK[kind]}">{SYMBOLS[kind]}</b>'
        f'{MEANINGS[kind]}: {n}</span>'
        for kind, n in answer.counts.items()
        if n
    )
    return (
        f'<p class="key">{" ".join(marks)}</p>'
        '<p>A ring is a link, at the joint that moves it; where joints meet, rings are around '
        'each other. Each sector is a parameter, which the pointer names.</p>'
    )


def _table(answer: Identifiability) -> str:
    head = ''.join(f'<th title="{escape(link.link)}">{link.number}</th>' for link in answer.links)
    rows = [f'<tr><th></th>{head}</tr>']
    for label in row_labels(answer):
        cells = []
        for link in answer.links:
            kind = kind_of(link, label)
            cells.append(
                '<td></td>'
                if kind is None
                else f'<td class="class" style="background:{COLOURS[kind]};color:{INK[kind]}" '
                f'title="{MEANINGS[kind]}">{SYMBOLS[kind]}</td>'
            )
        rows.append(f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>')
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def _links(answer: Identifiability) -> Iterable[str]:
    for link in answer.links:
        yield f'<h2>Link {link.number}, {escape(link.link)}</h2>'
        yield f'<p>Moved by joint {escape(link.joint)}.</p>'
        yield _list(escape(sentence) for sentence in answer.sentences(link))


def _combinations(answer: Identifiability) -> Iterable[str]:
    return (written(answer.combination(row)) for row in range(answer.base.count))


def _snapped(answer: Identifiability) -> Iterable[str]:
    if answer.snapped:
        yield '<h2>Read as what was meant</h2>'
        yield _list(escape(str(snap)) for snap in answer.snapped)


def _list(items: Iterable[str]) -> str:
    return f'<ul>{"".join(f"<li>{item}</li>" for item in items)}</ul>'
