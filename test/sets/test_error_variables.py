"""Rows with error variables: products and ranges enclose exact results for all z in two balls."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from sets.exact_polynomials import random_box_point

from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets.monomials import monomials

N = 3  # error variables in each ball
MODELS = [monomials(2, 2), monomials(2, 3), monomials(0, 2)]


def random_pool(rng, table, count):
    """Rows whose parts have any size beside each other, some of them none."""
    pool = rng.normal(size=(count, table.count + 2 * N + 1))
    pool[:, : table.count] *= 10.0 ** rng.integers(-6, 2, size=(count, 1))
    pool[:, table.count : -1] *= 10.0 ** rng.integers(-6, 2, size=(count, 1))
    pool[:, :-1] *= rng.random((count, table.count + 2 * N)) < 0.8
    pool[:, -1] = np.abs(pool[:, -1]) * rng.choice([0.0, 1e-14, 1e-2], size=count)
    return pool


def on_a_ball(rng):
    """Rational point of a unit ball, as near to its surface as a root of integers can be."""
    direction = [int(x) for x in np.round(1e9 * rng.normal(size=N) * rng.choice([0.0, 1.0], N))]
    length = isqrt(sum(x * x for x in direction)) + 1
    return [Fraction(x, length) for x in direction]


def value(row, table, k, z):
    """Exact value of the middle of a row."""
    total = Fraction(0)
    for c, exponents in zip(row[: table.count], table.exponents.tolist(), strict=True):
        term = Fraction(float(c))
        for x, e in zip(k, exponents, strict=True):
            term *= x**e
        total += term
    return total + sum(
        Fraction(float(c)) * x for c, x in zip(row[table.count : -1], z, strict=True)
    )


@pytest.mark.parametrize('table', MODELS, ids=['two', 'cubic', 'none'])
def test_products_enclose_the_exact_result(table, rng):
    for _ in range(60):
        pool = random_pool(rng, table, 3)
        before = pool.copy()
        kernels.add_product(pool, 0, 1, -1.0, 2, table.kernel)
        for _ in range(4):
            k, z = random_box_point(rng, table.variables), on_a_ball(rng) + on_a_ball(rng)
            a, b, c = (
                value(row, table, k, z) + int(rng.integers(-1, 2)) * Fraction(float(row[-1]))
                for row in before
            )
            gap = abs(c - a * b - value(pool[2], table, k, z))
            assert gap <= Fraction(float(pool[2, -1]))


@pytest.mark.parametrize('table', MODELS, ids=['two', 'cubic', 'none'])
def test_ranges_enclose_every_value_and_are_attained(table, rng):
    for _ in range(100):
        pool = random_pool(rng, table, 1)
        pool[0, 1 : table.count] *= 0.0 if rng.random() < 0.5 else 1.0
        lower, upper = kernels.bounds(pool, 0, table.kernel)
        linear = pool[0, table.count : -1]
        for sign in (-1, 1):
            towards = [
                Fraction(float(x)) for half in np.split(sign * linear, 2) for x in _unit(half)
            ]
            k = random_box_point(rng, table.variables)
            reached = value(pool[0], table, k, towards) + sign * Fraction(float(pool[0, -1]))
            assert Fraction(lower) <= reached <= Fraction(upper)
            if not np.any(pool[0, 1 : table.count]):
                end = upper if sign > 0 else lower
                assert float(reached) == pytest.approx(end, rel=1e-6, abs=1e-20)


def _unit(x):
    """Direction of x, in the unit ball."""
    length = np.sqrt((x * x).sum())
    return x / length * (1.0 - 1e-12) if length else x


def test_squares_that_underflow_are_not_lost():
    table = MODELS[2]
    pool = np.zeros((1, table.count + 2 * N + 1))
    pool[0, 1:-1] = 1e-170
    lower, upper = kernels.bounds(pool, 0, table.kernel)
    assert upper >= 2.0 * np.sqrt(N) * 1e-170
    assert lower <= -2.0 * np.sqrt(N) * 1e-170


def test_errors_that_act_against_each_other_cancel():
    """(1 + z) - (1 + z) is 0, and z_1 + z_2 of one ball is at most the root of 2."""
    table = MODELS[2]
    pool = np.zeros((2, table.count + 2 * N + 1))
    pool[:, 0], pool[:, 1] = 1.0, 0.1
    kernels.subtract(pool, 0, 1, 1)
    assert kernels.magnitude(pool, 1, table.kernel) < 1e-14
    pool[0, 1:3] = 1.0
    assert kernels.magnitude(pool, 0, table.kernel) == pytest.approx(1.0 + np.sqrt(2.0))
