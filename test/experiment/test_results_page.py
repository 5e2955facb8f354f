"""One page with everything: each experiment has its figures, tables, and what differs."""

import pytest

from safe_sysid.experiment.catalogue import MODULES, experiment_named
from safe_sysid.experiment.differences import DIFFERENCES
from safe_sysid.experiment.page import experiment_page, results_page
from safe_sysid.experiment.run import ExperimentResult, tables_of
from safe_sysid.experiment.settings import NAMES, ExperimentSettings
from safe_sysid.report.html_page import html_of


def result(name, folder, rows=()):
    experiment = experiment_named(name)
    rows = list(rows)
    tables = tables_of(experiment, rows) if rows or name == 'table2' else []
    return ExperimentResult(experiment, ExperimentSettings(), folder, rows, tables)


def test_every_experiment_says_what_differs():
    assert set(DIFFERENCES) == set(NAMES) == set(MODULES)
    assert all(DIFFERENCES.values())


def test_one_page_has_all_of_them_with_what_differs(tmp_path):
    failed = {'key': 'k', 'method': 'ours', 'status': 'error', 'reason': 'no', 'cpu_s': 1.0}
    results = [result('table2', tmp_path), result('table5', tmp_path, [failed])]
    page = results_page(results)
    headings = [section.heading for section in page.sections]
    assert [NAMES['table2'], 'Methods'] == headings[:2]
    assert NAMES['table5'] in headings and 'Trials without a result' in headings
    assert not page.is_good and '1 without a result' in page.verdict[1]
    text = html_of(page)
    for name in ('table2', 'table5'):
        assert DIFFERENCES[name][0] in text and f'safe-sysid experiment {name}' in text


@pytest.mark.parametrize('name', ['table2'])
def test_the_page_and_the_tables_of_one_say_it_too(tmp_path, name):
    one = result(name, tmp_path)
    said = [section.sentences for section in experiment_page(one).sections]
    assert DIFFERENCES[name] in said
    assert f'- {DIFFERENCES[name][0]}' in one.as_markdown()
