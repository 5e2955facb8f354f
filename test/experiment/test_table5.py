"""Table V and figures 5 to 10: cells, what their tables say, and one load that is learnt."""

import pytest

from safe_sysid.experiment.catalogue import experiment_named
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking import table5
from safe_sysid.experiment.stacking.table5_text import tables
from safe_sysid.experiment.trial import row_of
from safe_sysid.model.inertia import LABELS

QUICK = ExperimentSettings(quick=True)
HISTORY = table5.MassHistory((0.0, 2.0), (1.0, 1.8), (3.0, 2.1), (5.0, 2.2))


def made_up(spec, **columns):
    row = {**spec.columns, 'status': 'ok', 'condition': 20.0, 'mass_history': HISTORY.as_text()}
    for label in LABELS:
        row |= {
            f'true_{label}': 1.0,
            f'nominal_{label}': 1.1,
            f'lower_{label}': 0.5,
            f'upper_{label}': 1.5,
        }
    if spec.settings['method'] == 'ours':
        row['adapted_mass'] = '[[0.0, 1.3], [0.025, 1.4]]'
    return row | columns


def test_both_choices_of_plans_have_the_same_arm():
    trials = table5.trials(QUICK)
    assert len(trials) == 4
    assert len(table5.trials(ExperimentSettings())) == 5 * 2 * table5.TRIALS
    for load in {trial.settings['load'] for trial in trials}:
        assert len({t.seed for t in trials if t.settings['load'] == load}) == 1


def test_tables_tell_widths_as_time_goes_and_truths_outside():
    rows = [
        made_up(each, upper_m=0.9 if each.settings['method'] == 'random' else 1.5)
        for each in table5.trials(QUICK)
    ]
    condition, mass, *intervals = tables(rows)
    assert condition.rows[0][:3] == ('4lb', '20 (20–20)', '20 (20–20)')
    assert mass.rows[0][2:] == ('2.000', '2.000', '0.200', '0.200', '0.200', '0.200')
    assert intervals[0].rows[0][1:] == ('2.000', '0.5000', '0/1', '0.2000', '1/1')


@pytest.mark.nightly
def test_what_plans_teach_contains_the_truth():
    rows = [row_of(table5.trial, each)[0] for each in table5.trials(QUICK)[:2]]
    assert all(row['status'] == 'ok' and row['truth_inside'] for row in rows)
    ours, random = rows
    assert ours['condition'] < random['condition']
    assert ours['upper_m'] - ours['lower_m'] < 1.0


def test_the_page_shows_the_mass_of_each_load_over_time():
    rows = [made_up(each, truth_inside=True) for each in table5.trials(QUICK)]
    experiment = experiment_named('table5')
    assert experiment.answer(rows)[0] == '4 of 4 bounds contain the truth.'
    section, *intervals, conditions = experiment.sections(rows)
    names = [line.name for line in conditions.plots[0].lines]
    assert names == ['ours', 'ours, published', 'random', 'random, published']
    assert conditions.plots[0].lines[1].y.tolist() == [274.03, 233.539]
    assert [each.heading for each in intervals] == [
        'Figure 6: dumbbell_4lb',
        'Figure 10: dumbbell_8lb',
    ]
    assert intervals[0].bars.lower.shape == (2, 10)
    assert (intervals[0].bars.truth == 1.0).all()
    assert [plot.title for plot in section.plots] == [
        'mass with dumbbell_4lb',
        'mass with dumbbell_8lb',
    ]
    shown = [line.name for line in section.plots[0].lines]
    assert shown == ['ours', 'adap-1-excit', 'random', 'truth']
    assert section.plots[0].bands[0].lower.tolist() == [1.8, 1.8]


def test_all_figures_are_on_one_page():
    experiment = experiment_named('figures5-12')
    rows = []
    for each in experiment.trials(QUICK):
        if each.experiment == table5.NAME:
            rows.append(made_up(each, truth_inside=True))
            continue
        history = '[0.0, 0.01]'
        columns = {'error_history': history, 'torque_history': history, 'bound_rad': 0.03}
        if str(each.settings.get('method')).startswith('adap'):
            columns |= {'adapted_mass': '[[0.0, 1.3], [0.025, 1.4]]', 'true_mass': 5.0}
        rows.append({**each.columns, 'status': 'ok', **columns})
    assert not any('feedback' in each.settings for each in experiment.trials(QUICK))
    keys = {each.key for each in experiment.trials(QUICK)}
    assert all(t.needs is None or t.needs.key in keys for t in experiment.trials(QUICK))
    sections = {each.heading: each for each in experiment.sections(rows)}
    headings = ' '.join(sections)
    adapted = sections['Figure 5, the task: mass that adaptive laws adapt'].plots[0].lines
    names = ['adap-1', 'adap-1-excit', 'adap-2', 'adap-2-excit', 'truth']
    assert [line.name for line in adapted] == names
    assert adapted[0].y.tolist() == [1.3, 1.4] and adapted[-1].y.tolist() == [5.0, 5.0]
    for number in (5, 6, 10, 11, 12):  # 7 to 9 are of the loads that --quick leaves out
        assert f'Figure {number}:' in headings
    assert experiment.tables(rows)[0].heading.startswith('Condition number of Y')
