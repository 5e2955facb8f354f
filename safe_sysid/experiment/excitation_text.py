"""Tables of exciting motions, and of signals and regressions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.experiment.excitation import CRITERIA, REGRESSIONS, SIGNALS
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.trial import Row

PAPER = 'excitation_constraints'


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return motions, then what a recording of one is good for."""
    motions = [row for row in rows if row['kind'] == 'motion']
    fits = [row for row in rows if row['kind'] == 'fit']
    found = [_motions(motions)] if motions else []
    return [*found, _errors(fits), _torques(fits)] if fits else found


def _motions(rows: Sequence[Row]) -> ResultTable:
    theirs = published(PAPER)
    lines = []
    for criterion in CRITERIA:
        some = [row for row in rows if row['criterion'] == criterion]
        if some:
            conditions = _numbers(some, 'condition')
            seconds = np.median(_numbers(some, 'cpu_s'))
            lines.append(
                (
                    criterion,
                    str(len(some)),
                    f'{min(conditions):.0f}',
                    f'{np.median(conditions):.0f}',
                    f'{max(conditions):.0f}',
                    f'{seconds:.1f}',
                    f'{min(_numbers(some, "clearance_mm")):.1f}',
                    f'{sum(bool(row["proven"]) for row in some)}/{len(some)}',
                )
            )
    columns = (
        *('minimised', 'starts', 'best condition', 'median', 'worst', 'CPU s a start'),
        *('least clearance [mm]', 'proven'),
    )
    return ResultTable(
        'Motions of an LBR Med 7 with a rod',
        columns,
        tuple(lines),
        (
            f'Published: {theirs["condition"]} after {theirs["search_minutes"]} minutes. '
            'Condition numbers of other columns, units and friction models cannot be compared: '
            'ours are those of `safe-sysid bench excite`.',
        ),
    )


def _errors(rows: Sequence[Row]) -> ResultTable:
    lines = []
    for signals in SIGNALS:
        for regression in REGRESSIONS:
            some = _cell(rows, signals, regression)
            if some:
                impossible = sum(_numbers(some, 'bodies_that_cannot_exist'))
                lines.append(
                    (
                        signals,
                        regression,
                        f'{np.median(_numbers(some, "acceleration_error")):.3f}',
                        f'{100.0 * np.median(_numbers(some, "torque_error_share")):.2f}',
                        f'{impossible:.0f} of {7 * len(some)}',
                    )
                )
    return ResultTable(
        'Signals and regressions',
        (
            *('signals', 'regression', 'acceleration error [rad/s2]'),
            *('torque error [%]', 'bodies that cannot exist'),
        ),
        tuple(lines),
        (
            'Of one motion of 10 s at 100 Hz, median over arms; torque error: rms on another '
            'motion, as a share of the rms torque. Bounds around a description that is wrong by '
            'more than they allow cost accuracy, and bodies within them may still not exist.',
        ),
    )


def _torques(rows: Sequence[Row]) -> ResultTable:
    """Largest errors of torque, as published for two joints."""
    theirs = published(PAPER)['largest_torque_error']
    some = _cell(rows, 'zero phase', 'semidefinite') or _cell(rows, 'harmonics', 'semidefinite')
    lines = tuple(
        (joint, f'{np.median(_numbers(some, f"largest_error_{joint}")):.2f}', f'{value:.1f}')
        for joint, value in theirs.items()
    )
    return ResultTable(
        'Largest torque error on another motion [N m]',
        ('joint', 'ours, simulated', 'published'),
        lines,
        ('Zero phase and a semidefinite program; theirs are of the real arm.',),
    )


def _cell(rows: Sequence[Row], signals: str, regression: str) -> list[Row]:
    return [r for r in rows if r['signals'] == signals and r['regression'] == regression]


def _numbers(rows: Sequence[Row], column: str) -> list[float]:
    return [float(str(row[column])) for row in rows]
