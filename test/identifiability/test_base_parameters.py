"""Base parameters of stacked regressors, against planted dependences and Pinocchio."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.identifiability.base_parameters import (
    base_parameters,
    base_parameters_in_order,
)
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

BOTH = [base_parameters, lambda Y: base_parameters_in_order(Y, np.arange(Y.shape[1]))]


def planted(rng, rows=60, independent=5, dependent=4):
    """Matrix whose last columns are combinations of the first, of very different sizes."""
    basis = rng.normal(size=(rows, independent))
    W = rng.normal(size=(independent, dependent))
    sizes = 10.0 ** rng.uniform(-3, 3, size=independent + dependent)
    return np.hstack([basis, basis @ W]) * sizes


def kinova_rows(rng, samples=120):
    model = RobotModel.named('kinova_gen3')
    q, qd, qdd = rng.normal(size=(3, samples, model.n))
    return model, standard_regressor(model, q, qd, qdd).reshape(-1, model.layout.size)


@pytest.mark.parametrize('route', BOTH)
def test_the_identities_hold(rng, route):
    Y = planted(rng)
    base = route(Y)
    theta = rng.normal(size=Y.shape[1])
    assert base.count == 5
    np.testing.assert_allclose(Y[:, base.columns] @ base.values(theta), Y @ theta, rtol=1e-8)
    assert np.abs(Y @ base.undetectable).max() < 1e-9 * np.abs(Y).max()
    assert np.abs(base.regrouping @ base.undetectable).max() < 1e-9
    np.testing.assert_array_equal(base.regrouping[:, base.columns], np.eye(5))
    assert np.linalg.matrix_rank(base.undetectable) == 4


@pytest.mark.parametrize('route', BOTH)
def test_every_theta_with_these_values_is_reached(rng, route):
    Y = planted(rng)
    base = route(Y)
    theta = rng.normal(size=Y.shape[1])
    np.testing.assert_allclose(base.theta(base.values(theta), theta[base.others]), theta)


def test_nearest_theta_keeps_the_values_and_no_other_is_nearer(rng):
    base = base_parameters(planted(rng))
    beta, prior = rng.normal(size=base.count), rng.normal(size=9)
    nearest = base.nearest_theta(beta, prior)
    np.testing.assert_allclose(base.values(nearest), beta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(base.undetectable.T @ (nearest - prior), 0, atol=1e-6)


def test_the_order_decides_which_columns_stand_for_a_combination(rng):
    Y = planted(rng)
    assert base_parameters_in_order(Y, np.arange(9)).columns.tolist() == [0, 1, 2, 3, 4]
    assert base_parameters_in_order(Y, np.arange(9)[::-1]).columns.tolist() == [4, 5, 6, 7, 8]


def test_a_real_arm_has_the_rank_of_the_singular_values(rng):
    _, Y = kinova_rows(rng)
    base = base_parameters(Y)
    norms = np.linalg.norm(Y, axis=0)
    heard = norms > 1e-9 * norms.max()  # rounding noise of length 1 would count as well
    singular = np.linalg.svd(Y[:, heard] / norms[heard], compute_uv=False)
    assert base.count == np.sum(singular > 1e-8 * singular[0])
    assert base.decision.gap > 1e3
    assert base.decision.smallest_accepted == base.singular_values[base.count - 1]


def test_the_triangular_factor_serves_as_well_as_the_rows(rng):
    _, Y = kinova_rows(rng)
    whole, factor = base_parameters(Y), base_parameters(np.linalg.qr(Y)[1])
    assert factor.count == whole.count
    np.testing.assert_allclose(factor.singular_values, whole.singular_values, atol=1e-12)


def test_a_motion_that_excites_less_has_fewer_base_parameters(rng):
    model, Y = kinova_rows(rng)
    q = rng.normal(size=(50, model.n))
    at_rest = standard_regressor(model, q, 0 * q, 0 * q).reshape(-1, model.layout.size)
    assert base_parameters(at_rest).count < base_parameters(Y).count


def test_fewer_rows_than_columns(rng):
    base = base_parameters(rng.normal(size=(3, 7)))
    assert base.count == 3
    assert base.undetectable.shape == (7, 4)


@pytest.mark.parametrize('route', BOTH)
def test_nothing_is_detected_where_nothing_is_measured(route):
    base = route(np.zeros((6, 3)))
    assert base.count == 0
    np.testing.assert_array_equal(base.undetectable, np.eye(3))


@pytest.mark.parametrize('Y', [np.zeros((0, 4)), np.ones(3), np.array([[1.0, np.nan]])])
def test_what_is_not_a_regressor_is_refused(Y):
    with pytest.raises(MeasurementError, match='stacked regressor'):
        base_parameters(Y)


def test_an_order_has_to_name_every_column_once(rng):
    with pytest.raises(MeasurementError, match='each of 9 once'):
        base_parameters_in_order(planted(rng), [0, 1, 1, 3, 4, 5, 6, 7, 8])
