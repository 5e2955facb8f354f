"""Tables of Table V and figures 5 to 10: ours and random plans, and the published condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.bench.experiments.kinova_dumbbell import TABLE_I_LOWER, TABLE_I_UPPER
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.stacking.table5 import METHODS, MassHistory
from safe_sysid.experiment.trial import Row
from safe_sysid.model.inertia import LABELS

PAPER = 'provably_safe_online'


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Condition numbers, then intervals load by load."""
    loads = list(dict.fromkeys(str(row['load']) for row in rows))
    return [
        _conditions(rows, loads),
        _mass(rows, loads),
        *(_intervals([row for row in rows if row['load'] == load], load) for load in loads),
    ]


def _conditions(rows: Sequence[Row], loads: Sequence[str]) -> ResultTable:
    theirs = published(PAPER)['table5']
    lines = []
    for load in loads:
        pounds = load.removeprefix('dumbbell_')
        ours = [_range(_of(rows, load, method, 'condition')) for method in METHODS]
        lines.append((pounds, *ours, *(f'{theirs[pounds][method]:.0f}' for method in METHODS)))
    return ResultTable(
        'Condition number of Y after four plans (Table V)',
        ('load', 'ours', 'random', 'published: ours', 'published: random'),
        tuple(lines),
        (
            'Median (range) over trials, SI units, windows of 100 ms. Start, range of k and how '
            'random plans were drawn differ from those of the paper, which does not print them.',
        ),
    )


def _mass(rows: Sequence[Row], loads: Sequence[str]) -> ResultTable:
    """Half width of the mass as time goes (figure 5)."""
    times = (0.0, 1.0, 3.0, 4.5, 6.0, 9.0)
    lines = [
        (
            load.removeprefix('dumbbell_'),
            method,
            *(_width_at(rows, load, method, t) for t in times),
        )
        for load in loads
        for method in METHODS
    ]
    return ResultTable(
        'Half width of the mass [kg] over time (figure 5)',
        ('load', 'plans', *(f'{t:g} s' for t in times)),
        tuple(lines),
        ('Median over trials of what is guaranteed; the arm rests for the first 1.5 s.',),
    )


def _width_at(rows: Sequence[Row], load: str, method: str, t: float) -> str:
    widths = []
    for row in rows:
        if row['load'] == load and row['method'] == method:
            history = MassHistory.of_text(str(row['mass_history']))
            i = int(np.searchsorted(history.t, t, side='right')) - 1
            widths.append(0.5 * (history.upper[max(i, 0)] - history.lower[max(i, 0)]))
    return f'{np.median(widths):.3f}' if widths else '–'


def _intervals(rows: Sequence[Row], load: str) -> ResultTable:
    """Half widths of the ten parameters (figures 6 to 10)."""
    lines = []
    for i, label in enumerate(LABELS):
        cells = [f'{0.5 * (TABLE_I_UPPER[i] - TABLE_I_LOWER[i]):.3f}']
        for method in METHODS:
            upper, lower, true = (
                np.array(_of(rows, load, method, f'{kind}_{label}'))
                for kind in ('upper', 'lower', 'true')
            )
            outside = int(np.sum((true < lower) | (true > upper)))
            cells += [f'{np.median(0.5 * (upper - lower)):.4f}', f'{outside}/{len(true)}']
        lines.append((label, *cells))
    return ResultTable(
        f'Intervals of {load} with the gripper (figures 6 to 10)',
        ('', 'Table I', 'ours', 'truth outside', 'random', 'truth outside'),
        tuple(lines),
        ('Half widths [kg, kg m, kg m2], median over trials, after four plans.',),
    )


def _of(rows: Sequence[Row], load: str, method: str, column: str) -> list[float]:
    return [
        float(str(row[column])) for row in rows if row['load'] == load and row['method'] == method
    ]


def _range(values: Sequence[float]) -> str:
    if not values:
        return '–'
    return f'{np.median(values):.0f} ({min(values):.0f}–{max(values):.0f})'
