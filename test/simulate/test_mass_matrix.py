"""Mass matrix and bias torque are those of Pinocchio, on chains and trees, with sliding joints."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.simulate.mass_matrix import mass_matrix_and_bias
from safe_sysid.simulate.random_arm import random_tree


def computed(model, q, qd):
    H, bias = np.full((model.n, model.n), np.nan), np.full(model.n, np.nan)
    phi = model.theta[: 10 * model.n].reshape(model.n, 10)
    mass_matrix_and_bias(model.tree, phi, q, qd, H, bias)
    return H, bias


@pytest.mark.parametrize('serial', [True, False])
def test_they_are_those_of_pinocchio(rng, serial):
    for _ in range(40):
        model = random_tree(rng, int(rng.integers(1, 9)), serial)
        rigid = model.pinocchio()
        data = rigid.createData()
        q, qd = 2 * rng.normal(size=(2, model.n))
        H, bias = computed(model, q, qd)
        upper = np.triu(pin.crba(rigid, data, q))
        np.testing.assert_allclose(H, upper + np.triu(upper, 1).T, atol=1e-12)
        np.testing.assert_allclose(bias, pin.nonLinearEffects(rigid, data, q, qd), atol=1e-10)


def test_bodies_that_cannot_exist_are_calculated_all_the_same(rng):
    # parameters inside guaranteed bounds need not be those of a body; Pinocchio refuses them
    model = random_tree(rng, 4, serial=True)
    theta = rng.normal(size=model.theta.shape)
    theta[40:] = 0.0
    model = model.with_parameters(theta)
    q, qd, qdd = rng.normal(size=(3, 4))
    H, bias = computed(model, q, qd)
    expected = standard_regressor(model, q, qd, qdd) @ theta
    np.testing.assert_allclose(H @ qdd + bias, expected, atol=1e-11)
