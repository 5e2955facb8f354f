"""Figure 5 on a page: bounds of the mass over time, by plans that teach and by random ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.stacking.table3 import LOADS
from safe_sysid.experiment.stacking.table5 import METHODS, MassHistory
from safe_sysid.experiment.trial import Row
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.report.html_page import Band, Bars, Line, Plot, Section

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
    lead = 'Of the end effector with the load: what is guaranteed, the estimate, and the truth.'
    return [Section('Figure 5: mass over time', lead, plots), *_intervals(rows)]


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
        if color == len(rows) - 1:
            true = np.full(2, float(str(row['true_m'])))
            lines.append(Line('truth', t[[0, -1]], true, color + 1, 'truth'))
    return Plot(f'mass with {load}', 'kg', tuple(lines), tuple(bands))
