"""Regressor of the tip's body: equal to columns of the whole one, derivatives by differences."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.dynamics.tip_regressor import tip_path, tip_pullback, tip_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree


def random_states(rng, n, samples=5):
    return [rng.normal(size=(samples, n)) for _ in range(3)]


def random_arms(rng):
    yield RobotModel.named('kinova_gen3')
    for serial in (True, False, False):
        for n in (2, 5, 8):
            yield random_tree(rng, n, serial)


def test_is_the_columns_of_the_last_body(rng):
    for model in random_arms(rng):
        states = random_states(rng, model.n)
        whole = standard_regressor(model, *states)[:, :, model.layout.end_effector]
        assert np.allclose(tip_regressor(model, *states), whole, rtol=1e-12, atol=1e-11)


def test_pullback_is_the_derivative_by_differences(rng):
    """Fourth-order differences, good to about 1e-11 of the sum."""
    for model in random_arms(rng):
        states = np.stack(random_states(rng, model.n, 2))
        weights = rng.normal(size=(2, model.n, 10))

        def total(change, states=states, weights=weights, model=model):
            return float((weights * tip_regressor(model, *(states + change))).sum())

        slopes, h = tip_pullback(model, *states, weights), 1e-3
        for _ in range(10):
            d = rng.normal(size=states.shape) / np.sqrt(states.size)
            near, far = total(h * d) - total(-h * d), total(2 * h * d) - total(-2 * h * d)
            size = np.abs(slopes).max()
            assert np.isclose((slopes * d).sum(), (8 * near - far) / (12 * h), atol=1e-9 * size)


def test_path_goes_from_the_base_to_the_tip(rng):
    for model in random_arms(rng):
        path = tip_path(model)
        assert path[-1] == model.layout.tip
        assert [-1, *path[:-1]] == list(model.tree.parent[path])


def test_refuses_weights_of_another_shape(rng):
    model = random_tree(rng, 3, serial=True)
    with pytest.raises(MeasurementError, match='one per entry of W_e'):
        tip_pullback(model, *random_states(rng, 3), np.zeros((5, 10)))
    with pytest.raises(MeasurementError, match='samples'):
        tip_regressor(model, np.zeros((2, 3)), np.zeros((3, 3)), np.zeros((3, 3)))
