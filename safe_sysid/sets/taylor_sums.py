"""Compiled sums of products of rows of a pool, of which rigid-body dynamics is full.

Rows and their rounding are those of `taylor_kernels`. A product costs less than what bounds it:
its error is from the sizes of its operands, which are sums over all their coefficients. A row
takes part in about ten products, so its sizes are computed once, by `note_sizes`, into a row of
`sizes`: sigma, the largest value of what is linear in the error variables, and |a_e|, the 1-norms
of the homogeneous parts of degrees e = 1 to D. With |a| = |a_0| + sum |a_e| + sigma_a and radii
rho, a product has beside the coefficients that are kept at most

    sum over e + f > D of |a_e| |b_f|
    + sigma_a sum |b_f| + sum |a_e| sigma_b + sigma_a sigma_b        (e, f > 0)
    + |a| rho_b + rho_a (|b| + rho_b)

and a sum of products is rounded once. A coefficient is a sum of at most n = 3 PAIRS + 1 numbers x,
all but one of them products: an error below (n + 1) u sum |x|. By the triangle inequality those
of all coefficients and of both balls together are below (n + 1) u (sum |a| |b| + |out| in 1-norm)
on |k_v| <= 1 and |z_1|, |z_2| <= 1, of which twice as much and more is taken.
"""

from __future__ import annotations

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere
from safe_sysid.sets.taylor_kernels import PAIRS, error_size, norm, rounded_up


@jit
def note_sizes(pool: Array, first: int, count: int, sizes: Array, table: IntArray) -> None:
    """Remember sizes of some rows; to be called again whenever they change."""
    last, D = pool.shape[1] - 1, table[0]
    M = table[3 + D]
    for a in range(first, first + count):
        sizes[a, 0] = 0.0
        if last > M:
            sizes[a, 0] = error_size(pool, a, M)
        for e in range(1, D + 1):
            sizes[a, e] = norm(pool, a, table[2 + e], table[3 + e])


@jit
def set_inner_product(
    pool: Array, sizes: Array, a: int, b: int, step: int, out: int, table: IntArray
) -> None:
    """Enclose sum over r < 3 of a_r b_r; b_r are `step` rows apart."""
    last, D = pool.shape[1] - 1, table[0]
    a1, a2, b1, b2 = a + 1, a + 2, b + step, b + 2 * step
    x0, x1, x2 = pool[a, 0], pool[a1, 0], pool[a2, 0]
    for m in range(last):
        pool[out, m] = x0 * pool[b, m] + x1 * pool[b1, m] + x2 * pool[b2, m]
    row = 4 + D + table[1] + table[3 + D]
    for e in range(1, D):
        partners = table[3 + D - e]
        for i in range(table[2 + e], table[3 + e]):
            x0, x1, x2 = pool[a, i], pool[a1, i], pool[a2, i]
            if anywhere(abs(x0) + abs(x1) + abs(x2) != 0.0):
                for j in range(partners):
                    pool[out, table[row + j]] += (
                        x0 * pool[b, j] + x1 * pool[b1, j] + x2 * pool[b2, j]
                    )
            row += partners
    y0, y1, y2 = pool[b, 0], pool[b1, 0], pool[b2, 0]
    for m in range(table[2 + D], last):
        pool[out, m] += y0 * pool[a, m] + y1 * pool[a1, m] + y2 * pool[a2, m]
    radius = size = 0.0
    for r in range(3):
        dropped, product = _dropped(pool, sizes, a + r, b + r * step)
        radius += dropped
        size += product
    pool[out, last] = rounded_up(radius + 3 * PAIRS * EPS * size, last)


@jit
def add_difference(
    pool: Array, sizes: Array, a: int, b: int, c: int, d: int, out: int, table: IntArray
) -> None:
    """Enclose out + a b - c d, in place."""
    last, D = pool.shape[1] - 1, table[0]
    before = norm(pool, out, 0, last)
    x0, x1 = pool[a, 0], pool[c, 0]
    for m in range(last):
        pool[out, m] += x0 * pool[b, m] - x1 * pool[d, m]
    row = 4 + D + table[1] + table[3 + D]
    for e in range(1, D):
        partners = table[3 + D - e]
        for i in range(table[2 + e], table[3 + e]):
            x0, x1 = pool[a, i], pool[c, i]
            if anywhere(abs(x0) + abs(x1) != 0.0):
                for j in range(partners):
                    pool[out, table[row + j]] += x0 * pool[b, j] - x1 * pool[d, j]
            row += partners
    y0, y1 = pool[b, 0], pool[d, 0]
    for m in range(table[2 + D], last):
        pool[out, m] += y0 * pool[a, m] - y1 * pool[c, m]
    dropped, size = _dropped(pool, sizes, a, b)
    more, product = _dropped(pool, sizes, c, d)
    rounding = 3 * PAIRS * EPS * (size + product + before)
    pool[out, last] = rounded_up(pool[out, last] + dropped + more + rounding, last)


@inline_jit
def _dropped(pool: Array, sizes: Array, a: int, b: int) -> tuple[float, float]:
    """Bound what a product of two rows has beside its coefficients, and all of these."""
    last, D = pool.shape[1] - 1, sizes.shape[1] - 1
    above_a = above_b = dropped = 0.0
    for e in range(1, D + 1):
        above_b += sizes[b, D + 1 - e]
        above_a += sizes[a, e]
        dropped += sizes[a, e] * above_b
    error_a, error_b = sizes[a, 0], sizes[b, 0]
    dropped += above_a * error_b + error_a * (above_b + error_b)
    size_a, size_b = abs(pool[a, 0]) + above_a + error_a, abs(pool[b, 0]) + above_b + error_b
    radius_a, radius_b = pool[a, last], pool[b, last]
    dropped += size_a * radius_b + radius_a * (size_b + radius_b)
    return dropped, size_a * size_b


@jit
def add_combination(pool: Array, first: int, factors: Array, out: int) -> None:
    """Enclose out + sum of factors_p times row first + p, in place.

    Each coefficient is a sum of one number more than there are factors, all but one of them
    products.
    """
    last, count = pool.shape[1] - 1, len(factors)
    size, radius = norm(pool, out, 0, last), pool[out, last]
    for p in range(count):
        factor = factors[p]
        if factor != 0.0:
            size += abs(factor) * norm(pool, first + p, 0, last)
            radius += abs(factor) * pool[first + p, last]
            for i in range(last):
                pool[out, i] += factor * pool[first + p, i]
    rounding = (count + 2) * EPS * size
    pool[out, last] = rounded_up(radius + rounding, last + count)
