"""Fits with closed loops: ranks, recovery, outliers, bodies that can exist, and named limits."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.constrained import rows_in_bursts
from safe_sysid.bench.experiments.closed_chains import recording, true_chain
from safe_sysid.calibrate.closed_chain_fit import (
    closed_chain_fit,
    consistency_of_selection,
    fit_rows,
)
from safe_sysid.calibrate.closed_chain_rows import (
    Selection,
    closed_base_parameters,
    closed_chain_rows,
    random_closures,
    selection_of,
)
from safe_sysid.calibrate.compressed import compress
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.sdp_fit import sdp_fit
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.calibrate.torque_rows import TorqueRows
from safe_sysid.calibrate.validation import torque_error
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosureError


@pytest.fixture(scope='module')
def digit():
    return ClosedChain.named('digit_left_leg')


@pytest.fixture(scope='module')
def columns(digit):
    return FitColumns(digit.model.layout, 0.01)


@pytest.fixture(scope='module')
def leg(digit):
    """A leg that is not what its description says, a recording of it, and another one."""
    rng = np.random.default_rng(21)
    true = true_chain(digit, rng, bodies=False)
    training = recording((digit, true), 8.0, rng, 0.02)
    return true, training, recording((digit, true), 5.0, rng)


@pytest.fixture(scope='module')
def fit(digit, leg):
    return closed_chain_fit(digit, [leg[1].log], ClosedChainSettings())


def exact_rows(chain, columns, selection, count, seed):
    """Rows of random states without noise; torque of the chain's parameters."""
    rng = np.random.default_rng(seed)
    q = random_closures(chain, count, rng)
    qd, qdd = rng.normal(size=(2, count, len(chain.actuated)))
    motion = chain.expand(q, qd, 5.0 * qdd)
    W = columns.regressor(chain.model, motion.q, motion.qd, motion.qdd)
    Y = (np.swapaxes(motion.G, 1, 2) @ W)[:, :, selection.entries]
    tau = Y @ chain.model.theta[selection.entries]
    return TorqueRows(Y, tau, tau, 100.0, np.ones(1), 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ('identified', 'parameters', 'rank'),
    slow_after(1, [('motors', 24, 24), ('joints', 60, 60), ('everything', 144, 105)]),
)
def test_ranks_of_digit_are_the_published_ones(digit, columns, identified, parameters, rank):
    selection = selection_of(digit, identified)
    assert len(selection.entries) == parameters
    base = closed_base_parameters(digit, columns, selection, np.random.default_rng(1))
    assert base.count == rank
    assert base.decision.gap > 1e3


@pytest.mark.slow
def test_loops_hide_three_combinations_that_the_open_tree_shows(digit, columns):
    inertial = Selection(np.arange(150), tuple(range(15)))
    base = closed_base_parameters(digit, columns, inertial, np.random.default_rng(2))
    assert base.count == 98  # 101 without the loops
    whole = Selection(np.arange(210), tuple(range(15)))
    assert closed_base_parameters(digit, columns, whole, np.random.default_rng(3)).count == 156


@pytest.mark.slow
def test_parameters_come_back_from_exact_data(digit, columns):
    rng = np.random.default_rng(4)
    true = true_chain(digit, rng, bodies=False)
    selection = selection_of(digit, 'motors')
    rows = exact_rows(true, columns, selection, 300, 5)
    settings = ClosedChainSettings(outlier=1e9)
    found = fit_rows(digit, columns, selection, rows, settings, np.full(6, np.inf))
    truth = true.model.theta[selection.entries]
    np.testing.assert_allclose(found.reweighted.x, truth, atol=1e-9)
    np.testing.assert_allclose(found.x, truth, atol=1e-5)


