"""Table IV: whether conditioning the torque regressor conditions the momentum regressor.

A trial is one random motion, and its condition numbers; the table correlates them. How fast the
motions of the publication were is not printed, so that the lowest frequency is varied here: what
counts is how much of a motion a window of h samples averages away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.bench.experiments.condition_correlation import PERIOD, WINDOWS, conditions
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.model.robot_model import RobotModel

NAME = 'table4'
PAPER = 'provably_safe_online'
BASES = (0.1, 0.5, 1.0, 2.0)  # [Hz] lowest frequency of a motion
QUICK_BASES = (0.5, 2.0)
MOTIONS, QUICK_MOTIONS = 40, 12


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Random motions at each frequency."""
    count = settings.trials or (QUICK_MOTIONS if settings.quick else MOTIONS)
    return [
        Trial(NAME, {'base_hz': base, 'number': i}, seed_of(settings.seed, (NAME, base), i))
        for base in (QUICK_BASES if settings.quick else BASES)
        for i in range(count)
    ]


def trial(spec: Trial) -> Row:
    """Condition numbers of the torque regressor, and of the momentum regressor for each h."""
    rng = np.random.default_rng(spec.seed)
    base = float(str(spec.settings['base_hz']))
    of_torque, *of_momentum = conditions(RobotModel.named('kinova_gen3'), rng, base)
    row: Row = {'condition_W': of_torque}
    return row | {f'condition_Y_{h}': c for h, c in zip(WINDOWS, of_momentum, strict=True)}


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Correlations for each frequency, and the published ones."""
    theirs = published(PAPER)['table4']
    bases = dict.fromkeys(float(str(row['base_hz'])) for row in rows)
    lines = [
        (f'from {base:g} Hz', *(f'{_correlation(rows, base, h):.4f}' for h in WINDOWS))
        for base in bases
    ]
    lines.append(('theirs', *(f'{value:.4f}' for value in theirs['correlation'])))
    count = len(rows) // max(1, len(bases))
    return [
        ResultTable(
            'Correlation of cond W and cond Y',
            ('motions', *(f'h = {h}' for h in WINDOWS)),
            tuple(lines),
            (
                f'Pearson, {count} motions of five harmonics and 10 s in each line, a sample '
                f'every {1e3 * PERIOD:g} ms; h samples are one window of Y.',
            ),
        )
    ]


def _correlation(rows: Sequence[Row], base: float, h: int) -> float:
    of_base = [row for row in rows if row['base_hz'] == base]
    of_torque, of_momentum = (
        np.array([float(str(row[name])) for row in of_base])
        for name in ('condition_W', f'condition_Y_{h}')
    )
    return float(np.asarray(np.corrcoef(of_torque, of_momentum))[0, 1])
