"""The pullback is the derivative of a weighted sum of the whole regressor, for trees too."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.regressor_pullback import regressor_pullback
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.simulate.random_arm import random_tree


def random_states(rng, n, count=3):
    return rng.normal(size=(3, count, n))


@pytest.mark.parametrize('serial', [True, False])
def test_pullback_is_the_derivative(serial, rng):
    for n in (1, 2, 4, 7):
        model = random_tree(rng, n, serial=serial)
        states, h = random_states(rng, n), 1e-3
        weights = rng.normal(size=(3, n, model.layout.size))
        weights[:, :, model.layout.joint_entries('Fc')] = 0.0  # sign(qd) may jump

        def total(step, model=model, states=states, weights=weights):
            return float((weights * standard_regressor(model, *(states + step))).sum())

        slopes = regressor_pullback(model, *states, weights)
        for _ in range(10):
            d = rng.normal(size=states.shape) / np.sqrt(states.size)
            near, far = total(h * d) - total(-h * d), total(2 * h * d) - total(-2 * h * d)
            size = np.abs(slopes).max()
            assert np.isclose((slopes * d).sum(), (8 * near - far) / (12 * h), atol=1e-9 * size)


def test_dry_friction_has_no_slope(rng):
    model, states = random_tree(rng, 3, serial=True), random_states(rng, 3)
    weights = np.zeros((3, 3, model.layout.size))
    weights[:, :, model.layout.joint_entries('Fc')] = 1.0
    assert not np.any(regressor_pullback(model, *states, weights))


def test_refuses_weights_of_another_shape(rng):
    model = random_tree(rng, 3, serial=True)
    with pytest.raises(MeasurementError, match='one per entry of W is needed'):
        regressor_pullback(model, *random_states(rng, 3), np.zeros((3, 3, 10)))
