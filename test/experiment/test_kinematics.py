"""Geometry from noisy poses: cells, tables, and a fit that comes out the same."""

import pytest

from safe_sysid.experiment import kinematics
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import result_of, row_of

QUICK = ExperimentSettings(quick=True)


def test_both_choices_of_poses_have_the_same_arm():
    trials = kinematics.trials(QUICK)
    assert len(trials) == 3 * 2 * 2
    seeds = {}
    for each in trials:
        cell = each.settings['noise'], each.settings['poses']
        seeds.setdefault(cell, set()).add(each.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len({seed for found in seeds.values() for seed in found}) == len(seeds)


def test_tables_set_random_poses_beside_chosen_ones():
    rows = [
        {
            **each.columns,
            **{'rank': 34, 'unknowns': 62, 'before_rms_mm': 3.0, 'after_largest_mm': 1.0},
            'after_rms_mm': 0.2 if each.settings['choice'] == 'random' else 0.1,
        }
        for each in kinematics.trials(QUICK)
    ]
    (table,) = kinematics.tables(rows)
    assert table.rows[0][:5] == ('0.1 mm, 0.05 deg', '20', '3.000', '0.200', '0.100')
    assert table.rows[0][-1] == '34 of 62'


@pytest.mark.slow
def test_a_measured_arm_comes_out_the_same_and_better_than_described():
    spec, *_ = kinematics.trials(QUICK)
    once, again = (row_of(kinematics.trial, spec)[0] for _ in range(2))
    assert once['status'] == 'ok', once['reason']
    assert result_of(once) == result_of(again)
    assert once['after_rms_mm'] < 0.2 * once['before_rms_mm']
