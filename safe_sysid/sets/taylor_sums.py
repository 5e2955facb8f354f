"""Compiled sums of products of rows of a pool, of which rigid-body dynamics is full.

Rows and their rounding are those of `taylor_kernels`. In rows of one plan, which have no monomials
but the constant, a product costs less than what bounds it: its error is from the sizes
|a| = |a_0| + sigma_a of its operands, sigma the largest value of what is linear in the error
variables, with two square roots for each. A row takes part in about ten products, so its sigma is
computed once, by `note_sizes`, into a column `sizes`, and a sum is rounded once:

    radius = sum sigma_a sigma_b + |a| rho_b + rho_a (|b| + rho_b)

for radii rho, and rounding. A coefficient is a sum of at most seven numbers x, of which six are
products: an error below 8 u sum |x|. By the triangle inequality those of the constant and of both
balls together are below 8 u (sum |a| |b| + |out| in 1-norm) on |z_1|, |z_2| <= 1, of which
`taylor_kernels` takes 32 u.
"""

from __future__ import annotations

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.taylor_kernels import PAIRS, add_product, error_size, norm, rounded_up


@jit
def is_one_plan(table: IntArray) -> bool:
    """Whether rows have no monomials but the constant."""
    return table[3 + table[0]] == 1  # type: ignore[no-any-return]


@jit
def note_sizes(pool: Array, first: int, count: int, sizes: Array, table: IntArray) -> None:
    """Remember sigma of some rows; to be called again whenever they change."""
    if is_one_plan(table):
        for a in range(first, first + count):
            sizes[a, 0] = error_size(pool, a, 1)


@jit
def add_inner_product(
    pool: Array, sizes: Array, a: int, b: int, step: int, out: int, table: IntArray
) -> None:
    """Enclose out + sum over r < 3 of a_r b_r, in place; b_r are `step` rows apart."""
    b1, b2 = b + step, b + 2 * step
    if not is_one_plan(table):
        add_product(pool, a, b, 1.0, out, table)
        add_product(pool, a + 1, b1, 1.0, out, table)
        add_product(pool, a + 2, b2, 1.0, out, table)
        return
    last = pool.shape[1] - 1
    x0, x1, x2 = pool[a, 0], pool[a + 1, 0], pool[a + 2, 0]
    y0, y1, y2 = pool[b, 0], pool[b1, 0], pool[b2, 0]
    before = norm(pool, out, 0, last)
    constant = pool[out, 0] + (x0 * y0 + x1 * y1 + x2 * y2)
    radius = pool[out, last]
    for i in range(last + 1):  # constant and radius are set below; whole rows fill registers
        pool[out, i] += (
            x0 * pool[b, i]
            + y0 * pool[a, i]
            + (x1 * pool[b1, i] + y1 * pool[a + 1, i])
            + (x2 * pool[b2, i] + y2 * pool[a + 2, i])
        )
    pool[out, 0] = constant
    dropped, size = 0.0, 0.0
    for r in range(3):
        more, product = _dropped(pool, sizes, a + r, b + r * step)
        dropped += more
        size += product
    rounding = PAIRS * EPS * (size + before)
    pool[out, last] = rounded_up(radius + dropped + rounding, last)


@jit
def add_difference(
    pool: Array, sizes: Array, a: int, b: int, c: int, d: int, out: int, table: IntArray
) -> None:
    """Enclose out + a b - c d, in place."""
    if not is_one_plan(table):
        add_product(pool, a, b, 1.0, out, table)
        add_product(pool, c, d, -1.0, out, table)
        return
    last = pool.shape[1] - 1
    x0, y0, x1, y1 = pool[a, 0], pool[b, 0], pool[c, 0], pool[d, 0]
    before = norm(pool, out, 0, last)
    pool[out, 0] += x0 * y0 - x1 * y1
    for i in range(1, last):
        pool[out, i] += (x0 * pool[b, i] + y0 * pool[a, i]) - (x1 * pool[d, i] + y1 * pool[c, i])
    dropped, size = _dropped(pool, sizes, a, b)
    more, product = _dropped(pool, sizes, c, d)
    rounding = PAIRS * EPS * (size + product + before)
    pool[out, last] = rounded_up(pool[out, last] + dropped + more + rounding, last)


@jit
def _dropped(pool: Array, sizes: Array, a: int, b: int) -> tuple[float, float]:
    """Bound what a product of two rows has beside its linear part, and all of it."""
    last = pool.shape[1] - 1
    radius_a, radius_b = pool[a, last], pool[b, last]
    size_a, size_b = abs(pool[a, 0]) + sizes[a, 0], abs(pool[b, 0]) + sizes[b, 0]
    dropped = sizes[a, 0] * sizes[b, 0] + size_a * radius_b + radius_a * (size_b + radius_b)
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
