"""run_experiment: a table of a paper, ours beside theirs, as a campaign of trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

from safe_sysid.api.arguments import path_from, settings_or_default, tell_or_silent
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.experiment.run import ExperimentResult, run_campaign
from safe_sysid.experiment.settings import ExperimentSettings


@dataclass(frozen=True, eq=False)
class ExperimentTables(ShownAsText):
    """Tables of a campaign, and the rows behind them."""

    result: ExperimentResult

    @property
    def rows(self) -> list[dict[str, str | int | float | bool | None]]:
        """One for each trial, failed ones too."""
        return self.result.rows

    @property
    def violations(self) -> int:
        """Promises of certificates that were broken while their assumptions held."""
        return self.result.violations

    @property
    def failures(self) -> int:
        """Trials without a result."""
        return self.result.failures

    def as_markdown(self) -> str:
        """Return the tables as a document, with versions and seed."""
        return self.result.as_markdown()

    def report(self, path: str | PathLike[str]) -> None:
        """Write what came out, tables and figures as a page (HTML) that needs no other file."""
        from safe_sysid.experiment.page import experiment_page
        from safe_sysid.report.html_page import write_page

        write_page(path_from(path), experiment_page(self.result))

    def __str__(self) -> str:
        return str(self.result)


def run_experiment(
    name: str,
    settings: ExperimentSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> ExperimentTables:
    """Repeat a table of a paper, and set ours beside its figures.

    Args:
        name: which, as `safe-sysid experiment --help` lists them (`table3`).
        settings: how many trials, where they run, where rows are kept; None: as published.
        progress: called with a sentence now and then.

    Returns:
        The tables, with all rows; print it.

    """
    chosen = settings_or_default(settings, ExperimentSettings)
    return ExperimentTables(run_campaign(str(name), chosen, tell_or_silent('progress', progress)))


def figures(tables: ExperimentTables) -> dict[str, object]:
    """Return rows and tables for programs."""
    result = tables.result
    return {
        'experiment': result.experiment.name,
        'circumstances': result.circumstances,
        'folder': str(result.folder),
        'violations': tables.violations,
        'failures': tables.failures,
        'lost_trials': result.lost,
        **result.experiment.counts(result.rows),
        'tables': [
            {'heading': table.heading, 'columns': table.columns, 'rows': table.rows}
            for table in result.tables
        ],
        'rows': result.rows,
    }
