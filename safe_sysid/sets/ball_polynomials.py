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
"""

from __future__ import annotations

import math

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.taylor_kernels import LOST, PAIRS, _add_polynomial_product, rounded_up

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
    square = 0.0
    for i in range(table[2 + degree], table[3 + degree]):
        square += weights[i] * pool[a, i] * pool[a, i]
    return math.sqrt(square) + LOST if square > 0.0 else 0.0


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
    if norm_a + radius_a == 0.0 or norm_b + radius_b == 0.0:
        return
    before = 0.0
    for i in range(last):
        before += abs(pool[out, i])
    _add_polynomial_product(pool, a, b, sign, out, table)
    rounding = PAIRS * EPS * (LARGEST_SHARE * last * norm_a * norm_b + before)
    slack = truncated + norm_a * radius_b + radius_a * (norm_b + radius_b)
    pool[out, last] = rounded_up(pool[out, last] + slack + rounding, last)
