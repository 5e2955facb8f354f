"""Reweighting finds the noise of each joint and every planted outlier, and spoils nothing else."""

from calibrate.simulated import rows_of
import numpy as np
import pytest

from safe_sysid.calibrate.excitation_quality import arm_base_parameters
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.reweighted_fit import base_solver, reweighted_fit
from safe_sysid.errors import MeasurementError
from safe_sysid.model.robot_model import RobotModel

MODEL = RobotModel.named('two_link')
COLUMNS = FitColumns(MODEL.layout, 0.003)
SIGMA = np.array([0.8, 0.1])


@pytest.fixture
def base(rng):
    return arm_base_parameters(MODEL, COLUMNS, rng)


def fitted(base, Y, tau, outlier=4.0):
    return reweighted_fit(Y, tau, base_solver(base), base.count, outlier)


def test_noise_of_each_joint_is_found(base, rng):
    Y, tau, x = rows_of(MODEL, COLUMNS, rng, 1500, SIGMA)
    fit = fitted(base, Y, tau, np.inf)
    assert fit.sigma == pytest.approx(SIGMA, rel=0.06)
    assert fit.outliers == 0
    error = fit.x[base.columns] - base.values(x)
    A = (Y[:, :, base.columns] / SIGMA[:, None]).reshape(-1, base.count)
    best = np.linalg.solve(A.T @ A, A.T @ (tau / SIGMA).ravel())
    assert fit.x[base.columns] == pytest.approx(best, abs=0.05 * np.abs(error).max())


def test_every_planted_outlier_is_left_out_for_good(base, rng):
    Y, tau, x = rows_of(MODEL, COLUMNS, rng, 1000, SIGMA)
    clean = fitted(base, Y, tau)
    planted = rng.random(tau.shape) < 0.02
    thrown = rng.choice([-1, 1], size=tau.shape) * rng.uniform(8.0, 25.0, tau.shape) * SIGMA
    fit = fitted(base, Y, np.where(planted, tau + thrown, tau))
    assert not (fit.kept & planted).any()
    assert np.sum(~fit.kept & ~planted) < 0.002 * tau.size
    assert fit.sigma == pytest.approx(SIGMA, rel=0.08)

    def off(found):
        return np.linalg.norm(Y @ (found.x - x))

    assert off(fit) < 1.2 * off(clean)
    assert off(fitted(base, Y, np.where(planted, tau + thrown, tau), np.inf)) > 2.0 * off(clean)


def test_data_are_the_kept_rows_in_units_of_noise(base, rng):
    Y, tau, x = rows_of(MODEL, COLUMNS, rng, 300, SIGMA)
    tau[7, 0] += 50.0
    fit = fitted(base, Y, tau)
    residual = (tau - Y @ x) / fit.sigma
    assert fit.data.cost(x) == pytest.approx(np.sum(residual[fit.kept] ** 2))
    assert fit.data.count == fit.kept.sum() < tau.size


def test_too_few_rows_are_refused(base, rng):
    Y, tau, _ = rows_of(MODEL, COLUMNS, rng, 4, SIGMA)
    with pytest.raises(MeasurementError, match='4 samples of 2 joints can not determine'):
        fitted(base, Y, tau)
