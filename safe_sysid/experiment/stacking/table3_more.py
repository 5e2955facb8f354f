"""Table III beyond the paper: narrower paths, other gains of baselines, a tare and statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.stacking.course import clearance_column
from safe_sysid.experiment.stacking.methods import EVERY, RULE, TUNINGS
from safe_sysid.experiment.stacking.scene import GAPS
from safe_sysid.experiment.stacking.table3 import TUNED_ON, count_of
from safe_sysid.experiment.stacking.table3_compared import DECIDING
from safe_sysid.experiment.trial import Row

NONE = '–'


def narrow(rows: Sequence[Row]) -> list[ResultTable]:
    """Who passes walls that leave less room, and for which its motion is certified."""
    rows = [row for row in rows if row['task'] == 'c']
    plants = dict.fromkeys(str(row['plant']) for row in rows)
    lines = []
    for method in EVERY:
        cells = []
        for plant in plants:
            some = [row for row in rows if (row['method'], row['plant']) == (method, plant)]
            passed = [gap for gap in GAPS if some and _untouched(some, gap) == len(some)]
            certified = [row.get('certified_gap_mm') for row in some]
            proven = [float(str(gap)) for gap in certified if gap is not None]
            all_proven = some and len(proven) == len(some)
            cells += [
                *('/'.join((str(_untouched(some, gap)), str(len(some)))) for gap in GAPS),
                f'{min(passed):g}' if passed else NONE,
                f'{max(proven):g}' if all_proven else NONE,
            ]
        lines.append((method, *cells))
    columns = [
        f'{plant}: {each}'
        for plant in plants
        for each in (*(f'{gap:g} mm' for gap in GAPS), 'tightest', 'certified')
    ]
    sentence = (
        'Task c: trials that touched no wall, of walls that leave so much beside the motion; '
        'tightest: of those that every trial passed; certified: for which every trial was. '
        'The course does not depend on the walls.'
    )
    title = 'The narrow path: which gap each method passes'
    return [ResultTable(title, ('method', *columns), tuple(lines), (sentence,))] if rows else []


def _untouched(rows: Sequence[Row], gap: float) -> int:
    return sum(float(str(row[clearance_column(gap)])) > 0.0 for row in rows)


def best_gains(rows: Sequence[Row], tuned: Sequence[Row]) -> list[ResultTable]:
    """Every baseline at the gains that turned out best, beside those of the rule and ours."""
    if not tuned:
        return []
    cells = {_cell(row) for row in tuned}
    same = [row for row in rows if row['plant'] == TUNED_ON and _cell(row) in cells]
    lines = [('ours', NONE, NONE, *_figures([row for row in same if row['method'] == 'ours']))]
    for method in TUNINGS:
        ruled = [row for row in same if row['method'] == method]
        groups: dict[tuple[float, float], list[Row]] = {(RULE.feedback, RULE.rates): ruled}
        for row in tuned:
            if row['method'] == method:
                gains = float(str(row['feedback'])), float(str(row['rates']))
                groups.setdefault(gains, []).append(row)
        (feedback, rates), best = min(groups.items(), key=lambda group: _worth(group[1]))
        learns = 'adap' in method
        lines.append((method, 'rule', 'rule' if learns else NONE, *_figures(ruled)))
        more = f'{rates:g} times' if learns else NONE
        lines.append((method, f'{feedback:g} times', more, *_figures(best)))
    columns = (
        *('method', 'feedback', 'adaptation', 'tasks', 'success', 'place [mm]'),
        *('largest [mm]', 'asks for', '|change|'),
    )
    sentences = (
        f'Heaviest load, {TUNED_ON} plant. Of each baseline first the gains of the rule, then the '
        'best of those tried (most successes, then the least error on the way), chosen after all '
        'were seen: in favour of the baseline. What was adapted while excited is that of the '
        'rule.',
    )
    return [ResultTable('Every baseline at its best gains', columns, tuple(lines), sentences)]


def _worth(rows: Sequence[Row]) -> tuple[int, float]:
    """Order of what gains come to: the least is best."""
    return -count_of(rows, DECIDING), _median(rows, 'largest_error_mm') if rows else np.inf


def _figures(rows: Sequence[Row]) -> tuple[str, ...]:
    if not rows:
        return (NONE,) * 6
    return (
        str(len(rows)),
        f'{count_of(rows, DECIDING)}/{len(rows)}',
        f'{_median(rows, "final_error_mm"):.1f}',
        f'{_median(rows, "largest_error_mm"):.1f}',
        f'{max(float(str(row["torque_share"])) for row in rows):.2f}',
        f'{_median(rows, "torque_change"):.1f}',
    )


def _cell(row: Row) -> tuple[object, ...]:
    return row['task'], row['load'], row['number']


def with_empty_arm(rows: Sequence[Row]) -> list[ResultTable]:
    """Width of the mass by a tare and by statistics, beside that of the loaded arm alone."""
    rows = [row for row in rows if row.get('tare_mass_half_width') is not None]
    lines = []
    for load in dict.fromkeys(str(row['load']) for row in rows):
        some = [row for row in rows if row['load'] == load]
        given = [row for row in some if row.get('stat_mass_half_width') is not None]
        lines.append(
            (
                load,
                str(len(some)),
                f'{_median(some, "mass_half_width"):.3f}',
                f'{_median(some, "tare_mass_half_width"):.3f}',
                f'{count_of(some, "tare_holds_truth")}/{len(some)}',
                f'{_median(given, "stat_mass_half_width"):.3f}' if given else NONE,
                f'{count_of(given, "stat_holds_truth")}/{len(given)}',
                str(len(some) - len(given)),
            )
        )
    columns = (
        *('load', 'arms', 'loaded alone', 'with a tare', 'truth inside'),
        *('statistical, 95 %', 'truth inside', 'withheld'),
    )
    sentence = (
        'Half width of the mass [kg], median over arms. Tare: the empty arm followed the same '
        'plans before. Statistical: of the difference of both recordings; where it is withheld '
        'ours-stat has the guaranteed bounds.'
    )
    title = 'What an empty arm adds: tare and statistical interval'
    return [ResultTable(title, columns, tuple(lines), (sentence,))] if lines else []


def _median(rows: Sequence[Row], column: str) -> float:
    return float(np.median([float(str(row[column])) for row in rows]))
