"""Eigenvalues of matrices in intervals stay below their bounds, which are close."""

from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.sets.interval import Interval
from safe_sysid.sets.spectral import largest_eigenvalue, spectral_radius


def symmetric(rng, n):
    A = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3.0, 3.0, size=n)
    return A + A.T


def test_the_largest_eigenvalue_is_bounded_closely(rng):
    for n in (1, 2, 7, 12):
        matrices = np.array([symmetric(rng, n) for _ in range(20)])
        matrices = matrices @ matrices
        largest = np.linalg.eigvalsh(matrices)[:, -1]
        bound = largest_eigenvalue(Interval.of(matrices))
        assert np.all(bound >= largest * (1.0 - 1e-13))
        assert bound == pytest.approx(largest, rel=1e-9)


def test_the_bound_holds_for_every_matrix_of_an_interval(rng):
    reached = 0.0
    for _ in range(40):
        middle, radius = symmetric(rng, 5), 1e-2 * np.abs(symmetric(rng, 5))
        bound = largest_eigenvalue(Interval.from_center_radius(middle, radius))
        for _ in range(20):
            signs = np.triu(rng.choice([-1.0, 1.0], (5, 5)))
            signs += np.triu(signs, 1).T
            top = np.linalg.eigvalsh(middle + signs * radius)[-1]
            assert top <= bound * (1.0 + 1e-13)
            reached = max(reached, top / bound)
    assert reached > 0.9


def test_a_spectral_radius_of_absolute_values_bounds_the_norm(rng):
    for n in (1, 3, 8):
        for _ in range(20):
            A = symmetric(rng, n)
            bound = spectral_radius(np.abs(A))
            assert np.abs(np.linalg.eigvalsh(A)).max() <= bound * (1.0 + 1e-13)
            radius = np.abs(np.linalg.eigvals(np.abs(A))).max()
            assert bound >= radius * (1.0 - 1e-13)


def test_a_spectral_radius_is_not_below_that_of_exact_fractions(rng):
    """Of a matrix whose vector of Perron is that of the bound: all rows have the same sum."""
    for n in (1, 2, 5, 12):
        N = rng.random((n, n)) * 10.0 ** rng.uniform(-8.0, 8.0)
        exact = [sum(map(Fraction, row)) for row in N.tolist()]
        for i in range(n):  # the last entry makes up for the rest, to a float
            N[i, -1] += float(max(exact) - exact[i])
        smallest = min(sum(map(Fraction, row)) for row in N.tolist())
        assert Fraction(float(spectral_radius(N))) >= smallest


@pytest.mark.filterwarnings('ignore:invalid value')
def test_what_is_no_number_has_no_bound():
    for value in (np.nan, np.inf):
        assert spectral_radius(np.full((2, 2), value)) == np.inf


def test_nothing_has_no_norm():
    assert spectral_radius(np.zeros((2, 3, 3))) == pytest.approx(0.0, abs=1e-300)
    assert largest_eigenvalue(Interval.of(-np.eye(3))) < 1e-300
