"""Parts that several pages share: bounds over time, tables of parameters, settings, versions."""

from __future__ import annotations

from collections.abc import Mapping
import os
import platform

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.determined import determined
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.html_page import Band, Line, Plot, Section, Table
from safe_sysid.report.palette import TRUTH
from safe_sysid.sets.interval import Interval
from safe_sysid.versions import versions


def widths_section(series: EstimateSeries, end: float, truth: Array | None = None) -> Section:
    """How the bounds on theta_e close over time."""
    time = np.append(series.time, max(end, float(series.time[-1])))
    plots = [
        _group('mass', 'half width [kg]', series, time, slice(0, 1)),
        _group('first moments', 'half width [kg m]', series, time, slice(1, 4)),
        _group('inertia', 'half width [kg m²]', series, time, slice(4, 10)),
    ]
    return Section(
        'Bounds over time',
        'Half widths of the interval of every parameter of the end effector. They only shrink.',
        (*plots, _mass_plot(series, time, truth)),
    )


def _last_again(values: Array) -> Array:
    return np.concatenate([values, values[-1:]])


def _group(title: str, label: str, series: EstimateSeries, time: Array, columns: slice) -> Plot:
    widths = _last_again(series.half_width)[:, columns]
    lines = tuple(
        Line(name, time, widths[:, i], color=i, style='step')
        for i, name in enumerate(LABELS[columns])
    )
    return Plot(title, label, lines, y_scale='log')


def _mass_plot(series: EstimateSeries, time: Array, truth: Array | None) -> Plot:
    twice = np.repeat(time, 2)[1:-1]  # every value holds until the next one comes
    lower, upper, nominal = (
        np.repeat(x[:, 0], 2) for x in (series.lower, series.upper, series.nominal)
    )
    band = Band('bounds', twice, lower, upper)
    lines = [Line('nominal', twice, nominal)]
    if truth is not None:
        known = np.full(2, truth[0])
        lines.append(Line('truth', time[[0, -1]], known, color=TRUTH, style='truth'))
    return Plot('mass and its bounds', 'mass [kg]', tuple(lines), (band,))


def parameter_table(nominal: Array, bounds: Interval, truth: Array | None) -> Table:
    """Ten parameters with bounds, and the truth where it is known."""
    columns = ('parameter', 'unit', 'lower', 'nominal', 'upper')
    units = (unit.replace('^2', '²') for unit in UNITS)
    rows = list(zip(LABELS, units, bounds.lower, nominal, bounds.upper, strict=True))
    if truth is None:
        known = determined(bounds)
        marks = ('' if is_known else 'not determined by the motion' for is_known in known)
        return Table((*columns, ''), tuple((*row, m) for row, m in zip(rows, marks, strict=True)))
    inside = (bounds.lower <= truth) & (truth <= bounds.upper)
    return Table(
        (*columns, 'truth', ''),
        tuple(
            (*row, float(value), 'inside' if ok else 'OUTSIDE')
            for row, value, ok in zip(rows, truth, inside, strict=True)
        ),
    )


def mass_words(lower: float, upper: float) -> str:
    """Bounds of a mass in words, rounded outward; there is no mass below 0."""
    low, high = np.floor(100.0 * max(lower, 0.0)) / 100.0, np.ceil(100.0 * upper) / 100.0
    return f'{low:.2f} to {high:.2f} kg'


def circumstances(settings: Mapping[str, str]) -> Section:
    """Return settings of the run and versions of what it ran with."""
    machine = {'cores': str(len(os.sched_getaffinity(0))), 'system': platform.platform(terse=True)}
    found = {name: version or 'not installed' for name, version in versions().items()}
    return Section(
        'Settings and versions',
        tables=(
            Table(('setting', 'value'), tuple(settings.items())),
            Table(('with', 'version'), tuple((found | machine).items())),
        ),
    )
