"""Figures 5 to 12 on one page: what plans teach, then errors and torques of every method.

Its trials are those of Table V, and those of Table III that figures 11 and 12 show: stacking with
noisy velocities, one arm for each load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking import table3, table5, table5_shown, table5_text
from safe_sysid.experiment.stacking.methods import METHODS
from safe_sysid.experiment.stacking.table3_figures import FIGURES, adapted_masses, figures
from safe_sysid.experiment.trial import Row, Trial
from safe_sysid.report.html_page import Section

PLANT = 'noisy'


def trials(settings: ExperimentSettings) -> list[Trial]:
    """All of Table V, and tasks a and b of Table III with the excitations they need."""
    tasks = [
        each
        for each in table3.trials(replace(settings, trials=1))
        if each.settings.get('task') in FIGURES
        and each.settings['method'] in METHODS
        and each.settings['plant'] == PLANT
        and 'feedback' not in each.settings
    ]
    taught = {each.needs.key: each.needs for each in tasks if each.needs is not None}
    return [*table5.trials(settings), *taught.values(), *tasks]


def trial(spec: Trial) -> Row:
    """Carry out a trial of the table it belongs to."""
    return {table3.NAME: table3.trial, table5.NAME: table5.trial}[spec.experiment](spec)


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Figures 5 to 10 as numbers."""
    return table5_text.tables(_of(rows, table5.NAME))


def answer(rows: Sequence[Row]) -> tuple[str, str]:
    """Say whether bounds contained the truth."""
    return table5_shown.answer(_of(rows, table5.NAME))


def sections(rows: Sequence[Row]) -> list[Section]:
    """Return figures 5 to 12."""
    tasks = table3.of_tasks(_of(rows, table3.NAME))
    of_plans = table5_shown.sections(_of(rows, table5.NAME))
    return [*of_plans, *adapted_masses(tasks), *figures(tasks)]


def _of(rows: Sequence[Row], name: str) -> list[Row]:
    return [row for row in rows if row['experiment'] == name and row['status'] == 'ok']