@pytest.mark.slow
def test_bodies_can_exist_even_where_least_squares_finds_none(digit, columns):
    selection = selection_of(digit, 'everything')
    rows = exact_rows(digit, columns, selection, 150, 6)
    noisy = rows.tau + np.random.default_rng(7).normal(0.0, 0.5, rows.tau.shape)
    data = compress(rows.Y.reshape(-1, 144) / 0.5, noisy.ravel() / 0.5)
    limits = consistency_of_selection(digit, columns, selection, 1.0)
    plain, *_ = np.linalg.lstsq(data.R, data.z, rcond=1e-9)
    assert limits.eigenvalues(plain).min() < 0.0
    found = sdp_fit(data, limits)
    assert limits.eigenvalues(found.x).min() > 0.0
    assert found.x[limits.nonnegative].min() > -1e-6
    assert found.cost < 1.05 * data.cost(plain) + 144
    again = sdp_fit(data, replace(limits, priors=1.3 * limits.priors))
    assert again.objective != pytest.approx(found.objective, rel=1e-6)


@pytest.mark.slow
def test_friction_and_armature_of_the_motors_are_found(digit, columns, leg, fit):
    true, _, validation = leg
    truth = true.model.theta[fit.selection.entries]
    errors = np.abs(fit.reweighted.x - truth) / fit.deviation
    assert np.mean(errors < 2.0) > 0.75 and errors.max() < 4.0
    held = closed_chain_rows(digit, columns, fit.selection, validation.log, 20.0)
    identified, best = torque_error(held, fit.x).rms, torque_error(held, truth).rms
    nominal = torque_error(held, digit.model.theta[fit.selection.entries]).rms
    assert np.sqrt(np.sum(identified**2) / np.sum(best**2)) <= 1.1
    assert np.all(identified < nominal)
    assert fit.separability.alone.all() and fit.separability.groups == ()


@pytest.mark.slow
def test_all_planted_outliers_are_left_out(leg, fit):
    inside = rows_in_bursts(leg[1], ClosedChainSettings())
    assert inside.sum() > 20
    assert not fit.reweighted.kept[inside].any()
    assert np.mean(fit.reweighted.kept) > 0.9


@pytest.mark.slow
def test_what_turns_together_is_named_and_gets_no_figure(digit, leg):
    found = closed_chain_fit(digit, [leg[1].log], ClosedChainSettings(identified='joints'))
    named = {name for group in found.separability.groups for name in group}
    assert {'left_knee.Fv', 'left_achilles_rod.Fv'} <= named
    at = [found.labels.index(name) for name in ('left_knee.Fv', 'left_achilles_rod.Fv')]
    assert np.isnan(found.deviation[at]).all() and not found.separability.alone[at].any()
    assert any('can not be separated' in line for line in found.separability.sentences())


@pytest.mark.slow
def test_a_four_bar_is_identified_whole():
    rng = np.random.default_rng(8)
    nominal = ClosedChain.named('four_bar')
    true = true_chain(nominal, rng, bodies=True)
    training, held = (recording((nominal, true), 8.0, rng) for _ in range(2))
    found = closed_chain_fit(nominal, [training.log], ClosedChainSettings(identified='everything'))
    assert found.uncertainty.base.count == 11
    columns = FitColumns(nominal.model.layout, 0.01)
    rows = closed_chain_rows(nominal, columns, found.selection, held.log, 20.0)
    truth = true.model.theta[found.selection.entries]
    assert torque_error(rows, found.x).rms[0] <= 1.1 * torque_error(rows, truth).rms[0]
    assert found.consistent.smallest_eigenvalue > 0.0


def test_a_recording_that_does_not_fit_the_robot_is_refused(digit):
    q = np.zeros((200, 6))
    with pytest.raises(MeasurementError, match=r'5 joints; the actuated joints of digit_left_leg'):
        selection = selection_of(digit, 'motors')
        columns = FitColumns(digit.model.layout, 0.01)
        closed_chain_rows(digit, columns, selection, EvenLog(1e3, q[:, :5], q[:, :5]), 20.0)
    q[100:, 4:] = 0.7
    with pytest.raises(ClosureError, match='loop toe_'):
        closed_chain_fit(digit, [EvenLog(1e3, q, q)], ClosedChainSettings())
    with pytest.raises(ConfigError, match="'motor' can not be identified, allowed are motors"):
        selection_of(digit, 'motor')
