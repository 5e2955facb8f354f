"""Bodies near a wrong description: tables, and what a neighbourhood is worth."""

import itertools
import json

import pytest

from safe_sysid.experiment import neighbourhoods
from safe_sysid.experiment.neighbourhoods_text import sections, tables
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import row_of

QUICK = ExperimentSettings(quick=True)


def made_up(spec):
    row = {**spec.columns, 'mass_error described': 0.2}
    for which in ('train', 'validation'):
        row |= {f'{which}_described': 9.0, f'{which}_true': 0.5}
    for name in neighbourhoods.RADII:
        row |= {f'{key} {name}': True for key in ('holds_truth', 'solved')}
        row |= {f'iterations {name}': 3, f'train {name}': 1.0, f'validation {name}': 2.0}
        row |= {f'mass_error {name}': 0.1, f'cannot_exist {name}': 4}
        row[f'path {name}'] = json.dumps([[9.0, 4.0, 2.0, 1.0], [9.0, 5.0, 3.0, 2.0]])
    return row


def test_tables_tell_the_loss_of_every_radius_and_on_the_way():
    radii, way = tables([made_up(each) for each in neighbourhoods.trials(QUICK)])
    assert radii.rows[0] == ('as described', '9', '9', '20', '–', '–', '–', '–')
    assert radii.rows[1] == ('within 5 %', '1', '2', '10', '4 of 7', '1/1', '3', '1/1')
    assert [row[0] for row in way.rows] == ['0', '1', '2', '5', '10', '20', '50']
    assert way.rows[1][1] == '4 / 5'
    assert way.rows[-1][1] == '1 / 2'


def test_the_page_shows_the_loss_of_every_radius():
    (section,) = sections([made_up(each) for each in neighbourhoods.trials(QUICK)])
    fitted, judged = section.plots
    assert len(fitted.lines) == len(neighbourhoods.RADII)
    assert fitted.lines[0].y.tolist() == [9.0, 4.0, 2.0, 1.0]
    assert judged.lines[0].y.tolist() == [9.0, 5.0, 3.0, 2.0]


@pytest.mark.slow
def test_a_neighbourhood_that_is_too_tight_keeps_out_the_truth_and_costs_torque():
    pytest.importorskip('pydrake')
    (spec,) = neighbourhoods.trials(QUICK)
    row = row_of(neighbourhoods.trial, spec)[0]
    assert row['status'] == 'ok', row['reason']
    assert row['holds_truth 50 %']
    assert not row['holds_truth 5 %']
    for which in ('train', 'validation'):
        # Drake moved the arm, and what is left of the true parameters is noise
        assert row[f'{which}_true'] < 0.05 < 1.0 < row[f'{which}_described']
        assert row[f'{which} 50 %'] < 1.2 * row[f'{which}_true']
    assert row['validation 5 %'] > 1.5 * row['validation 50 %']
    train = [row[f'train {name}'] for name in neighbourhoods.RADII]
    for narrow, wide in itertools.pairwise(train):  # what is wider holds all that is narrower
        assert wide < 1.05 * narrow
