"""Signals and regressions: harmonics and a semidefinite program beat what is published."""

import numpy as np
import pytest

from safe_sysid.experiment import excitation
from safe_sysid.experiment.excitation_text import sections, tables
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import row_of

QUICK = ExperimentSettings(quick=True)


def made_up(spec):
    if spec.settings['kind'] == 'motion':
        return {
            **spec.columns,
            'condition': 60.0,
            'clearance_mm': 5.0,
            'proven': True,
            'cpu_s': 2.0,
        }
    if spec.settings['kind'] == 'drift':
        row = {'drift_mm': 0.5, 'force_rms': 0.2, 'force_largest': 0.7, 'push_error': 1.0}
        return {**spec.columns, 'status': 'ok', **row, 'force_history': '[0.0, 15.0]'}
    return {
        **spec.columns,
        **{'acceleration_error': 0.01, 'torque_error_share': 0.05, 'bodies_that_cannot_exist': 2},
        **{'largest_error_A1': 0.8, 'largest_error_A7': 0.4, 'status': 'ok'},
        **{f'{name}_history': '[0.0, 1.0]' for name in ('position', 'true', 'error')},
    }


def test_tables_tell_motions_then_signals_then_the_published_errors():
    motions, errors, torques, drifts = tables([made_up(each) for each in excitation.trials(QUICK)])
    assert motions.rows[0] == ('kappa', '2', '60', '60', '60', '2.0', '5.0', '2/2')
    assert len(errors.rows) == len(excitation.SIGNALS) * len(excitation.REGRESSIONS)
    assert errors.rows[0][2:] == ('0.010', '5.00', '2 of 7')
    assert torques.rows == (('A1', '0.80', '1.5'), ('A7', '0.40', '0.5'))
    assert [row[0] for row in drifts.rows] == list(excitation.GUIDED_BY)
    assert drifts.rows[0][1:] == ('1', '0.50', '0.50', '1/1', '0.20', '0.7', '1.0')


def test_the_page_shows_motion_regression_and_pushes():
    motion, pushes = sections([made_up(each) for each in excitation.trials(QUICK)])
    assert [plot.title[:8] for plot in motion.plots] == ['figure 2', 'figure 4']
    (plot,) = pushes.plots
    assert [line.name for line in plot.lines] == [*excitation.GUIDED_BY, 'push']
    assert plot.lines[0].x.tolist() == [0.0, 0.25]
    assert plot.lines[-1].y.max() == 15.0


@pytest.mark.slow
def test_an_arm_that_nobody_touches_stays_unless_its_model_is_wrong():
    specs = [t for t in excitation.trials(QUICK) if t.settings['kind'] == 'drift']
    rows = [row_of(excitation.trial, each)[0] for each in specs]
    assert all(row['status'] == 'ok' for row in rows), [row['reason'] for row in rows]
    found = {row['model']: row for row in rows}
    assert found['semidefinite']['drift_mm'] < 1.0
    assert found['true parameters']['drift_mm'] < 1.0
    assert found['as described']['drift_mm'] > 100.0
    assert all(row['push_noticed'] > 0.99 for row in rows)
    assert found['true parameters']['push_error'] < 0.5 * found['as described']['push_error']


def test_a_tracking_differentiator_is_late_and_harmonics_are_not():
    t = np.arange(0.0, 10.0, 0.01)
    omega = 2.0 * np.pi * 0.3
    q = np.sin(omega * t)[:, None] * np.ones(2)
    exact = -(omega**2) * q
    found = {
        name: excitation.signals_of(name, t, q, np.zeros_like(q)) for name in excitation.SIGNALS
    }
    off = {name: np.abs(x.qdd - exact)[excitation.KEPT].max() for name, x in found.items()}
    assert off['harmonics'] < 1e-8 < off['zero phase'] < 0.02
    assert off['tracking differentiator'] > 0.1
    lag = excitation._lag(np.gradient(q, 0.01, axis=0), found['tracking differentiator'].qd)
    assert lag > 0


@pytest.mark.slow
def test_only_the_semidefinite_program_finds_bodies_that_exist():
    specs = [t for t in excitation.trials(QUICK) if t.settings.get('signals') == 'harmonics']
    rows = [row_of(excitation.trial, each)[0] for each in specs]
    assert all(row['status'] == 'ok' for row in rows), [row['reason'] for row in rows]
    found = {row['regression']: row for row in rows}
    assert found['semidefinite']['bodies_that_cannot_exist'] == 0
    assert found['semidefinite']['torque_error_share'] < 0.01
    for name in ('least squares', 'within 30 %', 'within 100 %'):
        assert found[name]['bodies_that_cannot_exist'] > 0
    assert found['within 30 %']['torque_error_share'] > found['within 100 %']['torque_error_share']
