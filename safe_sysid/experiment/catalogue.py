"""The experiments there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from safe_sysid.errors import ConfigError
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import NAMES, ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, TrialFunction
from safe_sysid.report.html_page import Section

PACKAGE = 'safe_sysid.experiment'
# Where trials are made and carried out, where tables are made of their rows, and plots.
MODULES = {
    'table2': ('stacking.table2', 'stacking.table2', 'stacking.table2'),
    'table3': ('stacking.table3', 'stacking.table3_text', 'stacking.table3_shown'),
    'table4': ('stacking.table4', 'stacking.table4', 'stacking.table4'),
    'table5': ('stacking.table5', 'stacking.table5_text', 'stacking.table5_shown'),
    'figures5-12': ('stacking.figures', 'stacking.figures', 'stacking.figures'),
    'digit': ('digit', 'digit_text', 'digit_figures'),
    'excitation': ('excitation', 'excitation_text', 'excitation_text'),
    'kinematics': ('kinematics', 'kinematics', 'kinematics'),
    'neighbourhoods': ('neighbourhoods', 'neighbourhoods_text', 'neighbourhoods_text'),
    'mechanisms': ('mechanisms', 'mechanisms', 'mechanisms'),
    'falsify': ('falsify.trials', 'falsify.trials', 'falsify.trials'),
}
COUNTED = {'table3': 'stacking.table3_counts'}  # where rows become figures for programs


@dataclass(frozen=True)
class Experiment:
    """What a trial is, which there are, and what their rows say."""

    name: str
    title: str
    trials: Callable[[ExperimentSettings], list[Trial]]
    trial: TrialFunction
    tables: Callable[[Sequence[Row]], list[ResultTable]]
    answer: Callable[[Sequence[Row]], tuple[str, str]]  # what a reader came for, and how sure
    sections: Callable[[Sequence[Row]], list[Section]]  # of its page, before the tables
    counts: Callable[[Sequence[Row]], dict[str, object]]  # for programs, beside rows and tables


def _in_tables(rows: Sequence[Row]) -> tuple[str, str]:
    """Point to the tables, where no single sentence says it."""
    return 'Tables below, ours beside theirs.', f'{len(rows)} trials.'


def _no_sections(rows: Sequence[Row]) -> list[Section]:
    del rows
    return []


def _no_counts(rows: Sequence[Row]) -> dict[str, object]:
    del rows
    return {}


def experiment_named(name: str) -> Experiment:
    """Return an experiment, with what it needs loaded."""
    if name not in NAMES:
        raise ConfigError(f"there is no experiment '{name}', there are {', '.join(NAMES)}")
    made, shown, page = (import_module(f'{PACKAGE}.{each}') for each in MODULES[name])
    answer = getattr(page, 'answer', _in_tables)
    sections = getattr(page, 'sections', _no_sections)
    counted = import_module(f'{PACKAGE}.{COUNTED[name]}').counts if name in COUNTED else _no_counts
    return Experiment(
        name, NAMES[name], made.trials, made.trial, shown.tables, answer, sections, counted
    )
