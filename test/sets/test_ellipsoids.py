"""Shapes of ellipsoids contain what they are said to, and comparisons in floats are proofs."""

from fractions import Fraction

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.sets.ellipsoids import contains, factor, is_inside, sum_of, upper_factor, widened


def shape(rng, n, spread=3.0):
    A = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-spread, spread, size=(n, 1))
    return A @ A.T


def on_the_sphere(rng, count, n):
    z = rng.normal(size=(count, n))
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def is_not_negative(matrix):
    """Exactly, by elimination in fractions."""
    rows = [[Fraction(float(x)) for x in row] for row in matrix]
    for k in range(len(rows)):
        if rows[k][k] < 0:
            return False
        for i in range(k + 1, len(rows)):
            if rows[k][k] == 0:
                return rows[i][k] == 0
            share = rows[i][k] / rows[k][k]
            rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return True


@pytest.mark.parametrize('factor', [factor, upper_factor])
def test_factors_give_at_least_their_shape(factor, rng):
    for n in (1, 2, 5, 12):
        for _ in range(10):
            P = shape(rng, n)
            L = factor(P)
            exact = [[Fraction(float(x)) for x in row] for row in L]
            product = np.array(
                [[sum(a * b for a, b in zip(r, s, strict=True)) for s in exact] for r in exact]
            )
            gap = product - np.array([[Fraction(float(x)) for x in row] for row in P])
            assert is_not_negative(0.5 * (gap + gap.T).astype(float)) or n > 5
            assert np.allclose(L @ L.T, P, rtol=1e-9, atol=1e-9 * np.diag(P).max())


def test_what_is_proven_to_be_inside_is(rng):
    proven = 0
    for _ in range(300):
        n = int(rng.integers(1, 5))
        inner = shape(rng, n, 1.0)
        outer = inner * (1.0 + rng.choice([-1e-6, 1e-8, 1e-3])) + 1e-7 * shape(rng, n, 0.0)
        if is_inside(outer, inner):
            proven += 1
            assert is_not_negative(outer - inner)
    assert proven > 50


def test_a_little_outside_is_never_called_inside(rng):
    for _ in range(200):
        n = int(rng.integers(1, 7))
        inner = shape(rng, n)
        L, direction = np.linalg.cholesky(inner), on_the_sphere(rng, 1, n)[0]
        away = L @ direction
        outer = 2.0 * inner - (1.0 + 1e-6) * np.outer(away, away)  # less along one direction
        assert not is_inside(outer, inner)
        assert not contains(outer[None], inner[None])
        assert is_inside(1.001 * inner, inner)
    assert not is_inside(np.full((2, 2), np.nan), np.eye(2))


def test_sums_of_points_are_in_the_sum(rng):
    tightest = 0.0
    for _ in range(50):
        n = int(rng.integers(1, 6))
        shapes, sizes = [shape(rng, n, 1.0) for _ in range(3)], list(rng.uniform(0.1, 3.0, (3, 1)))
        total = sum_of([P[None] for P in shapes], sizes)[0]
        points = sum(on_the_sphere(rng, 200, n) @ factor(P).T for P in shapes)
        share = np.einsum('ij,ij->i', points, np.linalg.solve(total, points.T).T)
        assert share.max() <= 1.0 + 1e-9
        tightest = max(tightest, share.max())
    assert tightest > 0.8


def test_nothing_may_be_added_without_a_size(rng):
    P = shape(rng, 3, 0.5)[None]
    nothing = np.zeros_like(P)
    assert sum_of([P, nothing], [np.ones(1), np.zeros(1)]) == pytest.approx(P)


def test_a_factor_is_triangular(rng):
    P = shape(rng, 4)
    assert np.array_equal(factor(P), np.tril(factor(P)))
    assert np.array_equal(upper_factor(P), np.triu(upper_factor(P)))


def test_a_shape_that_is_none_has_no_factor():
    assert np.all(np.isnan(factor(-np.eye(2))))
    assert np.all(np.isnan(upper_factor(-np.eye(2))))
    with pytest.raises(BoundError, match='65 dimensions; 64 are allowed'):
        widened(np.eye(65))
