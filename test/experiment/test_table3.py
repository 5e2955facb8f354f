"""Table III: which trials there are, what its tables say, and that a trial is a pure function."""

from dataclasses import replace
import json

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.errors import ConfigError
from safe_sysid.experiment.catalogue import experiment_named
from safe_sysid.experiment.page import experiment_page
from safe_sysid.experiment.published import published
from safe_sysid.experiment.run import ExperimentResult, tables_of
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking import promise, scene, table3
from safe_sysid.experiment.stacking.course import (
    EXACT_POSITIONS,
    PLANTS,
    Course,
    clearance_column,
    figures_of,
    follow,
    histories_of,
    robot_at,
)
from safe_sysid.experiment.stacking.learning import arm_of
from safe_sysid.experiment.stacking.methods import (
    EVERY,
    METHODS,
    OWN,
    TUNINGS,
    controller_of,
    estimate_of,
)
from safe_sysid.experiment.stacking.promise import Proof
from safe_sysid.experiment.stacking.scene import GAPS
from safe_sysid.experiment.stacking.table3_counts import counts
from safe_sysid.experiment.stacking.table3_figures import figures
from safe_sysid.experiment.stacking.table3_text import tables
from safe_sysid.experiment.stacking.taught import FIGURES, Taught
from safe_sysid.experiment.trial import result_of, row_of
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval

# Half widths of the end effector with its load that excitations teach, and a little more.
LEARNED = np.array([0.22, 0.001, 0.002, 0.03, 0.02, 0.01, 0.03, 0.003, 0.02, 0.01])
FULL, QUICK = ExperimentSettings(), ExperimentSettings(quick=True)


def tasks(settings):
    """Trials but those of excitations."""
    return [trial for trial in table3.trials(settings) if 'task' in trial.settings]


def made_up(spec, **columns):
    """Row of a trial that succeeded, but for what is given."""
    row = {
        **spec.columns,
        **{'status': 'ok', 'reason': '', 'touched': False, 'limit_broken': False},
        **{f'success_{tolerance:.0f}mm': True for tolerance in table3.TOLERANCES},
        **{'final_error_mm': 1.0, 'largest_error_mm': 2.0, 'torque_share': 0.5},
        'largest_error_rad': 0.004,
        **{'torque_change': 0.1, 'certified': True, 'bound_margin': 0.5},
        **{'failed_in': '', 'clipped_share': 0.0, 'velocity_share': 0.5, 'outside_position': 0.0},
        **{'assumption_false': '', 'violation': False, 'motion_broken': False},
        **{clearance_column(gap): gap - 3.0 for gap in GAPS},
    }
    return row | columns


def found(heading, rows):
    (table,) = [each for each in tables(rows) if each.heading.startswith(heading)]
    return {row[0]: row for row in table.rows}, table


def test_every_method_of_the_paper_has_all_cells():
    assert set(published('provably_safe_online')['table3']) == set(METHODS)
    every = table3.trials(FULL)
    own = len(OWN)
    by_gains = 3 * table3.TRIALS * sum(map(len, TUNINGS.values()))
    assert len(tasks(FULL)) == (11 + own) * (11 + 11 + 3) * table3.TRIALS + by_gains
    assert len(every) - len(tasks(FULL)) == 3 * 5 * table3.TRIALS
    assert len({trial.key for trial in every}) == len(every)
    assert len(tasks(QUICK)) == (11 + own) * (5 + 5 + 3) + by_gains // (3 * table3.TRIALS)


def test_methods_that_learn_alike_start_from_one_excitation():
    needed = {}
    for trial in tasks(QUICK):
        cell = trial.settings['load'], EVERY[trial.settings['method']].excitation
        needed.setdefault(cell, set()).add(trial.needs and trial.needs.key)
    assert all(len(keys) == 1 for keys in needed.values())
    assert {None} == needed['dumbbell_4lb', 'none']
    assert {key for keys in needed.values() for key in keys} - {None} == {
        trial.key for trial in table3.trials(QUICK) if 'excitation' in trial.settings
    }


