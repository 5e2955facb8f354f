"""The experiments there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from safe_sysid.errors import ConfigError
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import NAMES, ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, TrialFunction

# Where trials are made and carried out, and where tables are made of their rows.
MODULES = {
    'table2': ('stacking.table2', 'stacking.table2'),
    'table3': ('stacking.table3', 'stacking.table3_text'),
    'table4': ('stacking.table4', 'stacking.table4'),
    'table5': ('stacking.table5', 'stacking.table5_text'),
    'digit': ('digit', 'digit_text'),
    'excitation': ('excitation', 'excitation_text'),
    'kinematics': ('kinematics', 'kinematics'),
    'mechanisms': ('mechanisms', 'mechanisms'),
}


@dataclass(frozen=True)
class Experiment:
    """What a trial is, which there are, and what their rows say."""

    name: str
    title: str
    trials: Callable[[ExperimentSettings], list[Trial]]
    trial: TrialFunction
    tables: Callable[[Sequence[Row]], list[ResultTable]]


def experiment_named(name: str) -> Experiment:
    """Return an experiment, with what it needs loaded."""
    if name not in NAMES:
        raise ConfigError(f"there is no experiment '{name}', there are {', '.join(NAMES)}")
    made, shown = (import_module(f'safe_sysid.experiment.{each}') for each in MODULES[name])
    return Experiment(name, NAMES[name], made.trials, made.trial, shown.tables)
