"""Figures 11 and 12: tracking error and commanded torque of all methods, load by load."""

from __future__ import annotations

from collections.abc import Sequence
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.kinova_dumbbell import PERIOD
from safe_sysid.experiment.stacking.course import DRAWN, HOLDING
from safe_sysid.experiment.stacking.methods import EVERY
from safe_sysid.experiment.trial import Row
from safe_sysid.report.html_page import Band, Line, Plot, Section

FIGURES = {'a': 'Figure 11', 'b': 'Figure 12'}
SHOWN = 6  # methods in a plot, one colour is left for the limit


def figures(rows: Sequence[Row]) -> list[Section]:
    """Return a section for each figure and plant, of the first trial of every cell."""
    drawn = [row for row in rows if row.get('error_history') is not None]
    plants = dict.fromkeys(str(row['plant']) for row in drawn)
    return [
        section
        for task, name in FIGURES.items()
        for plant in plants
        for section in _section(
            [row for row in drawn if (row['task'], row['plant']) == (task, plant)],
            f'{name}: task {task}, {plant} plant',
        )
    ]


def adapted_masses(rows: Sequence[Row]) -> list[Section]:
    """Return what adaptive laws take for the mass in task b (figure 5), load by load."""
    rows = [row for row in rows if row['task'] == 'b' and row.get('adapted_mass') is not None]
    plots = []
    for load in dict.fromkeys(str(row['load']) for row in rows):
        some = [row for row in rows if row['load'] == load]
        lines = []
        for color, row in enumerate(some):
            t, mass = np.array(json.loads(str(row['adapted_mass']))).T
            lines.append(Line(str(row['method']), t, mass, color))
        true = np.full(2, float(str(some[0]['true_mass'])))
        lines.append(Line('truth', lines[0].x[[0, -1]], true, len(some), 'truth'))
        plots.append(Plot(f'mass with {load}', 'kg', tuple(lines)))
    lead = 'Of the end effector with the load; adap-1 and adap-2 begin with an empty gripper.'
    heading = 'Figure 5, the task: mass that adaptive laws adapt'
    return [Section(heading, lead, tuple(plots))] if plots else []


def _section(rows: Sequence[Row], heading: str) -> list[Section]:
    if not rows:
        return []
    lead = (
        f'Of the joint that is worst at each instant; the arm holds the load at rest for '
        f'{HOLDING:g} s. Bands: the error that the bounds of ours promise, and torque limits.'
    )
    names = list(EVERY)
    plots = [
        plot
        for load in dict.fromkeys(str(row['load']) for row in rows)
        for some in (names[i : i + SHOWN] for i in range(0, len(names), SHOWN))
        for plot in _plots([row for row in rows if row['load'] == load], some, load)
    ]
    return [Section(heading, lead, tuple(plots))]


def _plots(rows: Sequence[Row], names: Sequence[str], load: str) -> list[Plot]:
    """Errors and torques of some methods with one load."""
    ours = [row for row in rows if row['method'] == 'ours' and row.get('bound_rad') is not None]
    bounds = [float(str(row['bound_rad'])) for row in ours]
    chosen = [row for row in rows if row['method'] in names]
    return [
        _plot(f'tracking error, {load}', 'rad', chosen, 'error_history', bounds),
        _plot(f'torque, {load}', 'share of its limit', chosen, 'torque_history', [1.0]),
    ]


def _plot(
    title: str, label: str, rows: Sequence[Row], column: str, bounds: Sequence[float]
) -> Plot:
    lines, end = [], 0.0
    for color, row in enumerate(rows):
        y = np.array(json.loads(str(row[column])))
        x: Array = DRAWN * PERIOD * np.arange(len(y), dtype=float)
        end = max(end, float(x[-1]))
        lines.append(Line(str(row['method']), x, y, color))
    time = np.array([0.0, end])
    bands = tuple(
        Band('allowed', time, np.zeros(2), np.full(2, bound), len(lines)) for bound in bounds
    )
    return Plot(title, label, tuple(lines), bands)