def test_what_was_taught_is_the_same_when_it_was_a_row():
    arm = arm_of('dumbbell_4lb', 1)
    prior = kinova_prior(arm.nominal)
    known = replace(prior, theta=prior.theta * (1.0 + 1e-15))
    values = (known.theta, known.bounds.lower, known.bounds.upper, arm.truth.theta)
    names = ('theta', 'theta_lower', 'theta_upper', 'adaptive')
    row = {name: json.dumps(x.tolist()) for name, x in zip(names, values, strict=True)}
    row |= dict.fromkeys(FIGURES, 0.0) | {'excite_torque_share': 1.1}
    taught = Taught.of_row(arm.nominal, json.loads(json.dumps(row)))
    assert np.array_equal(taught.estimate.bounds.lower, known.bounds.lower)
    assert np.array_equal(taught.estimate.theta, known.theta)
    assert np.array_equal(taught.adapted['adaptive'], arm.truth.theta)
    assert not taught.is_safe


def test_methods_of_a_cell_have_the_same_arm_and_others_another():
    seeds = {}
    for trial in tasks(FULL):
        seeds.setdefault((trial.settings['load'], trial.settings['number']), set()).add(trial.seed)
    assert all(len(each) == 1 for each in seeds.values())
    assert len({seed for each in seeds.values() for seed in each}) == len(seeds)
    load, seed = 'dumbbell_4lb', 7
    assert np.array_equal(arm_of(load, seed).truth.theta, arm_of(load, seed).truth.theta)
    assert not np.array_equal(arm_of(load, seed).truth.theta, arm_of(load, 8).truth.theta)


def test_first_failure_stands_beside_the_published_one():
    trials = tasks(replace(FULL, trials=3))
    fails = {'success_15mm': False}
    rows = [
        made_up(
            trial, **(fails if trial.settings['method'] == 'grav-pid' and at_six(trial) else {})
        )
        for trial in trials
    ]
    by_method, _ = found('First failure, ideal', rows)
    assert by_method['grav-pid'][1:5] == ('6lb', 'none', '6lb', '6lb')
    assert by_method['ours'][5:] == ('success', 'success')


def at_six(trial):
    return trial.settings['load'] == 'dumbbell_6lb' and trial.settings['number'] < 2


def test_a_broken_promise_counts_unless_an_assumption_was_false():
    rows = [
        made_up(trial, motion_broken=trial.settings['plant'] == 'ideal')
        for trial in tasks(replace(FULL, trials=1))
    ]
    by_method, _ = found('What was promised', rows)
    certified = {name for name, method in EVERY.items() if method.is_certified}
    assert set(by_method) == certified and 'wrong' not in certified
    assert not any('published' in name for name in certified)
    assert by_method['ours'][3:5] == ('25', '11')
    noisy = [made_up(row_of_trial, assumption_false='noise') for row_of_trial in tasks(QUICK)]
    assert found('What was promised', noisy)[0]['ours'][3:6] == ('0', '0', '–')


def test_programs_get_every_cell_with_what_was_broken():
    def row_of_trial(trial):
        cell = [trial.settings[x] for x in ('plant', 'task', 'method')]
        broken = cell == ['ideal', 'b', 'ours'] and trial.settings['load'] == 'dumbbell_8lb'
        return made_up(
            trial, violation=broken, touched=cell[2] == 'wrong', success_15mm=cell[2] != 'wrong'
        )

    rows = [row_of_trial(trial) for trial in tasks(QUICK)]
    found = counts(rows)
    by_cell = {(x['plant'], x['task'], x['method']): x for x in found['cells']}
    assert set(METHODS) <= set(found['methods'])
    assert found['tasks'] == ['a', 'b', 'c']
    assert found['trials'] == len(rows)
    assert found['violations_of_certified'] == by_cell['ideal', 'b', 'ours']['violations'] == 1
    ours, wrong = by_cell['ideal', 'a', 'ours'], by_cell['ideal', 'a', 'wrong']
    assert ours['successes'] == ours['trials'] and ours['violations'] == 0
    assert ours['largest_error_mrad'] == pytest.approx(4.0)
    assert wrong['successes'] == 0
    assert wrong['violations'] == wrong['contacts'] == wrong['trials']


