"""Products over the unit ball enclose exact products for all z in it, and norms bound parts."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.sets import ball_polynomials as ball
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.taylor_kernels import add_product

TABLES = [monomials(1, 2), monomials(3, 2), monomials(3, 3), monomials(4, 4)]


def random_pool(rng, table, count):
    """Rows with coefficients and radii of any size, some of them none."""
    pool = rng.normal(size=(count, table.count + 1)) * 10.0 ** rng.integers(-6, 2, (count, 1))
    pool[:, :-1] *= rng.random((count, table.count)) < 0.8
    pool[:, -1] = np.abs(pool[:, -1]) * rng.choice([0.0, 1e-14, 1e-2], size=count)
    return pool


def in_the_ball(rng, n):
    """Rational point, as near to the surface as a root of integers can be."""
    direction = [int(x) for x in np.round(1e9 * rng.normal(size=n) * rng.choice([0.0, 1.0], n))]
    length = isqrt(sum(x * x for x in direction)) + 1
    return [Fraction(x, length) for x in direction]


def value(row, table, z):
    """Exact value of the middle of a row."""
    total = Fraction(0)
    for c, exponents in zip(row[:-1], table.exponents.tolist(), strict=True):
        term = Fraction(float(c))
        for x, e in zip(z, exponents, strict=True):
            term *= x**e
        total += term
    return total


@pytest.mark.parametrize('table', slow_after(3, TABLES), ids=lambda t: f'{t.variables}-{t.degree}')
def test_products_enclose_the_exact_result(table, rng):
    weights = ball.ball_weights(table)
    for _ in range(50):
        pool = random_pool(rng, table, 3)
        before = pool.copy()
        ball.add_ball_product(pool, 0, 1, -1.0, 2, weights, table.kernel)
        for _ in range(4):
            z = in_the_ball(rng, table.variables)
            a, b, c = (
                value(row, table, z) + int(rng.integers(-1, 2)) * Fraction(float(row[-1]))
                for row in before
            )
            gap = abs(c - a * b - value(pool[2], table, z))
            assert gap <= Fraction(float(pool[2, -1]))


@pytest.mark.parametrize('table', slow_after(3, TABLES), ids=lambda t: f'{t.variables}-{t.degree}')
def test_sums_of_products_enclose_the_exact_result(table, rng):
    weights, count = ball.ball_weights(table), 6
    for _ in range(30):
        pool = random_pool(rng, table, 2 * count + 1)
        before, parts = pool.copy(), np.full((2 * count, table.degree), np.nan)
        for row in range(2 * count):
            ball.set_part_norms(pool, row, parts, weights, table.kernel)
        ball.add_ball_products(pool, parts, 0, count, count, 2 * count, table.kernel)
        for _ in range(2):
            z = in_the_ball(rng, table.variables)
            *factors, c = (
                value(row, table, z) + int(rng.choice([-1, 1])) * Fraction(float(row[-1]))
                for row in before
            )
            total = c + sum(a * b for a, b in zip(factors[:count], factors[count:], strict=True))
            gap = abs(total - value(pool[-1], table, z))
            assert gap <= Fraction(float(pool[-1, -1]))


@pytest.mark.parametrize('table', TABLES, ids=lambda t: f'{t.variables}-{t.degree}')
def test_norms_bound_homogeneous_parts_and_are_reached(table, rng):
    weights = ball.ball_weights(table)
    for degree in range(1, table.degree + 1):
        pool = random_pool(rng, table, 1)
        norm = ball.part_norm(pool, 0, degree, weights, table.kernel)
        other = table.exponents.sum(axis=1) != degree
        pool[0, :-1][other] = 0.0
        for _ in range(20):
            part = abs(value(pool[0], table, in_the_ball(rng, table.variables)))
            assert part <= Fraction(float(norm) * (1.0 + 1e-12))
        # (u.z)^degree has its largest value 1 at u, and so has its norm
        u = rng.normal(size=table.variables)
        u /= np.linalg.norm(u)
        pool[0, :-1] = np.where(other, 0.0, (u**table.exponents).prod(axis=1) / weights)
        norm = ball.part_norm(pool, 0, degree, weights, table.kernel)
        assert norm == pytest.approx(1.0)


def test_a_product_that_drops_its_high_parts_is_noticed(rng):
    table = monomials(3, 2)
    weights = ball.ball_weights(table)
    pool = np.zeros((3, table.count + 1))
    pool[:2, 1:-1] = rng.normal(size=(2, table.count - 1))
    ball.add_ball_product(pool, 0, 1, 1.0, 2, weights, table.kernel)
    assert pool[2, -1] > 0.1
    gaps = [
        abs(value(pool[0], table, z) * value(pool[1], table, z) - value(pool[2], table, z))
        for z in (in_the_ball(rng, 3) for _ in range(50))
    ]
    assert max(gaps) > 0.1 * pool[2, -1]


def test_a_ball_bounds_less_than_a_box(rng):
    table = monomials(4, 2)
    pool = np.zeros((4, table.count + 1))
    pool[:2, 1:-1] = rng.normal(size=(2, table.count - 1))
    ball.add_ball_product(pool, 0, 1, 1.0, 2, ball.ball_weights(table), table.kernel)
    add_product(pool, 0, 1, 1.0, 3, table.kernel)
    assert np.array_equal(pool[2, :-1], pool[3, :-1])
    assert pool[2, -1] < 0.5 * pool[3, -1]
