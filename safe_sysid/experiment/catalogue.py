"""The experiments there are, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from safe_sysid.errors import ConfigError
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import NAMES, ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, TrialFunction


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
    if name == 'table3':
        from safe_sysid.experiment.stacking import table3, table3_text

        title = 'Table III: eleven methods stack dumbbells they do not know'
        return Experiment(name, title, table3.trials, table3.trial, table3_text.tables)
    raise ConfigError(f"there is no experiment '{name}', there are {', '.join(NAMES)}")
