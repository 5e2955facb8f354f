"""Kernels that compiled recursions call directly enclose exact arithmetic, also in place."""

from fractions import Fraction

import numpy as np
import pytest
from sets.exact_polynomials import (
    cancelling_model,
    escapes,
    exact_polynomial,
    random_box_point,
    random_model,
)

from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets import taylor_maps as maps
from safe_sysid.sets import taylor_sums as sums
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.taylor_model import TaylorModel

TABLE = monomials(2, 3)


def in_pool(kernel):
    """Operation on models that runs one kernel on a pool that holds them as rows 0, 1, ..."""

    def operation(*models):
        pool = np.array([model.rows for model in models])
        out = kernel(pool)
        return TaylorModel(TABLE, pool[out])

    return operation


def add_scaled(pool):
    kernels.add_scaled(pool, 0, 0.3, 0.0, 1)
    return 1


def add_scaled_interval(pool):
    kernels.add_scaled(pool, 0, 0.3, 0.1, 1)
    return 1


def add_product(pool):
    kernels.add_product(pool, 0, 1, -1.0, 2, TABLE.kernel)
    return 2


def add_in_place(pool):
    kernels.add(pool, 0, 1, 1)
    return 1


def subtract_in_place(pool):
    kernels.subtract(pool, 0, 1, 1)
    return 1


@pytest.mark.parametrize(
    ('kernel', 'oracle', 'count'),
    [
        (add_scaled, lambda x, y: y + Fraction(0.3) * x, 2),
        (add_scaled_interval, lambda x, y: y + (Fraction(0.3) + Fraction(0.1)) * x, 2),
        (add_scaled_interval, lambda x, y: y + (Fraction(0.3) - Fraction(0.1)) * x, 2),
        (add_product, lambda x, y, z: z - x * y, 3),
        (add_in_place, lambda x, y: x + y, 2),
        (subtract_in_place, lambda x, y: x - y, 2),
    ],
)
def test_kernel_encloses_the_exact_result(kernel, oracle, count, rng):
    for _ in range(15):
        for operands in (
            [random_model(rng, TABLE, (), 10.0 ** rng.integers(-6, 6)) for _ in range(count)],
            [cancelling_model(rng, TABLE) for _ in range(count)],
        ):
            assert escapes(rng, in_pool(kernel), oracle, operands) == 0


def vector_pool(rng, count):
    """Vectors of models with cancellation, as a pool and as lists of models."""
    models = [cancelling_model(rng, TABLE) for _ in range(3 * count)]
    return np.array([model.rows for model in models])


def vector_escapes(rng, pool, exact, out) -> int:
    """How often the exact vector function of members leaves the three rows `out` of the pool."""
    before = [TaylorModel(TABLE, row) for row in pool.copy()]
    exact_kernel, oracle = exact
    exact_kernel(pool)
    count = 0
    for _ in range(3):
        k = random_box_point(rng, TABLE.variables)
        operands = np.array([exact_polynomial(model, k) for model in before]).reshape(-1, 3)
        for i, value in enumerate(oracle(*operands)):
            model = TaylorModel(TABLE, pool[out + i])
            gap = abs(exact_polynomial(model, k) - value)
            count += gap > Fraction(float(model.remainder))
    return count


MATRIX = np.array([[0.1, 0.0, -0.7], [0.3, 1.0, 0.0], [1e-9, 0.2, 0.1]])
SPREAD = np.array([[0.1, 0.0, 0.3], [0.0, 0.5, 0.2], [0.0, 0.0, 0.7]])
RATIONAL_MATRIX, RATIONAL_SPREAD = (
    np.array([[Fraction(float(x)) for x in row] for row in A], dtype=object)
    for A in (MATRIX, SPREAD)
)


def with_sizes(pool):
    """Rows of two vectors with their sizes."""
    sizes = np.empty((len(pool), TABLE.degree + 1))
    sums.note_sizes(pool, 0, 6, sizes, TABLE.kernel)
    return pool, sizes


def cross_away(pool):
    """Take away a x b."""
    for r in range(3):
        pairs = ((r + 1) % 3, 3 + (r + 2) % 3), ((r + 2) % 3, 3 + (r + 1) % 3)
        sums.add_two_products(*with_sizes(pool), *pairs, (-1.0, 1.0), 6 + r, TABLE.kernel)


EXACT, WITHIN = np.stack([MATRIX, np.zeros((3, 3))]), np.stack([MATRIX, SPREAD])


@pytest.mark.parametrize(
    ('kernel', 'oracle'),
    [
        (cross_away, lambda a, b, c: c - np.cross(a, b)),
        (
            lambda pool: maps.add_linear(*with_sizes(pool), EXACT, 0, 6),
            lambda a, b, c: c + RATIONAL_MATRIX @ a,  # noqa: ARG005
        ),
        (
            lambda pool: maps.add_linear(*with_sizes(pool), WITHIN, 0, 6),
            lambda a, b, c: c + (RATIONAL_MATRIX - RATIONAL_SPREAD) @ a,  # noqa: ARG005
        ),
        (
            lambda pool: maps.set_linear(*with_sizes(pool), WITHIN, 0, 6),
            lambda a, b, c: (RATIONAL_MATRIX - RATIONAL_SPREAD) @ a,  # noqa: ARG005
        ),
        (
            lambda pool: kernels.clear_vector(pool, 6),
            lambda a, b, c: 0 * c,  # noqa: ARG005
        ),
    ],
)
def test_vector_kernel_encloses_the_exact_result(kernel, oracle, rng):
    for _ in range(20):
        assert vector_escapes(rng, vector_pool(rng, 3), (kernel, oracle), 6) == 0
