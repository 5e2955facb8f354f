"""Variances and slopes of compiled code are those of the inverse that they stand for."""

import numpy as np
from plan.cost.derivatives import numerical_gradient

from safe_sysid.plan.cost.narrowing import (
    covariance_columns,
    information,
    last_variances,
    slopes_in_rows,
)


def some_rows(rng, m=12, p=9):
    """Rows with many zeros, and information that was there before."""
    before = rng.normal(size=(p, p))
    return np.eye(p) + before.T @ before, rng.normal(size=(m, p)) * (rng.random((m, p)) < 0.4)


def test_columns_are_those_of_the_inverse(rng):
    for _ in range(20):
        M_0, H = some_rows(rng)
        expected = np.linalg.inv(M_0 + H.T @ H)
        for count in (1, 4, 9):
            found = covariance_columns(information(M_0, H), count)
            np.testing.assert_allclose(found, expected[:, -count:], rtol=1e-9, atol=1e-12)


def test_variances_are_those_of_the_inverse(rng):
    for _ in range(20):
        M_0, H = some_rows(rng)
        expected = np.diag(np.linalg.inv(M_0 + H.T @ H))
        for count in (1, 4, 9):
            found = last_variances(information(M_0, H), count)
            np.testing.assert_allclose(found, expected[-count:], rtol=1e-9)


def test_what_was_known_before_is_left_as_it_was(rng):
    M_0, H = some_rows(rng)
    kept = M_0.copy()
    covariance_columns(information(M_0, H), 3)
    assert np.array_equal(M_0, kept)


def test_unknowns_of_very_different_sizes_are_told_apart(rng):
    """Half widths and errors of an arm differ by five orders of magnitude."""
    M_0, H = some_rows(rng)
    H = H * 10.0 ** np.linspace(-3, 3, H.shape[1])
    expected = np.linalg.inv(M_0 + H.T @ H)
    found = covariance_columns(information(M_0, H), 4)
    np.testing.assert_allclose(np.diag(found[-4:]), np.diag(expected)[-4:], rtol=1e-6)


def test_slopes_are_derivatives(rng):
    M_0, H = some_rows(rng)
    weights = rng.uniform(0.0, 1.0, 4)

    def weighted(flat):
        C = np.linalg.inv(M_0 + flat.reshape(H.shape).T @ flat.reshape(H.shape))
        return float(weights @ np.diag(C)[-4:])

    X = covariance_columns(information(M_0, H), 4)
    numeric = numerical_gradient(weighted, H.ravel(), 1e-4).reshape(H.shape)
    np.testing.assert_allclose(slopes_in_rows(H, X, weights), numeric, rtol=1e-5, atol=1e-8)
