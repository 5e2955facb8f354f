"""Pages of experiments: what came out, what was promised, tables and figures, and what differs."""

from __future__ import annotations

from collections.abc import Sequence

from safe_sysid.experiment.run import ExperimentResult
from safe_sysid.experiment.trial import OK, Row
from safe_sysid.report.html_page import Page, Section, Table
from safe_sysid.report.page_parts import circumstances

DIFFERS = 'What differs from the paper, and why'
FOOTER = 'Made by safe-sysid. This page needs no network; all of its data is inside.'


def experiment_page(result: ExperimentResult) -> Page:
    """Return the page of one experiment."""
    experiment = result.experiment
    settings = {'again': _command(result), 'rows': str(result.folder)}
    return Page(
        experiment.title,
        'A campaign of trials, each with its own arm and seed, beside the figures of the paper.',
        is_good=_is_good([result]),
        verdict=_verdict([result]),
        facts=(*_facts([result]), ('seed', str(result.settings.seed))),
        scene=None,
        sections=(
            *_shown(result),
            Section(DIFFERS, sentences=result.differences),
            circumstances(settings),
        ),
        footer=FOOTER,
        answer=_answer(result),
    )


def results_page(results: Sequence[ExperimentResult]) -> Page:
    """Return one page with all tables and figures of all experiments, ours beside theirs."""
    sections = []
    for result in results:
        found, sure = _answer(result)
        lead = f'{found} {sure} Made by: {_command(result)}'
        sections += [Section(result.experiment.title, lead, sentences=result.differences)]
        sections += _shown(result)
    commands = {result.experiment.name: _command(result) for result in results}
    return Page(
        'Tables and figures of the papers',
        'All experiments, ours beside theirs, with what differs and why.',
        is_good=_is_good(results),
        verdict=_verdict(results),
        facts=_facts(results),
        scene=None,
        sections=(*sections, circumstances(commands)),
        footer=FOOTER,
    )


def _shown(result: ExperimentResult) -> list[Section]:
    """Figures, then tables."""
    tables = [
        Section(t.heading, ' '.join(t.sentences), tables=(Table(t.columns, t.rows),))
        for t in result.tables
    ]
    done = _done(result)
    return [*(result.experiment.sections(done) if done else ()), *tables]


def _answer(result: ExperimentResult) -> tuple[str, str]:
    """Return what a reader came for, of the trials with a result."""
    done = _done(result)
    if result.rows and not done:
        return 'No trial has a result.', 'The first table tells why.'
    return result.experiment.answer(done)


def _done(result: ExperimentResult) -> list[Row]:
    return [row for row in result.rows if row['status'] == OK]


def _command(result: ExperimentResult) -> str:
    return result.circumstances.partition('`')[2].partition('`')[0]


def _is_good(results: Sequence[ExperimentResult]) -> bool:
    return not any(result.violations or result.failures for result in results)


def _verdict(results: Sequence[ExperimentResult]) -> tuple[str, str]:
    trials, failures, broken = _counts(results)
    good = 'Every promise was kept.'
    word = good if _is_good(results) else 'Not every trial is as it should be:'
    return word, f'{trials} trials, {failures} without a result, {broken} broken promises.'


def _facts(results: Sequence[ExperimentResult]) -> tuple[tuple[str, str], ...]:
    trials, failures, broken = _counts(results)
    rows = [row for result in results for row in result.rows]
    seconds = sum(float(str(row.get('cpu_s') or 0.0)) for row in rows)
    return (
        ('trials', str(trials)),
        ('without a result', str(failures)),
        ('broken promises, where what was assumed was true', str(broken)),
        ('processor time', f'{seconds:.0f} s'),
    )


def _counts(results: Sequence[ExperimentResult]) -> tuple[int, int, int]:
    return (
        sum(len(result.rows) for result in results),
        sum(result.failures for result in results),
        sum(result.violations for result in results),
    )
