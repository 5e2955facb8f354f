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

Rows are told from which variable on they depend on any: `since` = 2 says that coefficients of
monomials with z_0 or z_1 are zero, and none of these is looked at or written. In graded order the
monomials of a degree in the last variables alone are the last ones of that degree.

Elements of a pool may be lanes (see `lanes`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere, where
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.taylor_kernels import LOST, PAIRS, rounded_up

LARGEST_SHARE = 24.0  # of m_i, for degrees up to 4


def ball_weights(monomials: Monomials) -> Array:
    """Return 1 / m_i of every monomial, (M,)."""
    factorials = np.array([math.factorial(i) for i in range(monomials.degree + 1)], dtype=float)
    totals = factorials[monomials.exponents.sum(axis=1)]
    weights: Array = factorials[monomials.exponents].prod(axis=1) / totals
    return weights


def ball_table(monomials: Monomials) -> IntArray:
    """Return the kernel table of monomials, and behind it (d + 1, D + 1) what `first_of` tells."""
    d, D = monomials.variables, monomials.degree
    ends = monomials.kernel[3 : 4 + D]
    first = [
        [end - math.comb(d - since + e - 1, e) if e else 0 for e, end in enumerate(ends.tolist())]
        for since in range(d)
    ]
    table = np.concatenate([monomials.kernel, np.ravel(first).astype(np.int64), [0], ends[1:]])
    table.setflags(write=False)
    return table


class Rows(NamedTuple):
    """Rows of a pool from one on, which depend on variables from one on."""

    first: int
    since: int


@jit
def first_of(table: IntArray, since: int, degree: int) -> int:
    """First of the monomials of a degree in variables from one on; the others follow it."""
    D, d = table[0], table[1]
    return table[len(table) - (d + 1 - since) * (D + 1) + degree]  # type: ignore[no-any-return]


@jit
def clear_row(pool: Array, out: int, since: int, table: IntArray) -> None:
    """Set out to the number zero."""
    for e in range(table[0] + 1):
        for i in range(first_of(table, since, e), table[3 + e]):
            pool[out, i] = 0.0
    pool[out, pool.shape[1] - 1] = 0.0


@jit
def row_norm(pool: Array, a: int, since: int, table: IntArray) -> float:
    """Sum of absolute values of coefficients."""
    total = abs(pool[a, 0])
    for e in range(1, table[0] + 1):
        s0 = s1 = 0.0
        i, end = first_of(table, since, e), table[3 + e]
        while i + 2 <= end:
            s0 += abs(pool[a, i])
            s1 += abs(pool[a, i + 1])
            i += 2
        if i < end:
            s0 += abs(pool[a, i])
        total += s0 + s1
    return total  # type: ignore[no-any-return]


@jit
def part_norm(
    pool: Array, a: int, degree: int, since: int, weights: Array, table: IntArray
) -> float:
    """Bound of the homogeneous part of one degree over the ball, to `rounded_up`."""
    square = where(pool[a, 0] > 0.0, 0.0, 0.0)  # in every lane
    for i in range(first_of(table, since, degree), table[3 + degree]):
        square += weights[i] * pool[a, i] * pool[a, i]
    return where(square > 0.0, math.sqrt(square) + LOST, 0.0)  # type: ignore[no-any-return]


@jit
def set_part_norms(
    pool: Array, a: int, since: int, parts: Array, weights: Array, table: IntArray
) -> None:
    """Set row a of `parts` to the norms of the homogeneous parts of row a, of degrees 1 to D."""
    for e in range(1, table[0] + 1):
        parts[a, e - 1] = part_norm(pool, a, e, since, weights, table)


@jit
def add_ball_linear(
    pool: Array, matrix: Array, a: int, out: int, since: int, table: IntArray
) -> None:
    """Enclose out + A a, in place, for three rows from a and from out on.

    A is within matrix[1] of matrix[0], both (3, 3). Rounding is that of `add_linear`.
    """
    last = pool.shape[1] - 1
    center, radius = matrix[0], matrix[1]
    n0, n1 = row_norm(pool, a, since, table), row_norm(pool, a + 1, since, table)
    n2 = row_norm(pool, a + 2, since, table)
    r0, r1, r2 = pool[a, last], pool[a + 1, last], pool[a + 2, last]
    for i in range(3):
        c0, c1, c2 = center[i, 0], center[i, 1], center[i, 2]
        s0, s1, s2 = radius[i, 0], radius[i, 1], radius[i, 2]
        terms = abs(c0) * n0 + abs(c1) * n1 + abs(c2) * n2
        terms += row_norm(pool, out + i, since, table)
        slack = r0 * (abs(c0) + s0) + r1 * (abs(c1) + s1) + r2 * (abs(c2) + s2)
        slack += s0 * n0 + s1 * n1 + s2 * n2 + 4.0 * EPS * terms
        for e in range(table[0] + 1):
            for m in range(first_of(table, since, e), table[3 + e]):
                total = c0 * pool[a, m] + c1 * pool[a + 1, m] + c2 * pool[a + 2, m]
                pool[out + i, m] += total
        pool[out + i, last] = rounded_up(pool[out + i, last] + slack, last)


@jit
def add_ball_product(
    pool: Array, a: int, b: int, sign: float, out: int, since: int, weights: Array, table: IntArray
) -> None:
    """Enclose out + sign * a * b over the ball, in place; sign is 1 or -1.

    What a b has above degree D is below the products of the norms of homogeneous parts.
    """
    last, D = pool.shape[1] - 1, table[0]
    above_a = above_b = truncated = 0.0
    for e in range(1, D + 1):
        above_b += part_norm(pool, b, D + 1 - e, since, weights, table)
        part_a = part_norm(pool, a, e, since, weights, table)
        above_a += part_a
        truncated += part_a * above_b
    norm_a, norm_b = abs(pool[a, 0]) + above_a, abs(pool[b, 0]) + above_b
    radius_a, radius_b = pool[a, last], pool[b, last]
    size_a, size_b = norm_a + radius_a, norm_b + radius_b
    if not anywhere(size_a != 0.0) or not anywhere(size_b != 0.0):
        return
    before, radius = row_norm(pool, out, since, table), pool[out, last]
    _add_coefficients(pool, Rows(a, since), Rows(b, since), sign, out, table)
    rounding = PAIRS * EPS * (LARGEST_SHARE * last * norm_a * norm_b + before)
    slack = truncated + norm_a * radius_b + radius_a * (norm_b + radius_b)
    larger = rounded_up(radius + slack + rounding, last)
    pool[out, last] = where(size_a == 0.0, radius, where(size_b == 0.0, radius, larger))


@jit
def add_ball_products(
    pool: Array, parts: Array, a: Rows, b: Rows, count: int, out: int, table: IntArray
) -> None:
    """Enclose out + the sum of a_r * b_r over `count` rows of each, in place.

    Rows of `parts` are those of `set_part_norms`. Of the products at most count PAIRS have the
    same monomial. `out` depends on what one of both does.
    """
    last, D = pool.shape[1] - 1, table[0]
    before = row_norm(pool, out, min(a.since, b.since), table)
    slack = size = 0.0
    for r in range(count):
        x, y = a.first + r, b.first + r
        above_a = above_b = 0.0
        for e in range(1, D + 1):
            above_b += parts[y, D - e]
            part_a = parts[x, e - 1]
            above_a += part_a
            slack += part_a * above_b
        norm_a, norm_b = abs(pool[x, 0]) + above_a, abs(pool[y, 0]) + above_b
        radius_a, radius_b = pool[x, last], pool[y, last]
        slack += norm_a * radius_b + radius_a * (norm_b + radius_b)
        size += norm_a * norm_b
        _add_coefficients(pool, Rows(x, a.since), Rows(y, b.since), 1.0, out, table)
    rounding = count * PAIRS * EPS * (LARGEST_SHARE * last * size + before)
    pool[out, last] = rounded_up(pool[out, last] + slack + rounding, last + 4 * count)


@jit
def _add_coefficients(
    pool: Array, a: Rows, b: Rows, sign: float, out: int, table: IntArray
) -> None:
    """Add the coefficients of sign * a * b up to degree D to those of out; first rows only."""
    D = table[0]
    factor = sign * pool[a.first, 0]
    if anywhere(factor != 0.0):
        for f in range(D + 1):
            for j in range(first_of(table, b.since, f), table[3 + f]):
                pool[out, j] += factor * pool[b.first, j]
    products = 4 + D + table[1] + table[3 + D]
    for e in range(1, D + 1):
        partners, first, end = table[3 + D - e], table[2 + e], table[3 + e]
        for i in range(first_of(table, a.since, e), end):
            factor = sign * pool[a.first, i]
            if anywhere(factor != 0.0):
                row = products + (i - first) * partners
                for f in range(D - e + 1):
                    for j in range(first_of(table, b.since, f), table[3 + f]):
                        pool[out, table[row + j]] += factor * pool[b.first, j]
        products += (end - first) * partners
