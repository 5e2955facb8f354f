"""Table III on a page: who succeeds how often, with intervals, and errors over the loads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.proportions import wilson
from safe_sysid.experiment.stacking.methods import EVERY
from safe_sysid.experiment.stacking.table3 import LOADS, count_of, of_tasks
from safe_sysid.experiment.stacking.table3_compared import DECIDING
from safe_sysid.experiment.stacking.table3_figures import adapted_masses, figures
from safe_sysid.experiment.trial import OK, Row
from safe_sysid.report.html_page import Bars, Line, Plot, Section

OURS = 'ours'
SHOWN = 7  # methods in one plot, as many as there are colours
PERCENT = '%'


def answer(rows: Sequence[Row]) -> tuple[str, str]:
    """Say how often ours succeeds, and who comes next."""
    rates = _rates([row for row in of_tasks(rows) if row['status'] == OK])
    if OURS not in rates:
        return 'Ours was not tried.', 'No trial of it has a result.'
    k, n = rates.pop(OURS)
    said = f'Ours succeeds in {k} of {n} trials.'
    if not rates:
        return said, 'No other method has a result.'
    other = max(rates, key=lambda name: rates[name][0] / rates[name][1])
    least, most = (100.0 * x for x in wilson(k, n))
    return said, (
        f'That is {least:.0f} to {most:.0f} % with 95 % confidence. Of the others {other} comes '
        f'next, with {rates[other][0]} of {rates[other][1]}.'
    )


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return bars and plots, a section for each plant."""
    done = [row for row in of_tasks(rows) if row['status'] == OK]
    plants = dict.fromkeys(str(row['plant']) for row in done)
    rates = [_section([row for row in done if row['plant'] == p], p) for p in plants]
    noisy = [row for row in done if row['plant'] == 'noisy']
    return [*rates, *adapted_masses(noisy), *figures(done)]


def _rates(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    """Successes and trials of every method that has any."""
    found = {}
    for method in EVERY:
        some = [row for row in rows if row['method'] == method]
        if some:
            found[method] = count_of(some, DECIDING), len(some)
    return found


def _section(rows: Sequence[Row], plant: str) -> Section:
    rates = _rates(rows)
    inside = 100.0 * np.array([wilson(k, n) for k, n in rates.values()])
    share = np.array([100.0 * k / n for k, n in rates.values()])
    none = np.zeros(len(rates))
    bars = Bars(
        tuple(rates),
        (PERCENT,) * len(rates),
        np.array([0.0, 1.0]),
        np.stack([none, inside[:, 0]]),
        np.stack([none, share]),
        np.stack([none + 100.0, inside[:, 1]]),
        words=('0 to 100 % of all trials', '95 % interval (Wilson)', 'succeeded'),
    )
    lead = 'All tasks and loads together: no contact, no limit broken, and placed within 15 mm.'
    return Section(f'Who succeeds, {plant} plant', lead, _plots(rows, rates), bars=bars)


def _plots(rows: Sequence[Row], rates: dict[str, tuple[int, int]]) -> tuple[Plot, ...]:
    best = sorted(rates, key=lambda name: -rates[name][0] / rates[name][1])[:SHOWN]
    kinds = (('final_error_mm', 'place at the end'), ('largest_error_mm', 'largest on the way'))
    plots = []
    for column, title in kinds:
        lines = tuple(
            line
            for number, method in enumerate(best)
            if (line := _line(rows, method, column, number)) is not None
        )
        plots.append(Plot(title, 'median error [mm]', lines, x_label='load [lb]', y_scale='log'))
    return tuple(plots)


def _line(rows: Sequence[Row], method: str, column: str, color: int) -> Line | None:
    """Median of a column over the loads."""
    found = []
    for load in LOADS:
        some = [r[column] for r in rows if r['method'] == method and r['load'] == load]
        numbers = [float(str(x)) for x in some if x is not None]
        if numbers:
            pounds = float(load.removeprefix('dumbbell_').removesuffix('lb'))
            found.append((pounds, float(np.median(numbers))))
    if not found:
        return None
    x, y = np.array(found).T
    return Line(method, x, y, color=color, style='line' if len(x) > 1 else 'points')
