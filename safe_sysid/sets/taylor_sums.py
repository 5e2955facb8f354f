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
all but one of them products: an error below 1.01 n u sum |x| < ROUNDING sum |x|. By the triangle
inequality those of all coefficients and of both balls together are below as much of
sum |a| |b| + |out| in 1-norm on |k_v| <= 1 and |z_1|, |z_2| <= 1.
"""

from __future__ import annotations

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere
from safe_sysid.sets.taylor_kernels import PAIRS, copy, error_size, norm, rounded_up

Pair = tuple[int, int]  # rows
ROUNDING = 2 * PAIRS * EPS


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
    last, b1, b2 = pool.shape[1] - 1, b + step, b + 2 * step
    x0, x1, x2 = pool[a, 0], pool[a + 1, 0], pool[a + 2, 0]
    for m in range(last):
        pool[out, m] = x0 * pool[b, m] + x1 * pool[b1, m] + x2 * pool[b2, m]
    _add_other_products(pool, a, b, step, out, table)
    pool[out, last] = _loss(pool, sizes, a, b, step, 0.0)


@jit
def add_inner_product(
    pool: Array, sizes: Array, a: int, b: int, step: int, out: int, table: IntArray
) -> None:
    """Enclose out + sum over r < 3 of a_r b_r, in place; b_r are `step` rows apart."""
    last, b1, b2 = pool.shape[1] - 1, b + step, b + 2 * step
    before = norm(pool, out, 0, last)
    x0, x1, x2 = pool[a, 0], pool[a + 1, 0], pool[a + 2, 0]
    for m in range(last):
        pool[out, m] += x0 * pool[b, m] + x1 * pool[b1, m] + x2 * pool[b2, m]
    _add_other_products(pool, a, b, step, out, table)
    radius = pool[out, last] + _loss(pool, sizes, a, b, step, before)
    pool[out, last] = rounded_up(radius, last)


@inline_jit
def _add_other_products(pool: Array, a: int, b: int, step: int, out: int, table: IntArray) -> None:
    """Add the coefficients of the products, but for those with the constants of a."""
    last, D, a1, a2, b1, b2 = pool.shape[1] - 1, table[0], a + 1, a + 2, b + step, b + 2 * step
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


@inline_jit
def _loss(pool: Array, sizes: Array, a: int, b: int, step: int, before: float) -> float:
    """Radius of the sum of three products and of what was there before."""
    radius, size = 0.0, before
    for r in range(3):
        dropped, product = _dropped(pool, sizes, a + r, b + r * step)
        radius += dropped
        size += product
    return rounded_up(radius + ROUNDING * size, pool.shape[1])  # type: ignore[no-any-return]


@jit
def add_two_products(
    pool: Array,
    sizes: Array,
    first: Pair,
    second: Pair,
    factors: tuple[float, float],
    out: int,
    table: IntArray,
) -> None:
    """Enclose out + f a b + g c d, in place, for pairs (a, b) and (c, d); f, g powers of two."""
    last, D, (a, b), (c, d), (f, g) = pool.shape[1] - 1, table[0], first, second, factors
    before = norm(pool, out, 0, last)
    x0, x1 = f * pool[a, 0], g * pool[c, 0]
    for m in range(last):
        pool[out, m] += x0 * pool[b, m] + x1 * pool[d, m]
    row = 4 + D + table[1] + table[3 + D]
    for e in range(1, D):
        partners = table[3 + D - e]
        for i in range(table[2 + e], table[3 + e]):
            x0, x1 = f * pool[a, i], g * pool[c, i]
            if anywhere(abs(x0) + abs(x1) != 0.0):
                for j in range(partners):
                    pool[out, table[row + j]] += x0 * pool[b, j] + x1 * pool[d, j]
            row += partners
    y0, y1 = f * pool[b, 0], g * pool[d, 0]
    for m in range(table[2 + D], last):
        pool[out, m] += y0 * pool[a, m] + y1 * pool[c, m]
    dropped, size = _dropped(pool, sizes, a, b)
    more, product = _dropped(pool, sizes, c, d)
    radius = abs(f) * dropped + abs(g) * more
    rounding = ROUNDING * (abs(f) * size + abs(g) * product + before)
    pool[out, last] = rounded_up(pool[out, last] + radius + rounding, last)


@jit
def set_turned(pool: Array, sizes: Array, state: int, a: int, out: int, table: IntArray) -> None:
    """Enclose Rz' a, for three rows each; the first two of a state are the cosine and the sine."""
    last, D, cosine, sine, x, y = pool.shape[1] - 1, table[0], state, state + 1, a, a + 1
    c, s = pool[cosine, 0], pool[sine, 0]
    for m in range(last):
        u, v = pool[x, m], pool[y, m]
        pool[out, m] = c * u + s * v
        pool[out + 1, m] = c * v - s * u
    row = 4 + D + table[1] + table[3 + D]
    for e in range(1, D):
        partners = table[3 + D - e]
        for i in range(table[2 + e], table[3 + e]):
            c, s = pool[cosine, i], pool[sine, i]
            if anywhere(abs(c) + abs(s) != 0.0):
                for j in range(partners):
                    u, v, m = pool[x, j], pool[y, j], table[row + j]
                    pool[out, m] += c * u + s * v
                    pool[out + 1, m] += c * v - s * u
            row += partners
    u, v = pool[x, 0], pool[y, 0]
    for m in range(table[2 + D], last):
        c, s = pool[cosine, m], pool[sine, m]
        if anywhere(abs(c) + abs(s) != 0.0):
            pool[out, m] += c * u + s * v
            pool[out + 1, m] += c * v - s * u
    for r in range(2):
        dropped, size = _dropped(pool, sizes, cosine, x + r)
        more, product = _dropped(pool, sizes, sine, x + 1 - r)
        rounding = ROUNDING * (size + product)
        pool[out + r, last] = rounded_up(dropped + more + rounding, last)
    copy(pool, a + 2, out + 2)


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
