"""Table III as tables to read: ours beside theirs, with intervals, and what each method broke."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from safe_sysid.experiment.proportions import clopper_pearson, mcnemar, wilson
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.stacking.methods import EVERY, METHODS
from safe_sysid.experiment.stacking.scene import scene_names
from safe_sysid.experiment.stacking.table3 import (
    LOADS,
    TOLERANCES,
    count_of,
    of_excitations,
    of_tasks,
    of_tunings,
)
from safe_sysid.experiment.stacking.table3_compared import (
    DECIDING,
    broken,
    excited,
    side_by_side,
)
from safe_sysid.experiment.stacking.table3_more import best_gains, narrow, with_empty_arm
from safe_sysid.experiment.trial import Row

PAPER = 'provably_safe_online'
NOT_DONE = '–'
PUBLISHED_LAW = tuple(name for name, method in EVERY.items() if method.law == 'published')


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return all tables of a campaign, one set for each plant."""
    found, taught, tuned = [], of_excitations(rows), of_tunings(rows)
    rows = of_tasks(rows)
    for plant in dict.fromkeys(str(row['plant']) for row in rows):
        some = [row for row in rows if row['plant'] == plant]
        found += [_beside(some, plant), _rates(some, plant), broken(some, plant)]
        found.append(_paired(some, plant))
    found += [side_by_side(rows), _violations(rows), *narrow(rows), *best_gains(rows, tuned)]
    return [*found, *excited(taught), *with_empty_arm(taught)]


def _beside(rows: Sequence[Row], plant: str) -> ResultTable:
    """First load at which a method fails, ours beside theirs."""
    theirs = published(PAPER)['table3']
    lines = [
        (
            method,
            *(
                cell
                for task in scene_names()
                for cell in (
                    _first_failure(rows, method, task),
                    str(theirs[_published_name(method)][task]),
                )
            ),
        )
        for method in (*METHODS, *PUBLISHED_LAW)
    ]
    columns = (
        'method',
        *(f'{task}, {who}' for task in scene_names() for who in ('ours', 'theirs')),
    )
    sentences = (
        'a and b: the first load at which a method fails in most trials (none: at none of those '
        'tried); c: whether it touches a wall with 8 lb. Theirs: hardware, five trials a cell. '
        'Rows that end in published have the robust law, its gain and V_M as they are published.',
    )
    return ResultTable(f'First failure, {plant} plant', columns, tuple(lines), sentences)


def _published_name(method: str) -> str:
    return method.removesuffix('-published')


def _first_failure(rows: Sequence[Row], method: str, task: str) -> str:
    of_method = [row for row in rows if row['method'] == method and row['task'] == task]
    if not of_method:
        return NOT_DONE
    if task == 'c':
        passed = _mostly(of_method, lambda row: bool(row[DECIDING]))
        touched = _mostly(of_method, lambda row: bool(row['touched']))
        return 'success' if passed else 'collide' if touched else 'limit'
    for load in LOADS:
        some = [row for row in of_method if row['load'] == load]
        if some and not _mostly(some, lambda row: bool(row[DECIDING])):
            return load.removeprefix('dumbbell_')
    return 'none'


def _mostly(rows: Sequence[Row], holds: Callable[[Row], bool]) -> bool:
    return 2 * sum(map(holds, rows)) > len(rows)


def _rates(rows: Sequence[Row], plant: str) -> ResultTable:
    """How often each method succeeds, its errors, and what it breaks."""
    lines = []
    for method in EVERY:
        for task in scene_names():
            some = [r for r in rows if r['method'] == method and r['task'] == task]
            if some:
                lines.append((method, task, *_rate(some)))
    columns = (
        *('method', 'task', 'trials', 'success', 'Wilson 95 %'),
        *(f'at {tolerance:.0f} mm' for tolerance in TOLERANCES),
        *('place [mm]', 'largest [mm]', 'contact', 'limit', 'asks for', '|change|'),
    )
    sentences = (
        'Success: no contact, no limit broken (a torque above its limit is cut off and counts), '
        'and in a and b placed within 15 mm and 5 degrees half a second after the motion. '
        'place, largest: median over trials of the error of the load at the end, and on the way. '
        'asks for: largest torque as a share of its limit. '
        '|change|: mean change of a torque from one millisecond to the next [N m].',
    )
    return ResultTable(f'Success and errors, {plant} plant', columns, tuple(lines), sentences)


