"""Figure 5 on a page: bounds of the mass over time, by plans that teach and by random ones."""

from __future__ import annotations

from collections.abc import Sequence
import json

import numpy as np

from safe_sysid.experiment.published import published
from safe_sysid.experiment.stacking.table3 import LOADS
from safe_sysid.experiment.stacking.table5 import METHODS, MassHistory
from safe_sysid.experiment.trial import Row
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.html_page import Band, Bars, Line, Plot, Section

PAPER = 'provably_safe_online'
WIDE_FIRST = ('random', 'ours')


def answer(rows: Sequence[Row]) -> tuple[str, str]:
    """Say whether bounds contained the truth, and how much better plans that teach condition."""
    outside = sum(not row['truth_inside'] for row in rows)
    medians = {
        method: np.median([float(str(r['condition'])) for r in rows if r['method'] == method])
        for method in METHODS
        if any(row['method'] == method for row in rows)
    }
    said = ', '.join(f'{method} {value:.0f}' for method, value in medians.items())
    return (
        f'{len(rows) - outside} of {len(rows)} bounds contain the truth.',
        f'Median condition number of Y: {said}.',
    )


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return one plot for each load, of its first arm."""
    plots = tuple(
        _mass([row for row in rows if row['load'] == load and row['number'] == 0], load)
        for load in dict.fromkeys(str(row['load']) for row in rows)
    )
    lead = (
        'Of the end effector with the load: what is guaranteed, the estimate, and the truth; '
        'adap-1-excit adapts along the plans of ours and guarantees nothing.'
    )
    figures = [Section('Figure 5: mass over time', lead, plots), *_intervals(rows)]
    return [*figures, _conditions(rows)]


def _conditions(rows: Sequence[Row]) -> Section:
    """Condition number over the loads, ours and theirs."""
    theirs = published(PAPER)['table5']
    lines = []
    for color, method in enumerate(METHODS):
        found = [
            (_pounds(load), float(np.median(some)), float(theirs[f'{_pounds(load):g}lb'][method]))
            for load in LOADS
            if (some := _of(rows, load, method, 'condition'))
        ]
        if found:
            x, ours, published_ones = np.array(found).T
            lines.append(Line(method, x, ours, color, 'points'))
            lines.append(Line(f'{method}, published', x, published_ones, color + 2, 'points'))
    plot = Plot('condition number of Y', '', tuple(lines), x_label='load [lb]', y_scale='log')
    lead = 'After four plans, median over arms; beside it the figures of the paper.'
    return Section('Table V: condition number', lead, (plot,))


def _pounds(load: str) -> float:
    return float(load.removeprefix('dumbbell_').removesuffix('lb'))


def _of(rows: Sequence[Row], load: str, method: str, column: str) -> list[float]:
    return [
        float(str(row[column])) for row in rows if row['load'] == load and row['method'] == method
    ]


def _intervals(rows: Sequence[Row]) -> list[Section]:
    """Return figures 6 to 10: the ten parameters of each load, of its first arm."""
    found = []
    for number, load in enumerate(LOADS, 6):
        of = {r['method']: r for r in rows if r['load'] == load and r['number'] == 0}
        if set(of) != set(METHODS):
            continue
        lower, nominal, upper, true = (
            np.array([[float(str(of[m][f'{kind}_{x}'])) for x in LABELS] for m in WIDE_FIRST])
            for kind in ('lower', 'nominal', 'upper', 'true')
        )
        words = ('random plans', 'plans that teach', 'nominal')
        time = np.array([0.0, 1.0])
        bars = Bars(LABELS, UNITS, time, lower, nominal, upper, true[0], words)
        lead = 'What is guaranteed of the end effector with the load after four plans.'
        found.append(Section(f'Figure {number}: {load}', lead, bars=bars))
    return found


def _mass(rows: Sequence[Row], load: str) -> Plot:
    lines, bands = [], []
    for color, row in enumerate(rows):
        method, history = str(row['method']), MassHistory.of_text(str(row['mass_history']))
        t = np.array([*history.t[1:], history.t[-1] + 1.0])  # bounds hold until the next ones
        lower, nominal, upper = (
            np.array([*values[1:], values[-1]])
            for values in (history.lower, history.nominal, history.upper)
        )
        bands.append(Band(f'{method}, bounds', t, lower, upper, color))
        lines.append(Line(method, t, nominal, color, 'step'))
        if row.get('adapted_mass') is not None:
            t_adapted, mass = np.array(json.loads(str(row['adapted_mass']))).T
            lines.append(Line('adap-1-excit', t_adapted, mass, len(rows) + 1))
        if color == len(rows) - 1:
            true = np.full(2, float(str(row['true_m'])))
            lines.append(Line('truth', t[[0, -1]], true, len(rows), 'truth'))
    return Plot(f'mass with {load}', 'kg', tuple(lines), tuple(bands))
