"""One experiment from settings to tables: its campaign, its rows, and under which versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from safe_sysid.errors import ConfigError
from safe_sysid.experiment.campaign import Progress, Workers, carry_out, plan_of
from safe_sysid.experiment.catalogue import Experiment, experiment_named
from safe_sysid.experiment.differences import DIFFERENCES
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.store import Store
from safe_sysid.experiment.trial import NOT_SETTINGS, OK, Row
from safe_sysid.versions import cpu_count, versions


@dataclass(frozen=True, eq=False)
class ExperimentResult:
    """Rows of a campaign, and the tables made of them."""

    experiment: Experiment
    settings: ExperimentSettings
    folder: Path
    rows: list[Row]
    tables: list[ResultTable]

    @property
    def violations(self) -> int:
        """Promises of certificates and bounds that were broken while their assumptions held."""
        return sum(bool(row.get('violation')) for row in self.rows)

    @property
    def failures(self) -> int:
        """Trials without a result."""
        return sum(row['status'] != OK for row in self.rows)

    @property
    def lost(self) -> int:
        """Planned trials without a row, or with a second one."""
        planned = {trial.key for trial in self.experiment.trials(self.settings)}
        kept = [row['key'] for row in self.rows]
        return len(planned ^ set(kept)) + len(kept) - len(set(kept))

    @property
    def circumstances(self) -> str:
        """Sentence with all that is needed to repeat the figures."""
        known = {name: found for name, found in versions().items() if found}
        listed = ', '.join(f'{name} {found}' for name, found in known.items())
        cpu = sum(float(str(row.get('cpu_s') or 0.0)) for row in self.rows)
        wall = sum(float(str(row.get('wall_s') or 0.0)) for row in self.rows)
        quick = ' --quick' if self.settings.quick else ''
        trials = f' --trials {self.settings.trials}' if self.settings.trials else ''
        return (
            f'`safe-sysid experiment {self.experiment.name}{quick}{trials} --seed '
            f'{self.settings.seed}`: {len(self.rows)} trials, {cpu:.0f} s of processor time and '
            f'{wall:.0f} s of workers, {cpu_count()} cores; {listed}.'
        )

    @property
    def differences(self) -> tuple[str, ...]:
        """What is not as in the paper, and why."""
        return DIFFERENCES[self.experiment.name]

    def as_markdown(self) -> str:
        """Return a section for each table."""
        head = f'# {self.experiment.title}\n\n{self.circumstances}\n'
        head += '\n'.join(['', *(f'- {each}' for each in self.differences), ''])
        return '\n\n'.join([head, *(table.as_markdown() for table in self.tables)]) + '\n'

    def as_text(self, width: int | None = None) -> str:
        """Return the tables for a terminal, of as many columns as fit it."""
        texts = [table.as_text(width) for table in self.tables]
        return '\n\n'.join([self.experiment.title, *texts, self.circumstances])

    def __str__(self) -> str:
        return self.as_text()


def run_campaign(name: str, settings: ExperimentSettings, progress: Progress) -> ExperimentResult:
    """Carry out what is left of a campaign, and make its tables."""
    experiment = experiment_named(name)
    trials = experiment.trials(settings)
    workers = Workers(settings.cluster, settings.workers or Workers().count)
    folder = _folder(name, settings)
    with Store(folder) as store:
        for sentence in store.set_aside:
            progress(sentence)
        store.agree(plan_of(name, trials))
        rows = carry_out(store, experiment.trial, trials, workers, progress)
    return ExperimentResult(experiment, settings, folder, rows, tables_of(experiment, rows))


def tables_of(experiment: Experiment, rows: Sequence[Row]) -> list[ResultTable]:
    """Return the tables of trials with a result, and first a list of those without."""
    done = [row for row in rows if row['status'] == OK]
    failed = [row for row in rows if row['status'] != OK]
    tables = experiment.tables(done) if done or not rows else []
    return [_without_result(failed), *tables] if failed else tables


def _without_result(rows: Sequence[Row]) -> ResultTable:
    """List trials that failed, by their settings, with the reason."""
    every = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in every if name not in NOT_SETTINGS]
    lines = tuple(
        (*(str(row.get(name, '')) for name in names), str(row['reason'])) for row in rows
    )
    return ResultTable('Trials without a result', (*names, 'reason'), lines, ())


def _folder(name: str, settings: ExperimentSettings) -> Path:
    """Return where rows are kept; a campaign that is there is only gone on with when asked to."""
    if settings.resume is not None:
        if not (settings.resume / 'campaign.json').exists():
            raise ConfigError(f'{settings.resume} holds no campaign to go on with')
        return settings.resume
    folder = settings.out or Path(f'experiment_{name}')
    if (folder / 'campaign.json').exists():
        raise ConfigError(
            f'{folder} holds a campaign already: --resume {folder} goes on with it, --out DIR '
            'keeps another one elsewhere'
        )
    return folder