def test_a_campaign_counts_trials_that_are_missing_or_there_twice(tmp_path):
    experiment = experiment_named('table3')
    rows = [{**made_up(trial), 'key': trial.key} for trial in experiment.trials(QUICK)]
    for some, lost in ((rows, 0), (rows[1:], 1), ([*rows, rows[0]], 1)):
        assert ExperimentResult(experiment, QUICK, tmp_path, some, []).lost == lost


def test_bounds_without_the_truth_are_a_broken_promise_whatever_the_motion_did():
    proof = Proof(True, '', (), None, '', 0.01, None)
    kept = {'largest_error_rad': 0.0, 'touched': False, 'limit_broken': False}
    for more, changes, motion, violation in (
        ({'truth_inside': True}, {}, False, False),
        ({'truth_inside': False}, {}, False, True),
        ({'touched': True}, {}, True, True),
        ({'limit_broken': True}, {}, True, True),
        ({'largest_error_rad': 0.011}, {}, True, True),
        ({'touched': True}, {'false': 'drives are late'}, False, False),
        ({'touched': True}, {'holds': False}, False, False),
        ({'touched': True, clearance_column(20.0): 3.0}, {'gap': 20.0}, False, False),
        ({clearance_column(20.0): -3.0}, {'gap': 20.0}, True, True),
    ):
        found = replace(proof, **changes).promise({**kept, **more})
        assert (found['motion_broken'], found['violation']) == (motion, violation)


def test_ours_reads_positions_only_where_velocities_are_wrong_and_that_is_certified(monkeypatch):
    nominal = arm_of('dumbbell_4lb', 1).nominal
    known = kinova_prior(nominal)
    asked, fails = [], set()

    def certify(*given):
        sampling = given[-1]
        asked.append(sampling)
        return Proof(sampling not in fails, '', ('law',), None, '', 0.01, None)

    monkeypatch.setattr(promise, 'certificate_of', certify)
    given = scene.Scene('a', None, {}), nominal, known

    def found(method, plant):
        proof = promise.proof_of(EVERY[method], PLANTS[plant], *given)
        return proof.controller is not None, bool(proof.laws), bool(proof.false)

    assert found('ours', 'noisy') == (True, True, False)
    assert found('ours-velocities', 'noisy') == (False, False, True)
    assert found('ours-stat', 'noisy') == (True, True, True)
    assert found('ours', 'ideal') == (False, False, False)
    assert found('ours', 'drives') == (False, False, True)
    assert asked == [EXACT_POSITIONS, None, EXACT_POSITIONS, None, None]
    fails.add(EXACT_POSITIONS)
    assert found('ours', 'noisy') == (False, False, True)


def test_a_promise_of_the_narrow_path_is_that_of_the_narrowest_walls_it_can_be_had_for(
    monkeypatch,
):
    nominal = arm_of('dumbbell_4lb', 1).nominal
    monkeypatch.setattr(promise, 'scene_of', lambda _, gap: gap)
    for fits, gap in ((5.0, 5.0), (10.0, 10.0), (20.0, 20.0), (99.0, None)):

        def certify(walls, *_, fits=fits):
            return Proof(walls >= fits, str(walls), (), None, '', 0.01, None)

        monkeypatch.setattr(promise, 'certificate_of', certify)
        path = scene.Scene('c', None, {}), nominal, kinova_prior(nominal)
        proof = promise.proof_of(EVERY['ours'], PLANTS['ideal'], *path)
        assert (proof.holds, proof.gap) == (gap is not None, gap)


