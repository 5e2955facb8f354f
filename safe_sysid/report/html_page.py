"""One self-contained HTML page from plain values: an arm in 3D, plots, tables, sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import pairwise
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array

MOST_POINTS = 900  # of a line; more than there are pixels
SCRIPTS = ('plots.js', 'viewer.js', 'report.js')
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of a plot."""

    name: str
    x: Array
    y: Array
    color: int = 0  # of the ten that the page has
    style: str = 'line'  # line | step | points | limit


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
class Section:
    """A part of the page."""

    heading: str
    lead: str = ''
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PlanOccupancy:
    """What a plan may reach: in every time step capsules whose ends have radii of their own."""

    start: float  # [s] of the plan
    ends: Array  # (T,) [s] since then, of every time step
    points: Array  # (T, m, 2, 3) [m]
    radii: Array  # (T, m, 2) [m]


@dataclass(frozen=True, eq=False)
class PageScene:
    """The arm over time."""

    time: Array  # (F,) [s]
    capsules: Array  # (F, m, 2, 3) [m]
    radius: Array  # (m,) [m]
    is_tip: tuple[bool, ...]  # whether a capsule is part of the end effector
    boxes: Mapping[str, Array] = field(default_factory=dict)  # name: corners (8, 3) [m]
    occupancy: tuple[PlanOccupancy, ...] = ()


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


def write_page(path: Path, page: Page) -> None:
    """Write the page as a file that needs no other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html_of(page), encoding='utf-8')


def html_of(page: Page) -> str:
    """Return the page with its data, style and scripts inside."""
    data = json.dumps(_page(page), allow_nan=False, ensure_ascii=False, separators=(',', ':'))
    scripts = '\n'.join(f'<script>\n{_resource(name)}</script>' for name in SCRIPTS)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(page.title)}</title>\n'
        f'<style>\n{_resource("report.css")}</style>\n</head>\n<body>\n<main></main>\n'
        f'<script type="application/json" id="data">{_inside_script(data)}</script>\n'
        f'{scripts}\n</body>\n</html>\n'
    )


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
        'verdict': list(page.verdict),
        'facts': [list(fact) for fact in page.facts],
        'scene': None if page.scene is None else _scene(page.scene),
        'sections': [_section(section) for section in page.sections],
        'footer': page.footer,
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        'heading': section.heading,
        'lead': section.lead,
        'plots': [_plot(plot) for plot in section.plots],
        'tables': [
            {'columns': list(t.columns), 'rows': [[_cell(c) for c in row] for row in t.rows]}
            for t in section.tables
        ],
        'sentences': list(section.sentences),
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


def _scene(scene: PageScene) -> dict[str, Any]:
    keys = [('arm', 'arm'), ('end effector', 'tip')]
    if scene.occupancy:
        keys.append(('may be reached, whatever the payload', 'reach'))
    if scene.boxes:
        keys.append(('obstacles', 'box'))
    return {
        'time': np.round(scene.time, 4).tolist(),
        'capsules': np.round(scene.capsules, 4).tolist(),
        'radius': np.round(scene.radius, 4).tolist(),
        'tip': list(scene.is_tip),
        'boxes': [{'name': n, 'corners': np.round(c, 4).tolist()} for n, c in scene.boxes.items()],
        'occupancy': [_occupancy(plan) for plan in scene.occupancy],
        'keys': keys,
    }


def _occupancy(plan: PlanOccupancy) -> dict[str, Any]:
    # Rounding moves a point by less than 0.0001 m, so radii grow by that.
    points, radii = np.round(plan.points, 4), np.ceil(plan.radii * 1e4 + 1.0) / 1e4
    steps = [
        [
            [a.tolist(), b.tolist(), float(ra), float(rb)]
            for (a, b), (ra, rb) in zip(place, radius, strict=True)
        ]
        for place, radius in zip(points, radii, strict=True)
    ]
    return {'start': plan.start, 'ends': np.round(plan.ends, 5).tolist(), 'steps': steps}
