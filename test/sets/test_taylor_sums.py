"""Sums of products enclose exact results, and are as wide as products added one by one."""

from fractions import Fraction

import numpy as np
import pytest
from sets.exact_polynomials import random_box_point
from sets.test_error_variables import MODELS, N, on_a_ball, random_pool, value

from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets import taylor_maps as maps
from safe_sysid.sets import taylor_sums as sums

A, B, OUT, ROWS = 0, 3, 12, 15  # first of three rows, of nine, and of three results
NAMES = ['two', 'cubic', 'none']


def sizes_of(pool, table):
    """Sizes of all rows that are given."""
    sizes = np.full((ROWS, table.degree + 1), np.nan)
    sums.note_sizes(pool, 0, OUT, sizes, table.kernel)
    return sizes


def inner(pool, table, step):
    """Set a row to the sum of three products."""
    sums.set_inner_product(pool, sizes_of(pool, table), A, B, step, OUT, table.kernel)


def added(pool, table, step):
    """Add the sum of three products to a row."""
    sums.add_inner_product(pool, sizes_of(pool, table), A, B, step, OUT, table.kernel)


def two(pool, table, _):
    """Add half of one product and take half of another away."""
    pairs = (A, B), (A + 1, B + 1)
    sums.add_two_products(pool, sizes_of(pool, table), *pairs, (0.5, -0.5), OUT, table.kernel)


def turned(pool, table, _):
    """Set three rows to a vector that is turned about z."""
    sums.set_turned(pool, sizes_of(pool, table), A, B, OUT, table.kernel)


def products(rows, step):
    """Terms of three products."""
    return [(rows[A + r], rows[B + r * step], 1) for r in range(3)]


def of_two(rows, _):
    """Terms of half the difference of two products."""
    half = Fraction(1, 2)
    return [[(rows[OUT], 1, 1), (rows[A], rows[B], half), (rows[A + 1], rows[B + 1], -half)]]


def of_turn(rows, _):
    """Terms of a vector that is turned about z."""
    c, s, (x, y, z) = rows[A], rows[A + 1], rows[B : B + 3]
    return [[(c, x, 1), (s, y, 1)], [(c, y, 1), (s, x, -1)], [(z, 1, 1)]]


CASES = {
    'inner': (inner, lambda rows, step: [products(rows, step)]),
    'added': (added, lambda rows, step: [[(rows[OUT], 1, 1), *products(rows, step)]]),
    'two': (two, of_two),
    'turned': (turned, of_turn),
}


def assert_enclosed(pool, table, terms, k, z):
    """Return whether results enclose sums of terms, and how far they are from the polynomials."""
    gaps = []
    for r, each in enumerate(terms):
        exact = sum(sign * a * b for a, b, sign in each)
        gap = abs(exact - value(pool[OUT + r], table, k, z))
        assert gap <= Fraction(float(pool[OUT + r, -1]))
        gaps.append(gap)
    return max(gaps)


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
            assert_enclosed(pool, table, terms(rows, step), k, z)


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
        gap = assert_enclosed(pool, table, terms(rows, 1), k, z)
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
def test_maps_enclose_the_exact_result(table, rng):
    """Matrices are anywhere within their radii, and all terms may cancel."""
    for _ in range(40):
        pool = random_pool(rng, table, ROWS)
        if rng.random() < 0.5:
            pool[:, :-1] = rng.integers(-3, 4, pool[:, :-1].shape) * 0.1
            pool[:, -1] = 0.0
        matrix = rng.integers(-3, 4, (2, 3, 3)) * 0.1
        matrix[1] = np.abs(matrix[1]) * rng.choice([0.0, 1e-16, 1.0])
        side = rng.integers(-1, 2, (3, 3))
        exact = [
            [
                Fraction(float(matrix[0, i, j]))
                + int(side[i, j]) * Fraction(float(matrix[1, i, j]))
                for j in range(3)
            ]
            for i in range(3)
        ]
        rows, k, z = extreme(rng, pool, table)
        terms = [[(rows[A + j], exact[i][j], 1) for j in range(3)] for i in range(3)]
        sizes, there = sizes_of(pool, table), pool.copy()
        maps.set_linear(there, sizes, matrix, A, OUT)
        assert_enclosed(there, table, terms, k, z)
        there = pool.copy()
        maps.add_linear(there, sizes, matrix, A, OUT)
        before = [[(row, 1, 1), *each] for row, each in zip(rows[OUT:], terms, strict=True)]
        assert_enclosed(there, table, before, k, z)
        factors = matrix[0, 0]
        maps.add_multiples(pool, sizes, B, 2, factors, OUT)
        terms = [(rows[B + 2 * r], Fraction(float(factors[r])), 1) for r in range(3)]
        assert_enclosed(pool, table, [[(rows[OUT], 1, 1), *terms]], k, z)


def test_factors_weigh_radii_by_their_size():
    table = MODELS[2]
    pool = np.zeros((ROWS, table.count + 2 * N + 1))
    pool[:OUT, -1] = 1.0
    maps.add_multiples(pool, sizes_of(pool, table), A, 1, np.array([-2.0, 0.5, 0.0]), OUT)
    assert pool[OUT, -1] == pytest.approx(2.5)
    matrix = np.stack([np.full((3, 3), -0.5), np.full((3, 3), 0.25)])
    for operate in (maps.set_linear, maps.add_linear):
        pool[OUT:] = 0.0
        operate(pool, sizes_of(pool, table), matrix, A, OUT)
        assert pool[OUT:, -1] == pytest.approx(2.25)
