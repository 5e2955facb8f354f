"""Tables I to IV of a constrained robot: both legs, joint by joint, ours beside theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.digit import MODELS, SIDES, SPEEDS
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.trial import Row

PAPER = 'constrained_robots'
NOT_DONE = '–'


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return errors of torque and of free motion, then of tracking at each speed."""
    torque = [row for row in rows if row['judged_by'] == 'torque']
    found = []
    if torque:
        found += [
            _judged(torque, 'table1', 'torque_rms', 'RMS torque error [N m] (Table I)', ()),
            _judged(
                torque,
                'table2',
                'free_l2',
                'Free motion [rad] (Table II)',
                (
                    'Root of the sum of squares over all samples of pieces of 0.5 s, which grows '
                    f'with their number: {torque[0]["samples"]} samples here.',
                ),
            ),
        ]
    for speed in SPEEDS:
        some = [row for row in rows if row['judged_by'] == str(speed)]
        if some:
            found.append(_tracked(some, speed))
    return found


def _judged(
    rows: Sequence[Row], table: str, column: str, heading: str, sentences: tuple[str, ...]
) -> ResultTable:
    """Set identified, described and true parameters beside the published pair."""
    printed = published(PAPER)
    lines = [
        (
            f'{side} {joint}',
            *(_median(rows, side, f'{column}_{model}_{i}') for model in (*MODELS, 'true')),
            *(f'{value:.2f}' for value in printed[table][side][i]),
        )
        for side in SIDES
        for i, joint in enumerate(printed['joints'])
    ]
    worse = _worse(rows, column, len(printed['joints']))
    theirs = sum(a > b for side in SIDES for a, b in printed[table][side])
    said = (
        *sentences,
        f'Median over {_count(rows)} draws of the truth a leg; identified is worse than '
        f'described in {worse} of {len(lines)} joints, theirs in {theirs}.',
    )
    columns = (
        *('joint', 'identified', 'described', 'true parameters'),
        *('published: identified', 'published: manufacturer'),
    )
    return ResultTable(heading, columns, tuple(lines), said)


def _worse(rows: Sequence[Row], column: str, joints: int) -> int:
    return sum(
        _value(rows, side, f'{column}_identified_{i}')
        > _value(rows, side, f'{column}_manufacturer_{i}')
        for side in SIDES
        for i in range(joints)
    )


def _tracked(rows: Sequence[Row], speed: float) -> ResultTable:
    """Mean and largest error of tracking."""
    printed, key = published(PAPER), f'{speed:g}'
    lines = []
    for side in SIDES:
        for i, joint in enumerate(printed['joints']):
            ours = [
                f'{_median(rows, side, f"mean_{model}_{i}")}, '
                f'{_median(rows, side, f"largest_{model}_{i}")}'
                for model in MODELS
            ]
            theirs = [
                _pair(printed[kind].get(key, {}).get(side), i)
                for kind in ('tracking', 'manufacturer')
            ]
            lines.append((f'{side} {joint}', *ours, *theirs))
    saturated = max(float(str(row[f'saturated_{model}'])) for row in rows for model in MODELS)
    return ResultTable(
        f'Tracking sines of {key} rad/s: mean, largest error [degrees] (Tables III and IV)',
        ('joint', 'identified', 'described', 'published: identified', 'published: manufacturer'),
        tuple(lines),
        (
            f'Median over {_count(rows)} draws. Gains are ours, the same for both; a torque was '
            f'at its limit in at most {100.0 * saturated:.0f} % of the samples of a trial, which '
            'hides what parameters do.',
        ),
    )


def _pair(entries: Sequence[Sequence[float]] | None, i: int) -> str:
    return NOT_DONE if entries is None else f'{entries[i][0]:.2f}, {entries[i][1]:.2f}'


def _median(rows: Sequence[Row], side: str, column: str) -> str:
    return f'{_value(rows, side, column):.3g}'


def _value(rows: Sequence[Row], side: str, column: str) -> float:
    return float(np.median([float(str(row[column])) for row in rows if row['side'] == side]))


def _count(rows: Sequence[Row]) -> int:
    return len({row['number'] for row in rows})
