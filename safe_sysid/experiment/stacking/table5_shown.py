"""Figure 5 on a page: bounds of the mass over time, by plans that teach and by random ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.stacking.table5 import METHODS, MassHistory
from safe_sysid.experiment.trial import Row
from safe_sysid.report.html_page import Band, Line, Plot, Section


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
    return [Section('Mass over time', lead, plots)]


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
