"""Predicted rows are the regressor along the curve, averaged over groups of samples."""

import numpy as np
from plan.cost.derivatives import numerical_gradient
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.plan.cost.predicted_rows import PredictedRows
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.trajectory.bezier import Bezier


def random_rows(rng, samples_per_row=1, n=4):
    model = random_tree(rng, n, serial=True)
    curve = Bezier(*rng.normal(size=(3, n)), 3.0)
    horizon = Horizon(curve, rng.normal(size=n), rng.uniform(0.1, 0.5, n))
    return PredictedRows(model, horizon, 2.0, 12, samples_per_row)


def test_rows_are_those_of_the_curve_at_equal_steps(rng):
    predicted, x = random_rows(rng), rng.uniform(-1, 1, 4)
    horizon, t = predicted.horizon, np.linspace(0, 2, 12)
    k = horizon.k_center + x * horizon.k_range
    states = [horizon.curve.derivative(order, t, k) for order in range(3)]
    W = standard_regressor(predicted.model, *states)
    expected = W[:, :, predicted.model.layout.end_effector]
    assert np.allclose(predicted.rows(x), expected, atol=1e-12)


def test_a_row_of_several_samples_is_their_mean(rng):
    seed = int(rng.integers(1000))
    one, three = (random_rows(np.random.default_rng(seed), count) for count in (1, 3))
    x = rng.uniform(-1, 1, 4)
    rows = one.rows(x)
    assert np.allclose(three.rows(x)[1], (rows[3] + rows[4] + rows[5]) / 3)


@pytest.mark.parametrize('samples_per_row', [1, 4])
def test_pullback_is_the_derivative_of_a_weighted_sum(samples_per_row, rng):
    predicted, x = random_rows(rng, samples_per_row), rng.uniform(-1, 1, 4)
    weights = rng.normal(size=predicted.rows(x).shape)
    numeric = numerical_gradient(lambda at: (weights * predicted.rows(at)).sum(), x)
    found = predicted.pullback(x, weights)
    assert np.allclose(found, numeric, rtol=1e-8, atol=1e-8 * np.abs(found).max())


def test_refuses_groups_and_times_that_do_not_fit(rng):
    rows = random_rows(rng)
    with pytest.raises(BoundError, match='not groups of 5'):
        PredictedRows(rows.model, rows.horizon, 2.0, 12, 5)
    for until in (0.0, 3.5, np.nan):
        with pytest.raises(BoundError, match='duration of the curve'):
            PredictedRows(rows.model, rows.horizon, until).rows(np.zeros(4))
