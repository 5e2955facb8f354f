"""Compiled products of polynomials over the unit ball, as rows of a pool (see `taylor_kernels`).

A row of M coefficients and a radius stands for every function f with |f(z) - p(z)| <= radius for
all z with |z| <= 1 in 2-norm. Sums and multiples are those of `taylor_kernels`, whose variables
are in a box that contains the ball. Products are here, as a ball bounds what they drop much more
closely. With m_i = (sum of exponents)! / (product of their factorials) the homogeneous part of
degree e of a row is, by Cauchy and Schwarz and sum m_i z^(2 alpha_i) = |z|^(2e),

    |sum c_i z^alpha_i| <= sqrt(sum c_i^2 / m_i) sqrt(sum m_i z^(2 alpha_i))
                        <= sqrt(sum c_i^2 / m_i),

its Bombieri norm, `part_norm`. The 1-norm, which rounding errors are multiples of, is at most
sqrt(M) times the 2-norm, and that at most sqrt(m_i) times the sum of the Bombieri norms;
m_i <= degree! <= 24.

Elements of a pool may be lanes (see `lanes`).
"""

from __future__ import annotations

import math

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere, where
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.taylor_kernels import (
    LOST,
    PAIRS,
    _add_polynomial_product,
    norm,
    rounded_up,
)

LARGEST_SHARE = 24.0  # of m_i, for degrees up to 4


def ball_weights(monomials: Monomials) -> Array:
    """Return 1 / m_i of every monomial, (M,)."""
    factorials = np.array([math.factorial(i) for i in range(monomials.degree + 1)], dtype=float)
    totals = factorials[monomials.exponents.sum(axis=1)]
    weights: Array = factorials[monomials.exponents].prod(axis=1) / totals
    return weights


@jit
def part_norm(pool: Array, a: int, degree: int, weights: Array, table: IntArray) -> float:
    """Bound of the homogeneous part of one degree over the ball, to `rounded_up`."""
    first = table[2 + degree]
    square = weights[first] * pool[a, first] * pool[a, first]
    for i in range(first + 1, table[3 + degree]):
        square += weights[i] * pool[a, i] * pool[a, i]
    return where(square > 0.0, math.sqrt(square) + LOST, 0.0)  # type: ignore[no-any-return]


@jit
def set_part_norms(pool: Array, a: int, parts: Array, weights: Array, table: IntArray) -> None:
    """Set row a of `parts` to the norms of the homogeneous parts of row a, of degrees 1 to D."""
    for e in range(1, table[0] + 1):
        parts[a, e - 1] = part_norm(pool, a, e, weights, table)


@jit
def add_ball_product(
    pool: Array, a: int, b: int, sign: float, out: int, weights: Array, table: IntArray
) -> None:
    """Enclose out + sign * a * b over the ball, in place; sign is 1 or -1.

    What a b has above degree D is below the products of the norms of homogeneous parts.
    """
    last, D = pool.shape[1] - 1, table[0]
    above_a = above_b = truncated = 0.0
    for e in range(1, D + 1):
        above_b += part_norm(pool, b, D + 1 - e, weights, table)
        part_a = part_norm(pool, a, e, weights, table)
        above_a += part_a
        truncated += part_a * above_b
    norm_a, norm_b = abs(pool[a, 0]) + above_a, abs(pool[b, 0]) + above_b
    radius_a, radius_b = pool[a, last], pool[b, last]
    size_a, size_b = norm_a + radius_a, norm_b + radius_b
    if not anywhere(size_a != 0.0) or not anywhere(size_b != 0.0):
        return
    before, radius = norm(pool, out, 0, last), pool[out, last]
    _add_polynomial_product(pool, a, b, sign, out, table)
    rounding = PAIRS * EPS * (LARGEST_SHARE * last * norm_a * norm_b + before)
    slack = truncated + norm_a * radius_b + radius_a * (norm_b + radius_b)
    larger = rounded_up(radius + slack + rounding, last)
    pool[out, last] = where(size_a == 0.0, radius, where(size_b == 0.0, radius, larger))


@jit
def add_ball_products(
    pool: Array, parts: Array, a: int, b: int, count: int, out: int, table: IntArray
) -> None:
    """Enclose out + the sum of a_r * b_r over `count` rows from a and from b on, in place.

    Rows of `parts` are those of `set_part_norms`. Of the products at most count PAIRS have the
    same monomial.
    """
    last, D = pool.shape[1] - 1, table[0]
    before = norm(pool, out, 0, last)
    slack = size = 0.0
    for r in range(count):
        above_a = above_b = 0.0
        for e in range(1, D + 1):
            above_b += parts[b + r, D - e]
            part_a = parts[a + r, e - 1]
            above_a += part_a
            slack += part_a * above_b
        norm_a, norm_b = abs(pool[a + r, 0]) + above_a, abs(pool[b + r, 0]) + above_b
        radius_a, radius_b = pool[a + r, last], pool[b + r, last]
        slack += norm_a * radius_b + radius_a * (norm_b + radius_b)
        size += norm_a * norm_b
        _add_polynomial_product(pool, a + r, b + r, 1.0, out, table)
    rounding = count * PAIRS * EPS * (LARGEST_SHARE * last * size + before)
    pool[out, last] = rounded_up(pool[out, last] + slack + rounding, last + 4 * count)