def test_what_each_method_broke_is_counted_by_kind():
    kinds = {
        'touched': {'touched': True},
        'torque': {'clipped_share': 0.1, 'limit_broken': True},
        'velocity': {'velocity_share': 1.1, 'limit_broken': True},
        'position': {'outside_position': 1.0, 'limit_broken': True},
        'place': {'failed_in': 'task'},
        'excite': {'failed_in': 'excite'},
        'bound': {'bound_margin': -0.1},
    }
    some = [t for t in tasks(QUICK) if t.settings['plant'] == 'ideal']
    for place, columns in enumerate(kinds.values()):
        rows = [
            made_up(each, **(columns if each.settings['task'] == 'c' else {})) for each in some
        ]
        by_method, _ = found('What was broken, ideal', rows)
        assert by_method['ours'][1] == '5'
        assert [i for i, x in enumerate(by_method['ours'][2:]) if x != '0'] == [place]
        assert by_method['ours'][2 + place] == '1'
    assert by_method['adap-1'][-1] == 'has none'


def test_plants_are_compared_where_all_have_been_tried():
    rows = [
        made_up(t, largest_error_mm=9.0 if t.settings['method'] == 'ours' else 3.0)
        for t in tasks(QUICK)
    ]
    by_method, table = found('When each wins', rows)
    assert by_method['ours'] == ('ours', *('3/3', '9.0') * 3)
    said = f'On the noisy plant adap-1 tracks best (3.0 mm); ours is number {len(EVERY)}'
    assert said in table.sentences[2]


def test_width_stands_beside_the_condition_number():
    spec = next(t for t in table3.trials(QUICK) if 'excitation' in t.settings)
    row = {
        **{**spec.columns, 'condition': 20.0, 'mass_half_width': 0.1, 'mass_error': -0.02},
        **{'excite_torque_share': 0.8, 'excite_touches_itself': False, 'truth_inside': True},
    }
    (table,) = [t for t in tables([row, *map(made_up, tasks(QUICK))]) if 'condition' in t.heading]
    assert table.rows == (
        ('exciting', '1', '20 to 20', '0.1 to 0.1', '0.02 to 0.02', '0.8 to 0.8', '0', '1/1'),
    )


def test_our_own_rows_know_what_ours_does_only_less_well():
    nominal = arm_of('dumbbell_4lb', 1).nominal
    prior = kinova_prior(nominal)
    taught = Taught(prior, {}, {})
    wide = estimate_of(OWN['ours-wide'], 'dumbbell_4lb', 1, taught)
    same = estimate_of(METHODS['ours'], 'dumbbell_4lb', 1, taught)
    assert np.array_equal(same.bounds.lower, prior.bounds.lower)
    np.testing.assert_allclose(wide.bounds.radius, 3.0 * prior.bounds.radius, atol=1e-12)
    assert np.array_equal(wide.theta, prior.theta)


def test_real_drives_are_late_and_slow_and_wrong():
    arm = arm_of('dumbbell_4lb', 1)
    q, away = np.zeros(7), np.full(7, 5.0)
    robots = [
        robot_at(arm.truth, PLANTS[p], q, np.random.default_rng(0)) for p in ('noisy', 'drives')
    ]
    for robot in robots:
        robot.apply(np.zeros(7))
        robot.apply(away)
    exact, late = (robot.truth.torque for robot in robots)
    np.testing.assert_allclose(exact, away)
    assert np.abs(late).max() < 0.8 * away[0]
    for _ in range(20):
        robots[1].apply(away)
    np.testing.assert_allclose(robots[1].truth.torque, away, atol=0.31)
    assert not np.array_equal(robots[1].truth.torque, away)


def test_trials_that_failed_are_listed_with_their_reason():
    first, *others = tasks(QUICK)
    rows = [made_up(trial) for trial in others]
    rows.append({**first.columns, 'status': 'refused', 'reason': 'ConfigError: no'})
    without, *others = tables_of(experiment_named('table3'), rows)
    assert without.heading == 'Trials without a result'
    assert without.rows == (
        (*(str(value) for value in first.settings.values()), 'ConfigError: no'),
    )
    assert 'First failure' in others[0].heading


