"""Table III beyond the paper: what each method broke, when each wins, what excitations cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.stacking.course import BANDWIDTH, DELAY, NOISE, PLANTS, RIPPLE
from safe_sysid.experiment.stacking.methods import EVERY, EXCITATIONS
from safe_sysid.experiment.stacking.table3 import count_of
from safe_sysid.experiment.trial import Row

DECIDING = 'success_15mm'
BROKEN: dict[str, Callable[[Row], bool]] = {
    'contact': lambda row: bool(row['touched']),
    'torque limit': lambda row: _number(row, 'clipped_share') > 0.0,
    'velocity limit': lambda row: _number(row, 'velocity_share') > 1.0,
    'position limit': lambda row: _number(row, 'outside_position') > 0.0,
    'not in its place': lambda row: bool(
        row['failed_in'] == 'task' and not row['touched'] and not row['limit_broken']
    ),
    'limits while excited': lambda row: row['failed_in'] == 'excite',
    'promised error': lambda row: _number(row, 'bound_margin', 1.0) < 0.0,
}


def broken(rows: Sequence[Row], plant: str) -> ResultTable:
    """How often each method broke what, over all tasks and loads."""
    lines = []
    for method in EVERY:
        some = [row for row in rows if row['method'] == method]
        if some:
            counts = tuple(str(sum(map(is_so, some))) for is_so in BROKEN.values())
            promised = counts[-1] if EVERY[method].is_certified else 'has none'
            lines.append((method, str(len(some)), *counts[:-1], promised))
    columns = ('method', 'trials', *BROKEN)
    sentences = (
        'Trials of all tasks and loads. A torque above its limit is cut off there. Promised '
        'error: larger than the tracking error that the bounds of a method allow.',
    )
    return ResultTable(f'What was broken, {plant} plant', columns, tuple(lines), sentences)


def side_by_side(rows: Sequence[Row]) -> ResultTable:
    """Success and errors of each method on every plant, for the cells that all plants have."""
    plants = [name for name in PLANTS if any(row['plant'] == name for row in rows)]
    cells = set.intersection(*({_cell(r) for r in rows if r['plant'] == p} for p in plants))
    shared = [row for row in rows if _cell(row) in cells]
    lines, tracked = [], {}
    for method in EVERY:
        found: list[str] = []
        for plant in plants:
            some = [r for r in shared if (r['method'], r['plant']) == (method, plant)]
            if not some:
                found += ['–', '–']
                continue
            tracked[method, plant] = float(
                np.median([_number(r, 'largest_error_mm') for r in some])
            )
            found += [f'{count_of(some, DECIDING)}/{len(some)}', f'{tracked[method, plant]:.1f}']
        lines.append((method, *found))
    columns = ('method', *(x for p in plants for x in (f'{p}: success', 'largest [mm]')))
    return ResultTable(
        'When each wins',
        columns,
        tuple(line for line in lines if any(cell != '–' for cell in line[1:])),
        (
            'Cells that are done on every plant; largest: median of the largest error on the way. '
            f'ideal: exact states and drives. noisy: velocities wrong by up to {NOISE} rad/s. '
            f'drives: noisy, and torques act {1e3 * DELAY[0]:g} to {1e3 * DELAY[1]:g} ms late, '
            f'are followed at {BANDWIDTH:g} Hz and wrong by up to {RIPPLE} N m.',
            *(_best(tracked, plant) for plant in plants),
        ),
    )


def _best(tracked: dict[tuple[str, str], float], plant: str) -> str:
    """Say who tracks best on a plant, and where ours and conservative stand."""
    order = sorted((value, name) for (name, on), value in tracked.items() if on == plant)
    places = {name: (place, value) for place, (value, name) in enumerate(order, 1)}
    said = ', '.join(
        f'{name} is number {places[name][0]} ({places[name][1]:.1f} mm)'
        for name in ('ours', 'conservative')
        if name in places and name != order[0][1]
    )
    best = f'On the {plant} plant {order[0][1]} tracks best ({order[0][0]:.1f} mm)'
    return f'{best}; {said}.' if said else f'{best}.'


def _cell(row: Row) -> tuple[object, ...]:
    return row['method'], row['task'], row['load'], row['number']


def excited(rows: Sequence[Row]) -> list[ResultTable]:
    """Width of what was learned beside the condition number, by excitation."""
    lines = []
    for kind in EXCITATIONS:
        some = [row for row in rows if row['excitation'] == kind]
        if some:
            lines.append(
                (
                    kind,
                    str(len(some)),
                    _range(some, 'condition'),
                    _range(some, 'mass_half_width'),
                    _range([{'x': abs(_number(r, 'mass_error'))} for r in some], 'x'),
                    _range(some, 'excite_torque_share'),
                    str(count_of(some, 'excite_touches_itself')),
                    f'{count_of(some, "truth_inside")}/{len(some)}',
                )
            )
    columns = (
        *('excitation', 'trials', 'condition of Y', 'half width of the mass [kg]'),
        *('error of the mass [kg]', 'asks for', 'touches itself', 'truth inside'),
    )
    sentence = 'Least to largest over loads and arms; asks for: torque as a share of its limit.'
    title = 'What excitations teach: width against condition number'
    return [ResultTable(title, columns, tuple(lines), (sentence,))] if lines else []


def _range(rows: Sequence[Row], column: str) -> str:
    values = [_number(row, column) for row in rows]
    return f'{min(values):.3g} to {max(values):.3g}'


def _number(row: Row, column: str, otherwise: float = 0.0) -> float:
    value = row.get(column)
    return otherwise if value is None else float(str(value))
