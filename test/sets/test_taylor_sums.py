"""Sums of products enclose exact results, and are as wide as products added one by one."""

from fractions import Fraction

import numpy as np
import pytest
from sets.exact_polynomials import random_box_point
from sets.test_error_variables import MODELS, N, on_a_ball, random_pool, value

from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets import taylor_sums as sums

A, B, OUT, ROWS = 0, 3, 12, 13  # first of three rows, of nine, and the row of the sum
NAMES = ['two', 'cubic', 'none']


def inner(pool, table, step):
    """Set the last row to the sum of three products."""
    sizes = np.full((ROWS, table.degree + 1), np.nan)
    sums.note_sizes(pool, 0, ROWS, sizes, table.kernel)
    sums.set_inner_product(pool, sizes, A, B, step, OUT, table.kernel)


def difference(pool, table, _):
    """Add one product and take another away."""
    sizes = np.full((ROWS, table.degree + 1), np.nan)
    sums.note_sizes(pool, 0, ROWS, sizes, table.kernel)
    sums.add_difference(pool, sizes, A, B, A + 1, B + 1, OUT, table.kernel)


CASES = {
    'inner': (inner, lambda rows, step: [(rows[A + r], rows[B + r * step], 1) for r in range(3)]),
    'difference': (
        difference,
        lambda rows, _: [
            (rows[OUT], 1, 1),
            (rows[A], rows[B], 1),
            (rows[A + 1], rows[B + 1], -1),
        ],
    ),
}


def extreme(rng, pool, table):
    """Functions of all rows at a point where errors all but reach the ends of their balls."""
    k = random_box_point(rng, table.variables)
    z = on_a_ball(rng) + on_a_ball(rng)
    if rng.random() < 0.5:  # towards the errors of one row, where products are largest
        row = pool[int(rng.integers(OUT)), table.count : -1]
        z = []
        for half in np.split(row, 2):
            length = np.linalg.norm(half)
            unit = half / length * (1.0 - 1e-12) if length else half
            z += [Fraction(float(x)) for x in unit]
    side = int(rng.choice([-1, 1]))
    return [value(row, table, k, z) + side * Fraction(float(row[-1])) for row in pool], k, z


@pytest.mark.parametrize('case', CASES)
@pytest.mark.parametrize('table', MODELS, ids=NAMES)
def test_sums_enclose_the_exact_result(case, table, rng):
    add, terms = CASES[case]
    for _ in range(20):
        pool, step = random_pool(rng, table, ROWS), int(rng.choice([1, 3]))
        before = pool.copy()
        add(pool, table, step)
        for _ in range(4):
            rows, k, z = extreme(rng, before, table)
            exact = sum(sign * a * b for a, b, sign in terms(rows, step))
            gap = abs(exact - value(pool[OUT], table, k, z))
            assert gap <= Fraction(float(pool[OUT, -1]))


@pytest.mark.parametrize('case', CASES)
def test_rounding_is_enclosed_where_terms_cancel(case, rng):
    """Nothing is dropped here, so that what is left to hide an error is rounding."""
    add, terms = CASES[case]
    missed = 0
    for _ in range(200):
        table = MODELS[2]
        pool = np.zeros((ROWS, table.count + 2 * N + 1))
        pool[:, 0] = rng.integers(-3, 4, ROWS) * 0.1
        pool[OUT, 1:-1] = rng.integers(-3, 4, 2 * N) * 0.1
        before = pool.copy()
        add(pool, table, 1)
        rows, k, z = extreme(rng, before, table)
        exact = sum(sign * a * b for a, b, sign in terms(rows, 1))
        gap = abs(exact - value(pool[OUT], table, k, z))
        assert gap <= Fraction(float(pool[OUT, -1]))
        missed += gap > Fraction(1, 10**30)
    assert missed > 50


@pytest.mark.parametrize('table', MODELS, ids=NAMES)
def test_sums_are_as_close_as_products_one_by_one(table, rng):
    for _ in range(25):
        pool = random_pool(rng, table, ROWS)
        one_by_one = pool.copy()
        one_by_one[OUT] = 0.0
        for r in range(3):
            kernels.add_product(one_by_one, A + r, B + 3 * r, 1.0, OUT, table.kernel)
        inner(pool, table, 3)
        np.testing.assert_allclose(pool[OUT], one_by_one[OUT], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize('table', MODELS, ids=NAMES)
def test_combinations_enclose_the_exact_result(table, rng):
    for _ in range(30):
        pool = random_pool(rng, table, ROWS)
        if rng.random() < 0.5:
            pool[:, :-1] = rng.integers(-3, 4, pool[:, :-1].shape) * 0.1
            pool[:, -1] = 0.0
        factors = rng.integers(-3, 4, 5) * 0.1
        before = pool.copy()
        sums.add_combination(pool, A, factors, OUT)
        rows, k, z = extreme(rng, before, table)
        exact = rows[OUT] + sum(
            Fraction(float(f)) * row for f, row in zip(factors, rows[A:], strict=False)
        )
        gap = abs(exact - value(pool[OUT], table, k, z))
        assert gap <= Fraction(float(pool[OUT, -1]))


def test_factors_weigh_radii_by_their_size():
    table = MODELS[2]
    pool = np.zeros((3, table.count + 2 * N + 1))
    pool[:2, -1] = 1.0
    sums.add_combination(pool, 0, np.array([-2.0, 0.5]), 2)
    assert pool[2, -1] == pytest.approx(2.5)
