"""Table II: what each of the eleven methods knows, by which law it moves, and how it learns."""

from __future__ import annotations

from collections.abc import Sequence

from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking.methods import METHODS
from safe_sysid.experiment.trial import Row, Trial

LAWS = {
    'robust': 'robust passivity',
    'adaptive': 'adaptive (Slotine and Li)',
    'adaptive_robust': 'adaptive with a robust term',
    'gravity_pid': 'PID with gravity',
}
KNOWLEDGE = {
    'learned': 'identified, with bounds',
    'nothing': 'the arm with its gripper, no load',
    'table_1': 'Table I',
    'adapts': 'adapted on the way',
}
EXCITATIONS = {
    'none': '–',
    'exciting': 'four certified plans that teach',
    'random': 'four certified plans, k at random',
    'fourier': 'Fourier series, velocity and acceleration limits only',
}


def trials(settings: ExperimentSettings) -> list[Trial]:
    """None: the table says what methods are."""
    del settings
    return []


def trial(spec: Trial) -> Row:
    """Nobody asks for one, as there are none."""
    raise AssertionError(f'{spec.experiment} has no trials')


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """One line for each method."""
    del rows
    lines = tuple(
        (
            name,
            LAWS[method.law],
            KNOWLEDGE[method.knows],
            EXCITATIONS[method.excitation],
            'yes' if method.is_certified else 'no',
        )
        for name, method in METHODS.items()
    )
    columns = ('method', 'law', 'theta and its bounds', 'before the task', 'promises bounds')
    return [ResultTable('Methods', columns, lines, ())]
