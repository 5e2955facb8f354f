"""The falsifier finds planted bugs, no promise is broken without, and the worst cases stay so."""

import json
from pathlib import Path

from experiment.falsify.planted_bugs import PLANTED
import numpy as np
import pytest

from safe_sysid.experiment.falsify.cell import LATE, Cell, Draw, Part, cells, parts_of
from safe_sysid.experiment.falsify.loops import look, margins_of, parts_in
from safe_sysid.experiment.falsify.search import AtRandom, Search
from safe_sysid.experiment.falsify.trials import cell_of, tables, trial, trials
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import result_of, row_of

CELL = Cell('kinova_gen3', 'bare', 'boxes', 'rigid_body', 'exact')
LIGHT = Cell('ur10e', 'bare', 'boxes', 'rigid_body', 'exact')
WHERE = {bug: CELL if bug == 'inertia_from_samples' else LIGHT for bug in PLANTED}
WORST = Path(__file__).parent / 'worst_cases.json'
SLACK = 0.01  # by which a margin may be smaller than when it was found
MOST = 2000  # loops in which a planted bug has to be found


@pytest.mark.slow
@pytest.mark.parametrize('bug', PLANTED)
def test_a_planted_bug_is_found(bug, monkeypatch, record_property):
    PLANTED[bug](monkeypatch)
    found = look(WHERE[bug], np.random.default_rng(5), MOST, Search, _is_broken)
    assert found.violations, found.least
    control = look(WHERE[bug], np.random.default_rng(5), 2 * found.first, AtRandom, _is_broken)
    record_property('loops', {'search': found.first, 'random': control.first})


def _is_broken(found):
    return found.violations > 0


@pytest.mark.slow
def test_no_promise_is_broken_without_one():
    for cell in (CELL, Cell('kinova_gen3', 'bare', 'empty', 'rigid_body', LATE)):
        found = look(cell, np.random.default_rng(5), 12)
        assert (found.violations, found.loops) == (0, 12)
        assert found.refused.total() < 12


@pytest.mark.parametrize(
    'case', json.loads(WORST.read_text()), ids=lambda case: f'{case["cell"]}-{case["promise"]}'
)
@pytest.mark.slow
def test_margins_of_the_worst_cases_have_not_become_smaller(case):
    cell = Cell(*case['cell'].split('/'))
    margins = margins_of(cell, Draw.of_text(parts_in(cell), case['draw']))
    assert not isinstance(margins, str), margins
    assert margins[case['promise']] >= case['margin'] - SLACK
    assert min(margins.values()) >= 0.0


def test_signs_and_numbers_are_found_that_chance_does_not_find():
    parts = (Part('signs', 14, is_sign=True), Part('numbers', 6, is_sign=False))
    right = np.where(np.arange(14) % 3, 1.0, -1.0)

    def value(draw):
        return float((draw['signs'] != right).sum() + np.abs(draw['numbers'] - 0.8).sum())

    least = {}
    for way in (Search, AtRandom):
        search = way(np.random.default_rng(1), parts)
        told = []
        for _ in range(300):
            draw = search.ask()
            told.append(value(draw))
            search.tell(draw, told[-1])
        least[way] = min(told)
    assert least[Search] < 0.5 < 2.0 < least[AtRandom]


def test_a_draw_is_the_same_when_it_was_text():
    parts = parts_of(CELL, 7)
    draw = Draw.at_random(np.random.default_rng(1), parts)
    again = Draw.of_text(parts, json.loads(json.dumps(draw.as_text())))
    assert np.array_equal(again.values, draw.values) and again.seed == draw.seed
    assert set(np.unique(draw['links'])) <= {-1.0, 1.0} and draw['boxes'].min() > 0.0


def test_the_campaign_has_ten_thousand_loops_over_all_that_there_is():
    every = trials(ExperimentSettings())
    assert sum(t.settings['loops'] for t in every) > 10_000
    assert {cell_of(t.settings) for t in every} == set(cells())
    assert len({t.key for t in every}) == len({t.seed for t in every}) == len(every)


def test_tables_tell_how_often_a_promise_was_broken():
    first, second, *_ = (t.columns for t in trials(ExperimentSettings(quick=True)))
    done = {'status': 'ok', 'refused': 2, 'violations': 0, 'violation': False, 'cpu_s': 5.0}
    rows = [
        {**first, **done, 'least_V': 0.25},
        {**second, **done, 'least_e': -0.5, 'violations': 1, 'violation': True},
    ]
    counts, least = tables(rows)
    assert counts.rows[-1] == ('all', '', '', '20', '16', '1', '0.50')
    assert '-0.5000' in {x for row in least.rows for x in row}


@pytest.mark.slow
def test_a_search_comes_out_the_same_again():
    (spec,) = [
        t for t in trials(ExperimentSettings(quick=True)) if cell_of(t.settings) == cells()[0]
    ]
    rows = [row_of(trial, spec)[0] for _ in range(2)]
    assert rows[0]['status'] == 'ok', rows[0]['reason']
    assert result_of(rows[0]) == result_of(rows[1])