@pytest.mark.slow
def test_walls_leave_the_gap_and_an_impossible_scene_is_refused(monkeypatch):
    narrow = scene.scene_of('c')
    heavy = scene.RobotModel.named(scene.ROBOT).with_payload(scene.read_payload(scene.HEAVIEST))
    q = np.array([narrow.motion.desired(t)[0] for t in np.arange(0.0, 2.0, 0.01)])
    for name, wall in narrow.shapes.items():
        assert scene.clearance_to(heavy, {name: wall}, q) == pytest.approx(0.01, abs=1e-3)
    monkeypatch.setattr(scene, 'TORQUE_SHARE', 0.1)
    with pytest.raises(ConfigError, match='the scene of task a is impossible'):
        scene.scene_of.__wrapped__('a')


@pytest.mark.slow
def test_ours_keeps_all_it_promises_though_velocities_are_wrong_and_asks_for_less_torque():
    arm, noisy = arm_of('dumbbell_8lb', 1), PLANTS['noisy']
    prior, place = kinova_prior(arm.nominal), arm.nominal.layout.end_effector
    theta, lower, upper = arm.nominal.theta, prior.bounds.lower.copy(), prior.bounds.upper.copy()
    lower[place], upper[place] = theta[place] - LEARNED, theta[place] + LEARNED
    known = ParameterEstimate(prior.layout, theta, Interval(lower, upper))
    task = scene.scene_of('b')
    found = {}
    for name in ('ours', 'ours-velocities'):
        proof = promise.proof_of(EVERY[name], noisy, task, arm.nominal, known)
        law = proof.controller or controller_of(EVERY[name], arm.nominal, Clock(0), None)
        start, rng = task.motion.pieces[0].curve.q0, np.random.default_rng(1)
        done = follow(law, known, task, robot_at(arm.truth, noisy, start, rng), proof.laws)
        row = figures_of(done, arm.nominal, task) | {'touched': False, 'limit_broken': False}
        found[name] = row | proof.promise(row)
    ours, other = found['ours'], found['ours-velocities']
    assert ours['certified'] and not ours['assumption_false'] and ours['reads'] == 'positions'
    assert ours['bound_margin'] > 0.0 and ours['clearance_mm'] > 0.0
    assert ours['torque_share'] < 0.9 < other['torque_share']
    assert other['assumption_false'] == 'velocities are exact'


@pytest.mark.slow
def test_the_same_trial_comes_out_the_same():
    (spec, *_) = [t for t in tasks(QUICK) if t.settings['method'] == 'wrong-published']
    once, again = (row_of(table3.trial, spec)[0] for _ in range(2))
    assert once['status'] == 'ok', once['reason']
    assert result_of(once) == result_of(again)


@pytest.mark.nightly
def test_quick_table_keeps_every_promise_and_ours_places_every_dumbbell(tmp_path):
    from safe_sysid import run_experiment

    pytest.importorskip('distributed')
    result = run_experiment('table3', replace(QUICK, out=tmp_path / 'rows'))
    assert (result.violations, result.failures) == (0, 0)
    rows = table3.of_tasks(result.rows)
    ours = [row for row in rows if row['method'] == 'ours' and row['plant'] != 'drives']
    assert all(row['success_15mm'] and row['truth_inside'] for row in ours)
    assert all(row['certified'] and not row['assumption_false'] for row in ours)
    late = [row for row in rows if (row['method'], row['plant']) == ('ours', 'drives')]
    assert all(row['final_error_mm'] < 15.0 and row['assumption_false'] for row in late)


def test_every_baseline_stands_at_the_gains_that_turned_out_best():
    spec = next(t for t in tasks(QUICK) if t.settings.get('feedback') == 4.0)
    name = spec.settings['method']
    tuned = [made_up(t) for t in tasks(QUICK) if 'feedback' in t.settings]
    ruled = [made_up(t) for t in tasks(QUICK) if 'feedback' not in t.settings]
    best = {'largest_error_mm': 1.5, 'success_15mm': True}
    fails = {'largest_error_mm': 0.1, 'success_15mm': False}
    for row in tuned:
        row |= {4.0: best, 8.0: fails}.get(row['feedback'], {})
    _, table = found('Every baseline at its best gains', [*ruled, *tuned])
    assert table.rows[0][:2] == ('ours', '–')
    rule, chosen = (row for row in table.rows if row[0] == name)
    assert rule[1] == 'rule' and rule[6] == '2.0'
    assert chosen[1] == '4 times' and chosen[4:7] == ('1/1', '1.0', '1.5')
    by_method, _ = found('When each wins', [*ruled, *tuned])
    assert by_method[name][1] == '3/3'  # trials with other gains are in no other table


