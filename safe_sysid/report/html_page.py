"""One self-contained HTML page from plain values: an arm in 3D, plots, tables, sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.output_file import write_text
from safe_sysid.report import palette
from safe_sysid.report.page_scene import PageScene, scene_data

MOST_POINTS = 900  # of a line; more than there are pixels
DRAWING_SCENE = (
    'three.min.js',
    'shaded.js',
    'solids.js',
    'union.js',
    'orbit.js',
    'viewer.js',
    'joints.js',
)  # only where there is a scene
PARTS = ('clock.js', 'plots.js', 'bars.js', 'player.js')  # of pages of any kind
SCRIPTS = (*PARTS, 'report.js')
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of a plot."""

    name: str
    x: Array
    y: Array
    color: int = 0  # of `palette`
    style: str = 'line'  # line | step | points | limit | truth


@dataclass(frozen=True, eq=False)
class Band:
    """Everything between two curves."""

    name: str
    x: Array
    lower: Array
    upper: Array
    color: int = 0


@dataclass(frozen=True, eq=False)
class Plot:
    """Curves and bands over one axis; over `time [s]` a cursor follows the slider."""

    title: str
    y_label: str
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    x_label: str = 'time [s]'
    y_scale: str = 'linear'  # linear | log


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]


@dataclass(frozen=True, eq=False)
class Bars:
    """Bounds of parameters over time, drawn from what was known before to what is known."""

    labels: tuple[str, ...]
    units: tuple[str, ...]
    time: Array  # (M,) [s] from which on; the first is what was known before
    lower: Array  # (M, p)
    nominal: Array  # (M, p)
    upper: Array  # (M, p)
    truth: Array | None = None  # (p,), where it is known
    words: tuple[str, str, str] = ('before', 'possible now', 'nominal')


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page."""

    heading: str
    lead: str = ''
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()
    bars: Bars | None = None
    picture: str = ''  # SVG, drawn elsewhere


@dataclass(frozen=True, eq=False)
class Page:
    """Everything a page says."""

    title: str
    subtitle: str
    is_good: bool
    verdict: tuple[str, str]  # a word, and the sentence after it
    facts: tuple[tuple[str, str], ...]  # label, value
    scene: PageScene | None
    sections: tuple[Section, ...]
    footer: str
    answer: tuple[str, str] | None = None  # what a reader came for, and how sure it is


def write_page(path: Path, page: Page) -> None:
    """Write the page as a file that needs no other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, html_of(page))


def html_of(page: Page) -> str:
    """Return the page with its data, style and scripts inside."""
    data = json.dumps(_page(page), allow_nan=False, ensure_ascii=False, separators=(',', ':'))
    return document(
        page.title, data, SCRIPTS if page.scene is None else (*DRAWING_SCENE, *SCRIPTS)
    )


def document(title: str, data: str, names: Iterable[str]) -> str:
    """Return a page with these data (JSON) and scripts inside."""
    scripts = '\n'.join(f'<script>\n{_resource(name)}</script>' for name in names)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n'
        f'<style>\n{page_style()}</style>\n</head>\n<body>\n<main></main>\n'
        f'<script type="application/json" id="data">{_inside_script(data)}</script>\n'
        f'{scripts}\n</body>\n</html>\n'
    )


def page_style() -> str:
    """Return the style that all pages have."""
    return palette.style() + _resource('report.css')


def _resource(name: str) -> str:
    return (files('safe_sysid.report') / 'page' / name).read_text(encoding='utf-8')


def _inside_script(data: str) -> str:
    """Text that cannot end the script element it stands in."""
    return data.replace('<', '\\u003c').replace('\u2028', '\\u2028').replace('\u2029', '\\u2029')


def _page(page: Page) -> dict[str, Any]:
    return {
        'title': page.title,
        'subtitle': page.subtitle,
        'good': page.is_good,
        'answer': None if page.answer is None else list(page.answer),
        'verdict': list(page.verdict),
        'facts': [list(fact) for fact in page.facts],
        'scene': None if page.scene is None else scene_data(page.scene),
        'sections': [_section(section) for section in page.sections],
        'footer': page.footer,
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        'heading': section.heading,
        'lead': section.lead,
        'bars': None if section.bars is None else _bars(section.bars),
        'picture': section.picture,
        'plots': [_plot(plot) for plot in section.plots],
        'tables': [
            {'columns': list(t.columns), 'rows': [[_cell(c) for c in row] for row in t.rows]}
            for t in section.tables
        ],
        'sentences': list(section.sentences),
    }


def _bars(bars: Bars) -> dict[str, Any]:
    return {
        'labels': list(bars.labels),
        'units': list(bars.units),
        'time': _numbers(bars.time),
        'lower': [_numbers(row) for row in bars.lower],
        'nominal': [_numbers(row) for row in bars.nominal],
        'upper': [_numbers(row) for row in bars.upper],
        'truth': None if bars.truth is None else _numbers(bars.truth),
        'words': list(bars.words),
    }


def _cell(value: str | float | None) -> str | float | None:
    if value is None or isinstance(value, str):
        return value
    return float(value) if np.isfinite(value) else None


def _plot(plot: Plot) -> dict[str, Any]:
    return {
        'title': plot.title,
        'x_label': plot.x_label,
        'y_label': plot.y_label,
        'log': plot.y_scale == 'log',
        'series': [_line(line) for line in plot.lines],
        'bands': [_band(band) for band in plot.bands],
    }


def _line(line: Line) -> dict[str, Any]:
    kept = _telling(line.y)
    return {
        'name': line.name,
        'x': _numbers(line.x[kept]),
        'y': _numbers(line.y[kept]),
        'color': line.color,
        'style': line.style,
    }


def _band(band: Band) -> dict[str, Any]:
    kept = np.union1d(_telling(band.lower), _telling(band.upper))
    return {
        'name': band.name,
        'x': _numbers(band.x[kept]),
        'lower': _numbers(band.lower[kept]),
        'upper': _numbers(band.upper[kept]),
        'color': band.color,
    }


def _telling(y: Array) -> npt.NDArray[np.int64]:
    """Return indices to draw: smallest and largest of every stretch, so no peak is lost."""
    if len(y) <= MOST_POINTS:
        return np.arange(len(y))
    edges = np.linspace(0, len(y), MOST_POINTS // 2 + 1).astype(int)
    kept = {0, len(y) - 1}
    filled = np.where(np.isfinite(y), y, 0.0)
    for begin, end in pairwise(edges):
        part = filled[begin:end]
        kept |= {begin + int(part.argmin()), begin + int(part.argmax())}
    return np.array(sorted(kept))


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [float(f'{v:.{DIGITS}g}') if np.isfinite(v) else None for v in values]