def _rate(rows: Sequence[Row]) -> tuple[str, ...]:
    n, k = len(rows), count_of(rows, DECIDING)
    lower, upper = wilson(k, n)
    return (
        str(n),
        f'{k}/{n}',
        f'{100 * lower:.0f}–{100 * upper:.0f} %',
        *(f'{count_of(rows, f"success_{tolerance:.0f}mm")}/{n}' for tolerance in TOLERANCES),
        f'{_median(rows, "final_error_mm"):.1f}',
        f'{_median(rows, "largest_error_mm"):.1f}',
        str(count_of(rows, 'touched')),
        str(count_of(rows, 'limit_broken')),
        f'{max(_numbers(rows, "torque_share")):.2f}',
        f'{_median(rows, "torque_change"):.1f}',
    )


def _paired(rows: Sequence[Row], plant: str) -> ResultTable:
    """Ours against each other method on the same arms, loads and sensors."""
    ours = {_cell(row): bool(row[DECIDING]) for row in rows if row['method'] == 'ours'}
    lines = []
    for method in EVERY:
        theirs = {_cell(row): bool(row[DECIDING]) for row in rows if row['method'] == method}
        both = [cell for cell in theirs if cell in ours]
        if method == 'ours' or not both:
            continue
        only_ours = sum(ours[cell] and not theirs[cell] for cell in both)
        only_theirs = sum(theirs[cell] and not ours[cell] for cell in both)
        p = mcnemar(only_ours, only_theirs)
        lines.append((method, str(len(both)), str(only_ours), str(only_theirs), f'{p:.3f}'))
    columns = ('method', 'pairs', 'only ours succeeds', 'only it succeeds', 'McNemar p')
    return ResultTable(f'Ours against each, {plant} plant', columns, tuple(lines), ())


def _cell(row: Row) -> tuple[object, ...]:
    return row['task'], row['load'], row['number'], row['plant']


def _violations(rows: Sequence[Row]) -> ResultTable:
    """Count what certificates promised, and what was kept of it."""
    lines = []
    for name, method in EVERY.items():
        some = [row for row in rows if row['method'] == name]
        if not method.is_certified or not some:
            continue
        valid = [row for row in some if row['certified'] and not row['assumption_false']]
        broken = count_of(valid, 'motion_broken')
        outside = sum(row.get('truth_inside') is False for row in some)
        most = clopper_pearson(broken, len(valid))[1]
        lines.append(
            (
                name,
                str(len(some)),
                str(count_of(some, 'certified')),
                str(len(valid)),
                str(broken),
                f'{100 * most:.0f} %' if valid else NOT_DONE,
                f'{min(_numbers(some, "bound_margin")):.2f}',
                str(outside),
            )
        )
    columns = (
        *('method', 'tasks', 'certified', 'of them as assumed', 'violations'),
        *('at most (95 %)', 'least margin of |e|', 'truth outside'),
    )
    sentences = (
        'A task counts where its motion is certified for what the method knows, and what the '
        'certificate assumes is true. Velocities are wrong on the noisy plant: there ours follows '
        'by the law that reads positions only, where the motion is certified for that, else by '
        'the one that takes velocities as exact, and then nothing is promised; ours-velocities '
        'always does. Bounds of ours-stat hold with a confidence only. Certificates of task c are '
        'for the narrowest walls that they can be had for. at most: upper end of the interval of '
        'Clopper and Pearson. margin: 1 is no error at all, 0 the bound.',
    )
    return ResultTable('What was promised', columns, tuple(lines), sentences)


def _numbers(rows: Sequence[Row], column: str) -> list[float]:
    return [float(str(row[column])) for row in rows if row.get(column) is not None]


def _median(rows: Sequence[Row], column: str) -> float:
    return float(np.median(_numbers(rows, column)))
