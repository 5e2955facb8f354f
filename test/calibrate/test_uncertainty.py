"""Standard deviations hold as often as they should, for noise and with errors of the model."""

from calibrate.simulated import Simulated
import numpy as np
import pytest

from safe_sysid.calibrate.reweighted_fit import base_solver, reweighted_fit
from safe_sysid.calibrate.uncertainty import uncertainty_of
from safe_sysid.calibrate.validation import likeliness_of_noise

ARMS = 12


def fit_of(one, tau):
    return reweighted_fit(one.rows.Y, tau, base_solver(one.base), one.base.count, 4.0)


@pytest.fixture(scope='module')
def arms():
    return [Simulated('two_link', np.random.default_rng(k)) for k in range(ARMS)]


def test_estimates_are_within_two_deviations_as_often_as_they_should(arms):
    scores, white = [], []
    for one in arms:
        fit = fit_of(one, one.rows.tau)
        found = uncertainty_of(one.base, one.rows, one.rows.tau - one.rows.Y @ fit.x, fit.kept)
        off = fit.x[one.base.columns] - one.base.values(one.x)
        scores.append(off / found.deviation())
        white.append(off / np.sqrt(np.diag(found.white)))
    assert 0.90 < np.mean(np.abs(scores) < 2.0) < 0.995
    assert np.sqrt(np.mean(np.square(scores))) == pytest.approx(1.0, abs=0.25)
    assert np.mean(np.square(white)) > np.mean(np.square(scores))


def test_errors_of_the_model_widen_the_deviations(arms):
    one = arms[0]
    fit = fit_of(one, one.rows.tau)
    noise = uncertainty_of(one.base, one.rows, one.rows.tau - one.rows.Y @ fit.x, fit.kept)
    t = np.arange(len(one.rows)) / one.rows.rate
    wave = 5.0 * fit.sigma * np.sin(2 * np.pi * 0.25 * t)[:, None]
    disturbed = fit_of(one, one.rows.tau + wave)
    residual = one.rows.tau + wave - one.rows.Y @ disturbed.x
    more = uncertainty_of(one.base, one.rows, residual, disturbed.kept)
    assert (more.factor > 3.0).all()
    assert (more.deviation() > 3.0 * noise.deviation()).all()
    assert (more.deviation() ** 2 > 2.5 * np.diag(more.white)).all()


def test_torque_deviation_is_that_of_the_parameters_it_comes_from(arms):
    one = arms[1]
    fit = fit_of(one, one.rows.tau)
    found = uncertainty_of(one.base, one.rows, one.rows.tau - one.rows.Y @ fit.x, fit.kept)
    draws = np.random.default_rng(0).multivariate_normal(
        np.zeros(one.base.count), found.covariance, size=3000, method='eigh'
    )
    rows = one.rows.Y[:5][:, :, one.base.columns]
    spread = np.std(np.einsum('tji,ki->ktj', rows, draws), axis=0)
    assert found.torque_deviation(one.rows.Y[:5]) == pytest.approx(spread, rel=0.06)


def test_worst_combinations_are_eigenvectors_largest_first(arms):
    one = arms[1]
    fit = fit_of(one, one.rows.tau)
    found = uncertainty_of(one.base, one.rows, one.rows.tau - one.rows.Y @ fit.x, fit.kept)
    scale = np.linspace(1.0, 2.0, one.base.count)
    sizes = []
    for size, direction in found.worst_combinations(scale, 3):
        relative = found.covariance / np.outer(scale, scale)
        assert relative @ direction == pytest.approx(size**2 * direction, rel=1e-6, abs=1e-12)
        sizes.append(size)
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.slow
def test_noise_is_told_from_what_is_not(arms):
    rng = np.random.default_rng(7)
    rows = arms[0].rows
    likely = np.concatenate([likeliness_of_noise(rows, rows.noise(rng)) for _ in range(40)])
    assert 0.25 < np.mean(likely) < 0.75
    assert np.mean(likely < 0.05) < 0.15
    t = np.arange(len(rows)) / rows.rate
    wave = rows.noise(rng) + np.sin(2 * np.pi * 0.5 * t)[:, None]
    assert (likeliness_of_noise(rows, wave) < 1e-6).all()