def test_walls_that_leave_less_room_are_told_with_what_is_certified():
    rows = [
        made_up(
            trial,
            certified_gap_mm=20.0 if trial.settings['method'] == 'ours' else None,
            **({clearance_column(5.0): -1.0} if trial.settings['method'] != 'ours' else {}),
        )
        for trial in tasks(QUICK)
    ]
    by_method, _ = found('The narrow path', rows)
    assert by_method['ours'][1:6] == ('1/1', '1/1', '1/1', '5', '20')
    assert by_method['adap-1'][1:6] == ('1/1', '1/1', '0/1', '10', '–')


def test_the_page_says_first_who_succeeds_and_whether_promises_held(tmp_path):
    rows = [
        made_up(trial, success_15mm=trial.settings['method'] != 'wrong') for trial in tasks(QUICK)
    ]
    page = experiment_page(result_with(rows, tmp_path))
    ours = sum(row['method'] == 'ours' for row in rows)
    assert page.answer[0] == f'Ours succeeds in {ours} of {ours} trials.'
    assert page.is_good and page.verdict[0] == 'Every promise was kept.'
    (bars,) = [section.bars for section in page.sections if 'noisy' in section.heading][:1]
    wrong = bars.labels.index('wrong')
    assert bars.nominal[-1, wrong] == 0.0 and 0.0 < bars.upper[-1, wrong] < 100.0
    assert page.sections[0].plots[0].x_label == 'load [lb]'
    broken = [*rows[:-1], rows[-1] | {'violation': True}]
    assert not experiment_page(result_with(broken, tmp_path)).is_good
    failed = [*rows[:-1], {**tasks(QUICK)[-1].columns, 'status': 'error', 'reason': 'x'}]
    assert '1 without a result' in experiment_page(result_with(failed, tmp_path)).verdict[1]


def test_figures_11_and_12_show_every_method_with_its_bound_and_its_limit():
    history = json.dumps([0.0, 0.01, 0.02])
    rows = [
        made_up(trial, error_history=history, torque_history=history, bound_rad=0.03)
        for trial in tasks(QUICK)
    ]
    shown = {each.heading: each.plots for each in figures(rows)}
    assert set(shown) == {
        f'Figure {number}: task {task}, {plant} plant'
        for number, task in ((11, 'a'), (12, 'b'))
        for plant in ('ideal', 'noisy', 'drives')
    }
    plots = [p for p in shown['Figure 11: task a, noisy plant'] if 'dumbbell_8lb' in p.title]
    for kind, limit in (('tracking error', 0.03), ('torque', 1.0)):
        some = [plot for plot in plots if plot.title.startswith(kind)]
        assert [line.name for plot in some for line in plot.lines] == list(EVERY)
        assert all(plot.bands[0].upper.tolist() == [limit, limit] for plot in some)
        assert some[0].lines[0].x.tolist() == [0.0, 0.025, 0.05]


def test_a_history_keeps_the_largest_of_every_joint_and_instant():
    model = arm_of('dumbbell_4lb', 1).nominal
    q, torque = np.zeros((60, 7)), np.zeros((60, 7))
    q[30, 4], torque[59, 2] = -0.125, -0.5 * model.limits.torque[2]
    kept = histories_of(Course(q, q, np.zeros_like(q), torque), model)
    assert json.loads(kept['error_history']) == [0.0, 0.125, 0.0]
    assert json.loads(kept['torque_history']) == [0.0, 0.0, 0.5]


def result_with(rows, folder):
    experiment = experiment_named('table3')
    return ExperimentResult(experiment, QUICK, folder, rows, tables_of(experiment, rows))
