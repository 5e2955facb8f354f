"""The log-Cholesky map reaches every consistent body, and its derivatives are exact."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model import log_cholesky
from safe_sysid.model.inertia import is_consistent
from safe_sysid.simulate.random_arm import random_body


def near(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_every_coordinate_vector_is_a_consistent_body(rng):
    for eta in rng.normal(scale=1.5, size=(200, 10)):
        assert is_consistent(log_cholesky.parameters(eta))


def test_coordinates_and_parameters_are_inverse(rng):
    for _ in range(100):
        phi = random_body(rng)
        near(log_cholesky.parameters(log_cholesky.coordinates(phi)), phi)
    for eta in rng.normal(size=(100, 10)):
        near(log_cholesky.coordinates(log_cholesky.parameters(eta)), eta)


def test_factor_by_hand():
    # eta = 0: U = 1, J = 1, so m = 1, mc = 0, I = tr(1) 1 - 1 = 2 1
    near(log_cholesky.parameters(np.zeros(10)), np.array([1, 0, 0, 0, 2, 0, 2, 0, 0, 2.0]))
    # s34 = 2 with eta = 0: J = U U' has J33 = 1 + 4 and J34 = 2
    near(
        log_cholesky.parameters(np.eye(10)[9] * 2),
        np.array([1, 0, 0, 2, 6, 0, 6, 0, 0, 2.0]),
    )


def test_derivatives_are_those_of_the_map(rng):
    step = 1e-3
    for eta in rng.normal(scale=0.7, size=(10, 10)):

        def difference(f, eta=eta):
            columns = []
            for e in np.eye(10):
                pairs = [f(eta + k * step * e) - f(eta - k * step * e) for k in (1, 2, 3)]
                columns.append((45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * step))
            return np.stack(columns, axis=-1)

        near(log_cholesky.jacobian(eta), difference(log_cholesky.parameters))
        near(log_cholesky.second_derivatives(eta), difference(log_cholesky.jacobian))


def test_a_body_that_cannot_exist_has_no_coordinates():
    with pytest.raises(BoundError, match='no body has the inertial parameters .* eigenvalue'):
        log_cholesky.coordinates(np.array([1.0, 0, 0, 0, 1, 0, 1, 0, 0, 3]))
