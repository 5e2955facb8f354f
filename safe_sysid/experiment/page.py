"""The page of an experiment: what came out, what was promised, then tables and figures."""

from __future__ import annotations

from safe_sysid.experiment.run import ExperimentResult
from safe_sysid.report.html_page import Page, Section, Table
from safe_sysid.report.page_parts import circumstances


def experiment_page(result: ExperimentResult) -> Page:
    """Return the page."""
    experiment, rows, broken = result.experiment, result.rows, result.violations
    is_good = not broken and not result.failures
    word = 'Every promise was kept.' if is_good else 'Not every trial is as it should be:'
    said = f'{len(rows)} trials, {result.failures} without a result, {broken} broken promises.'
    seconds = sum(float(str(row.get('cpu_s') or 0.0)) for row in rows)
    tables = [
        Section(t.heading, ' '.join(t.sentences), tables=(Table(t.columns, t.rows),))
        for t in result.tables
    ]
    settings = {
        'again': result.circumstances.partition('`')[2].partition('`')[0],
        'rows': str(result.folder),
    }
    return Page(
        experiment.title,
        'A campaign of trials, each with its own arm and seed, beside the figures of the paper.',
        is_good=is_good,
        verdict=(word, said),
        facts=(
            ('trials', str(len(rows))),
            ('without a result', str(result.failures)),
            ('broken promises, where what was assumed was true', str(broken)),
            ('processor time', f'{seconds:.0f} s'),
            ('seed', str(result.settings.seed)),
        ),
        scene=None,
        sections=(*experiment.sections(rows), *tables, circumstances(settings)),
        footer='Made by safe-sysid. This page needs no network; all of its data is inside.',
        answer=experiment.answer(rows),
    )
