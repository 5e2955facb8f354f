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
        ball.add_ball_product(pool, 0, 1, -1.0, 2, 0, weights, ball.ball_table(table))
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
            ball.set_part_norms(pool, row, 0, parts, weights, ball.ball_table(table))
        a, b = ball.Rows(0, 0), ball.Rows(count, 0)
        ball.add_ball_products(pool, parts, a, b, count, 2 * count, ball.ball_table(table))
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
        norm = ball.part_norm(pool, 0, degree, 0, weights, ball.ball_table(table))
        other = table.exponents.sum(axis=1) != degree
        pool[0, :-1][other] = 0.0
        for _ in range(20):
            part = abs(value(pool[0], table, in_the_ball(rng, table.variables)))
            assert part <= Fraction(float(norm) * (1.0 + 1e-12))
        # (u.z)^degree has its largest value 1 at u, and so has its norm
        u = rng.normal(size=table.variables)
        u /= np.linalg.norm(u)
        pool[0, :-1] = np.where(other, 0.0, (u**table.exponents).prod(axis=1) / weights)
        norm = ball.part_norm(pool, 0, degree, 0, weights, ball.ball_table(table))
        assert norm == pytest.approx(1.0)


def test_a_product_that_drops_its_high_parts_is_noticed(rng):
    table = monomials(3, 2)
    weights = ball.ball_weights(table)
    pool = np.zeros((3, table.count + 1))
    pool[:2, 1:-1] = rng.normal(size=(2, table.count - 1))
    ball.add_ball_product(pool, 0, 1, 1.0, 2, 0, weights, ball.ball_table(table))
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
    weights = ball.ball_weights(table)
    ball.add_ball_product(pool, 0, 1, 1.0, 2, 0, weights, ball.ball_table(table))
    add_product(pool, 0, 1, 1.0, 3, table.kernel)
    assert np.array_equal(pool[2, :-1], pool[3, :-1])
    assert pool[2, -1] < 0.5 * pool[3, -1]


def rows_since(rng, table, since):
    """Rows that depend on the variables from `since` on, and what must not be looked at is NaN."""
    pool = random_pool(rng, table, 6 * 2 + 3)
    unused = (table.exponents[:, :since] > 0).any(axis=1)
    pool[:, :-1][:, unused] = 0.0
    marked = pool.copy()
    marked[:, :-1][:, unused] = np.nan
    return pool, marked, unused


def same_without(marked, pool, unused):
    """Whether rows are the same but for what was marked, which was not written."""
    assert np.isnan(marked[:, :-1][:, unused]).all()
    np.testing.assert_array_equal(marked[:, :-1][:, ~unused], pool[:, :-1][:, ~unused])
    np.testing.assert_allclose(marked[:, -1], pool[:, -1], rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize('table', TABLES, ids=lambda t: f'{t.variables}-{t.degree}')
def test_variables_that_rows_do_not_depend_on_are_left_alone(table, rng):
    weights, ball_table = ball.ball_weights(table), ball.ball_table(table)
    for since in range(table.variables + 1):
        pool, marked, unused = rows_since(rng, table, since)
        for rows, first in ((pool, 0), (marked, since)):
            parts = np.full((len(rows), table.degree), np.nan)
            for row in range(12):
                ball.set_part_norms(rows, row, first, parts, weights, ball_table)
            a, b = ball.Rows(0, first), ball.Rows(6, first)
            ball.add_ball_products(rows, parts, a, b, 6, 12, ball_table)
            ball.add_ball_product(rows, 0, 1, -1.0, 13, first, weights, ball_table)
            ball.clear_row(rows, 14, first, ball_table)
            ball.add_ball_product(rows, 2, 3, 1.0, 14, first, weights, ball_table)
        same_without(marked, pool, unused)
        assert ball.row_norm(marked, 12, since, ball_table) == pytest.approx(
            np.abs(pool[12, :-1]).sum()
        )


@pytest.mark.parametrize('table', TABLES, ids=lambda t: f'{t.variables}-{t.degree}')
def test_products_of_rows_that_depend_on_less_and_more(table, rng):
    weights, ball_table = ball.ball_weights(table), ball.ball_table(table)
    for _ in range(10):
        since = rng.integers(0, table.variables + 1, 2)
        pool = random_pool(rng, table, 13)
        firsts = (*since.tolist(), int(since.min()))
        for rows, first in zip((pool[:6], pool[6:12], pool[12:]), firsts, strict=True):
            rows[:, :-1][:, (table.exponents[:, :first] > 0).any(axis=1)] = 0.0
        results = []
        for first in (since.tolist(), [0, 0]):
            work, parts = pool.copy(), np.full((12, table.degree), np.nan)
            for row in range(12):
                ball.set_part_norms(work, row, 0, parts, weights, ball_table)
            a, b = ball.Rows(0, first[0]), ball.Rows(6, first[1])
            ball.add_ball_products(work, parts, a, b, 6, 12, ball_table)
            results.append(work[12])
        np.testing.assert_allclose(*results, rtol=1e-7, atol=1e-14)


def test_linear_maps_of_rows_enclose_the_exact_result(rng):
    table = monomials(3, 2)
    for _ in range(50):
        pool = random_pool(rng, table, 6)
        before = pool.copy()
        center, radius = rng.normal(size=(3, 3)), rng.choice([0.0, 0.1]) * rng.random((3, 3))
        ball.add_ball_linear(pool, np.array([center, radius]), 0, 3, 0, ball.ball_table(table))
        z = in_the_ball(rng, 3)
        values = [
            value(row, table, z) + int(rng.choice([-1, 1])) * Fraction(float(row[-1]))
            for row in before
        ]
        for i in range(3):
            exact = values[3 + i]
            for j in range(3):
                entry = Fraction(float(center[i, j])) + int(rng.choice([-1, 1])) * Fraction(
                    float(radius[i, j])
                )
                exact += entry * values[j]
            gap = abs(exact - value(pool[3 + i], table, z))
            assert gap <= Fraction(float(pool[3 + i, -1]))
