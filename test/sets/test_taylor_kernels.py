"""Kernels that compiled recursions call directly enclose exact arithmetic, also in place."""

from fractions import Fraction

from exact_polynomials import cancelling_model, escapes, random_model
import numpy as np
import pytest

from safe_sysid.sets import taylor_kernels as kernels
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
    for _ in range(40):
        for operands in (
            [random_model(rng, TABLE, (), 10.0 ** rng.integers(-6, 6)) for _ in range(count)],
            [cancelling_model(rng, TABLE) for _ in range(count)],
        ):
            assert escapes(rng, in_pool(kernel), oracle, operands) == 0
