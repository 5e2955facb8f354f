"""Legs with closed loops: cells, what tables count, sines, and one leg that is identified."""

import numpy as np
import pytest

from safe_sysid.experiment import digit
from safe_sysid.experiment.digit_figures import sections
from safe_sysid.experiment.digit_text import tables
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import row_of
from safe_sysid.model.closed_chain.chain import ClosedChain

QUICK = ExperimentSettings(quick=True)


def made_up(spec, **columns):
    row = {**spec.columns, 'samples': 4000}
    for i in range(6):
        for model in (*digit.MODELS, 'true'):
            kinds = ('torque_rms', 'free_l2', 'mean', 'largest')
            row |= {f'{kind}_{model}_{i}': 1.0 + (model == 'manufacturer') for kind in kinds}
    row |= {f'saturated_{model}': 0.25 for model in digit.MODELS}
    return row | columns


def test_tables_count_the_joints_that_identification_makes_worse():
    trials = digit.trials(QUICK)
    assert len(trials) == 2 * 4
    rows = [made_up(each) for each in trials]
    torque, free, *tracked = tables(rows)
    assert len(torque.rows) == 12
    assert torque.rows[0] == ('left hip-roll', '1', '2', '1', '1.00', '1.81')
    assert 'worse than described in 0 of 12 joints, theirs in 4' in torque.sentences[0]
    assert '4000 samples' in free.sentences[0]
    assert [table.rows[0][-1] for table in tracked] == ['–', '–', '2.81, 7.20']
    assert 'at most 25 %' in tracked[0].sentences[0]
    worse = [made_up(each, torque_rms_identified_1=9.0) for each in trials]
    assert 'in 2 of 12 joints' in tables(worse)[0].sentences[0]


def test_figures_are_of_every_joint_of_the_left_leg():
    values = np.arange(12.0).reshape(2, 6)
    rows = [made_up(each) for each in digit.trials(QUICK)]
    assert sections(rows) == []
    for kind, models in (('residual', digit.MODELS), ('free', (*digit.MODELS, 'was'))):
        for model in models:
            rows[0] |= digit.history(f'{kind}_{model}', values, 10.0)
    residual, free = sections(rows)
    assert [len(each.plots) for each in (residual, free)] == [6, 6]
    line = residual.plots[4].lines[1]
    assert (line.name, line.x.tolist(), line.y.tolist()) == ('manufacturer', [0.0, 0.1], [4, 10])
    assert [line.name for line in free.plots[0].lines][-1] == 'as it was'


@pytest.mark.slow
def test_sines_reach_their_speed_with_loops_closed(rng):
    chain = ClosedChain.named(digit.ROBOT)
    q, qd, qdd = digit.sines(chain, 3.0, 1.0, rng)
    assert np.abs(qd).max() <= 3.0 + 1e-12
    period = 1.0 / digit.RATE
    assert np.gradient(q, period, axis=0)[1:-1] == pytest.approx(qd[1:-1], abs=1e-2)
    assert np.gradient(qd, period, axis=0)[1:-1] == pytest.approx(qdd[1:-1], abs=0.2)


@pytest.mark.nightly
def test_what_is_identified_predicts_as_the_truth_does():
    trials = [each for each in digit.trials(QUICK) if each.settings['judged_by'] != '1.8']
    rows = [row_of(digit.trial, each)[0] for each in trials[:3]]
    assert all(row['status'] == 'ok' for row in rows), [row['reason'] for row in rows]
    torque, *tracked = rows
    for i in range(6):
        assert torque[f'torque_rms_identified_{i}'] < 1.2 * torque[f'torque_rms_true_{i}']
        for row in tracked:
            assert row[f'mean_identified_{i}'] < row[f'mean_manufacturer_{i}']
