"""Tables and figures of exciting motions, signals, regressions and hand guiding."""

from __future__ import annotations

from collections.abc import Sequence
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.drift import EVERY, PUSH, PUSHED, SECONDS
from safe_sysid.experiment.drift import RATE as GUIDED_RATE
from safe_sysid.experiment.excitation import (
    CRITERIA,
    DRAWN,
    GUIDED_BY,
    RATE,
    REGRESSIONS,
    SIGNALS,
)
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.trial import Row
from safe_sysid.report.html_page import Line, Plot, Section

PAPER = 'excitation_constraints'
LARGEST_DRIFT = 1.0  # [mm] in a minute


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return motions, then what a recording of one is good for."""
    motions = [row for row in rows if row['kind'] == 'motion']
    fits = [row for row in rows if row['kind'] == 'fit']
    drifts = [row for row in rows if row['kind'] == 'drift']
    found = [_motions(motions)] if motions else []
    found += [_errors(fits), _torques(fits)] if fits else []
    return [*found, _drifts(drifts)] if drifts else found


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


def _drifts(rows: Sequence[Row]) -> ResultTable:
    """Tell what hand guiding does untouched, and when pushed."""
    lines = []
    for name in GUIDED_BY:
        some = [row for row in rows if row['model'] == name]
        if some:
            lines.append(
                (
                    name,
                    str(len(some)),
                    f'{np.median(_numbers(some, "drift_mm")):.2f}',
                    f'{max(_numbers(some, "drift_mm")):.2f}',
                    f'{sum(x < LARGEST_DRIFT for x in _numbers(some, "drift_mm"))}/{len(some)}',
                    f'{np.median(_numbers(some, "force_rms")):.2f}',
                    f'{max(_numbers(some, "force_largest")):.1f}',
                    f'{np.median(_numbers(some, "push_error")):.1f}',
                )
            )
    columns = (
        *('guided by', 'arms', 'drift [mm/min]', 'largest', f'below {LARGEST_DRIFT:g} mm'),
        *('force untouched, rms [N]', 'largest [N]', f'error at {PUSH[1]:g} N [N]'),
    )
    sentence = (
        'A slow motion of a minute that nobody touches: way of the tip that the published dead '
        'zone (2 N, 0.1 N m) lets pass at 10 mm/s per N, median and largest over arms. Then with '
        'a push: error of the force against what exact torques give in the same damped inverse, '
        'median over its time and arms. Theirs is only drawn.'
    )
    return ResultTable('Drift of hand guiding (figure 5)', columns, tuple(lines), (sentence,))


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return figures 2, 4 and 5, of the first arm."""
    done = [row for row in rows if row['number'] == 0]
    fits = [row for row in done if row['kind'] == 'fit' and row['regression'] == 'semidefinite']
    chosen = [row for row in fits if row['signals'] == 'zero phase']
    return [*map(_motion_figures, chosen), *_push_figures(done)]


def _motion_figures(row: Row) -> Section:
    """First joint of the motion that excites, and its torque on another motion."""
    position, true, error = (_history(row, x, DRAWN / RATE) for x in ('position', 'true', 'error'))
    plots = (
        Plot('figure 2: motion that excites, A1', 'rad', (Line('position', *position, 0),)),
        Plot(
            'figure 4: torque of A1 on another motion',
            'N m',
            (Line('true', *true, 0), Line('error of the model', *error, 1)),
        ),
    )
    lead = 'Simulated, of the first arm; zero phase and a semidefinite program.'
    return Section('Figures 2 and 4: motion and regression', lead, plots)


def _push_figures(rows: Sequence[Row]) -> list[Section]:
    """Return the force that models feel while the arm is untouched and pushed."""
    drifts = [row for row in rows if row['kind'] == 'drift']
    if not drifts:
        return []
    lines = tuple(
        Line(str(row['model']), *_history(row, 'force', EVERY / GUIDED_RATE), color)
        for color, row in enumerate(drifts)
    )
    t = np.array([0.0, PUSHED[0], PUSHED[0], PUSHED[1], PUSHED[1], SECONDS])
    push = Line('push', t, PUSH[1] * np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0]), 5, 'truth')
    plot = Plot('force at the tip', 'N', (*lines, push))
    lead = (
        'What each model takes for a force along the push, of the first arm; the damped inverse '
        'of the published law shows a part of a push only.'
    )
    return [Section('Figure 5: external force, untouched and pushed', lead, (plot,))]


def _history(row: Row, name: str, seconds: float) -> tuple[Array, Array]:
    y = np.array(json.loads(str(row[f'{name}_history'])))
    return seconds * np.arange(len(y), dtype=float), y


def _cell(rows: Sequence[Row], signals: str, regression: str) -> list[Row]:
    return [r for r in rows if r['signals'] == signals and r['regression'] == regression]


def _numbers(rows: Sequence[Row], column: str) -> list[float]:
    return [float(str(row[column])) for row in rows]
