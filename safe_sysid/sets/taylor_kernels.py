"""Compiled arithmetic on Taylor models that are rows of one array, the pool.

A row of M coefficients and a radius stands for every function f of k in [-1, 1]^d with
|f(k) - p(k)| <= radius, where p has the coefficients (order of `monomials`). Functions take the
pool, the numbers of the rows and the kernel table of the monomials. They can be called from a
compiled loop, allocate nothing and count no references: that is why rows are numbers, not views.
`out` must not be an operand unless the docstring says so.

Between the M coefficients and the radius a row may have 2 n more, of error variables z: it then
stands for functions of k and z with |f(k, z) - p(k) - c'z| <= radius for all z = (z_1, z_2) with
|z_1| <= 1 and |z_2| <= 1 in 2-norm. A sum of many errors is much smaller on two balls than on a
box. Products keep what is linear in z and constant in k; the rest goes to the radius.

Rounding. Let u = EPS / 2. A float sum of n products has an error below gamma_n = n u / (1 - n u)
times the sum of their absolute values, whatever the order; on |k_v| <= 1 an error of a coefficient
is an error of the model of at most that size. So every operation adds a multiple of EPS times the
1-norm of what it summed to the radius. The radius itself is a sum of products of non-negative
floats, in which a 1-norm is off by a relative error below M u and each other operation by u:
`rounded_up` multiplies by more than that. Underflow costs less than UNDERFLOW per operation,
also when the processor flushes subnormal numbers to zero. Overflow gives inf or NaN in the radius,
which `TaylorModel` refuses.

Elements of a pool may be lanes in place of numbers (see `lanes`): the same is then done to
several pools, so kernels do not branch on what is in a pool.
"""

from __future__ import annotations

import math

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere, where

UNDERFLOW = 1e-290  # above 1e5 times the smallest normal number: no kernel has more products
LOST = 1e-150  # above the root of all squares that underflow
PAIRS = 16  # at most 2^D pairs of monomials have the same product, D <= 4


@jit
def norm(pool: Array, a: int, first: int, last: int) -> float:
    """Sum of absolute values of coefficients; four partial sums keep the adders busy."""
    s0 = s1 = s2 = s3 = 0.0
    i = first
    while i + 4 <= last:
        s0 += abs(pool[a, i])
        s1 += abs(pool[a, i + 1])
        s2 += abs(pool[a, i + 2])
        s3 += abs(pool[a, i + 3])
        i += 4
    while i < last:
        s0 += abs(pool[a, i])
        i += 1
    return (s0 + s1) + (s2 + s3)


@jit
def rounded_up(radius: float, terms: int) -> float:
    """Radius computed from 1-norms of `terms` numbers, made an upper bound of the exact one."""
    return radius * (1.0 + (2 * terms + 32) * EPS) + UNDERFLOW


@jit
def clear(pool: Array, out: int) -> None:
    """Set out to the number zero."""
    for i in range(pool.shape[1]):
        pool[out, i] = 0.0


@jit
def clear_vector(pool: Array, out: int) -> None:
    """Set three rows to zero."""
    for r in range(3):
        clear(pool, out + r)


@jit
def copy(pool: Array, a: int, out: int) -> None:
    """Set out to a."""
    for i in range(pool.shape[1]):
        pool[out, i] = pool[a, i]


@jit
def add(pool: Array, a: int, b: int, out: int) -> None:
    """Enclose a + b; out may be an operand."""
    M = pool.shape[1] - 1
    radius = pool[a, M] + pool[b, M]
    for i in range(M):
        pool[out, i] = pool[a, i] + pool[b, i]
    pool[out, M] = rounded_up(radius + EPS * norm(pool, out, 0, M), M)


@jit
def subtract(pool: Array, a: int, b: int, out: int) -> None:
    """Enclose a - b, whose radius is the sum of both; out may be an operand."""
    M = pool.shape[1] - 1
    radius = pool[a, M] + pool[b, M]
    for i in range(M):
        pool[out, i] = pool[a, i] - pool[b, i]
    pool[out, M] = rounded_up(radius + EPS * norm(pool, out, 0, M), M)


@jit
def add_interval(pool: Array, center: float, radius: float, out: int) -> None:
    """Enclose out + [center - radius, center + radius], in place."""
    M = pool.shape[1] - 1
    pool[out, 0] += center
    pool[out, M] = rounded_up(pool[out, M] + radius + EPS * abs(pool[out, 0]), 1)


@jit
def scale(pool: Array, a: int, center: float, radius: float, out: int) -> None:
    """Enclose a * [center - radius, center + radius]; out may be a."""
    M = pool.shape[1] - 1
    size = norm(pool, a, 0, M)
    slack = pool[a, M] * (abs(center) + radius) + size * radius
    for i in range(M):
        pool[out, i] = pool[a, i] * center
    pool[out, M] = rounded_up(slack + EPS * abs(center) * size, M)


@jit
def add_scaled(pool: Array, a: int, center: float, radius: float, out: int) -> None:
    """Enclose out + a * [center - radius, center + radius], in place."""
    M = pool.shape[1] - 1
    size = norm(pool, a, 0, M)
    slack = pool[a, M] * (abs(center) + radius) + size * radius
    before = norm(pool, out, 0, M)
    for i in range(M):
        pool[out, i] += pool[a, i] * center
    rounding = 2 * EPS * (abs(center) * size + before)
    pool[out, M] = rounded_up(pool[out, M] + slack + rounding, M)


@jit
def add_product(pool: Array, a: int, b: int, sign: float, out: int, table: IntArray) -> None:
    """Enclose out + sign * a * b, in place; sign is 1 or -1. Zero coefficients of a are skipped.

    (p + e)(q + f) = pq + pf + eq + ef with |e|, |f| at most the radii; what pq has above degree D
    is below the products of 1-norms of homogeneous parts, as no monomial exceeds 1. Error
    variables do not exceed 1 either.
    """
    last, D = pool.shape[1] - 1, table[0]
    M = table[3 + D]
    radius_a, radius_b = pool[a, last], pool[b, last]
    above_a = above_b = truncated = 0.0
    for e in range(1, D + 1):
        above_b += norm(pool, b, table[3 + D - e], table[4 + D - e])
        part_a = norm(pool, a, table[2 + e], table[3 + e])
        above_a += part_a
        truncated += part_a * above_b
    error_a = error_b = 0.0
    if last > M:
        error_a, error_b = error_size(pool, a, M), error_size(pool, b, M)
    norm_a = abs(pool[a, 0]) + above_a + error_a
    norm_b = abs(pool[b, 0]) + above_b + error_b
    size_a, size_b = norm_a + radius_a, norm_b + radius_b
    if not anywhere(size_a != 0.0) or not anywhere(size_b != 0.0):
        return
    before, radius = norm(pool, out, 0, last), pool[out, last]
    _add_polynomial_product(pool, a, b, sign, out, table)
    truncated += above_a * error_b + error_a * (above_b + error_b)
    for i in range(M, last):
        pool[out, i] += sign * (pool[a, 0] * pool[b, i] + pool[b, 0] * pool[a, i])
    rounding = PAIRS * EPS * (norm_a * norm_b + before)
    slack = truncated + norm_a * radius_b + radius_a * (norm_b + radius_b)
    larger = rounded_up(radius + slack + rounding, last)
    pool[out, last] = where(size_a == 0.0, radius, where(size_b == 0.0, radius, larger))


@jit
def _add_polynomial_product(
    pool: Array, a: int, b: int, sign: float, out: int, table: IntArray
) -> None:
    """Add the coefficients of sign * a * b up to degree D to those of out."""
    D = table[0]
    M = table[3 + D]
    factor = sign * pool[a, 0]
    if anywhere(factor != 0.0):
        for j in range(M):
            pool[out, j] += factor * pool[b, j]
    row = 4 + D + table[1] + M
    for e in range(1, D + 1):
        partners = table[3 + D - e]
        for i in range(table[2 + e], table[3 + e]):
            factor = sign * pool[a, i]
            if anywhere(factor != 0.0):
                for j in range(partners):
                    pool[out, table[row + j]] += factor * pool[b, j]
            row += partners


@jit
def multiply(pool: Array, a: int, b: int, out: int, table: IntArray) -> None:
    """Enclose a * b."""
    clear(pool, out)
    add_product(pool, a, b, 1.0, out, table)


@jit
def square(pool: Array, a: int, out: int, table: IntArray) -> None:
    """Enclose a * a; squares that are dropped are not negative, so half of them is a number.

    Dropped are the products of homogeneous parts A_e A_f with e + f > D. Those with e = f are in
    [0, |A_e|^2], and the squared error is in [0, radius^2]: their middle becomes a constant.
    """
    last, D = pool.shape[1] - 1, table[0]
    multiply(pool, a, a, out, table)
    half = 0.5 * pool[a, last] * pool[a, last]
    for e in range(D // 2 + 1, D + 1):
        part = norm(pool, a, table[2 + e], table[3 + e])
        half += 0.5 * part * part
    # Not more than the exact value, so that the radius, which holds twice that, can give it up.
    half *= 1.0 - (2 * last + 32) * EPS
    pool[out, 0] += half
    rounding = EPS * (abs(pool[out, 0]) + pool[out, last])
    pool[out, last] = rounded_up(pool[out, last] - half + rounding, 1)


@jit
def bounds(pool: Array, a: int, table: IntArray) -> tuple[float, float]:
    """Enclose the range over the box; k_v and k_v^2 together exactly, even monomials in [0, 1].

    All but the constant take their absolute values from it, or add them; what those that are
    known better take and add less is put right.
    """
    last, D = pool.shape[1] - 1, table[0]
    M = table[3 + D]
    size = norm(pool, a, 1, M)
    less = more = 0.0
    if D >= 2:
        for v in range(table[1]):
            linear, curve = pool[a, 1 + v], pool[a, table[4 + D + v]]
            less += abs(curve) + curve
            more += abs(curve) - curve
            inside = abs(linear) < 2.0 * abs(curve)
            if anywhere(inside):
                extreme = -linear * (0.25 * linear / curve)
                lower, higher = extreme - (curve - abs(linear)), curve + abs(linear) - extreme
                less += where(inside, where(curve > 0.0, lower, 0.0), 0.0)
                more += where(inside, where(curve > 0.0, 0.0, higher), 0.0)
    if D >= 4:
        for i in range(table[5], M):
            if table[4 + D + table[1] + i] != 0:
                less += max(pool[a, i], 0.0)
                more += max(-pool[a, i], 0.0)
    radius = pool[a, last]
    if last > M:
        radius += error_size(pool, a, M)
    slack = rounded_up(radius + (last + 16) * EPS * (abs(pool[a, 0]) + size), last)
    return pool[a, 0] - (size - less) - slack, pool[a, 0] + (size - more) + slack


@jit
def error_size(pool: Array, a: int, M: int) -> float:
    """Largest value of the linear terms in z, to less than `last` EPS of it."""
    last = pool.shape[1] - 1
    middle = (M + last) // 2
    first = second = 0.0
    for i in range(M, middle):
        first += pool[a, i] * pool[a, i]
        second += pool[a, i + middle - M] * pool[a, i + middle - M]
    return math.sqrt(first) + math.sqrt(second) + LOST


@jit
def magnitude(pool: Array, a: int, table: IntArray) -> float:
    """Upper bound of |f(k)| over the box and every f in the model."""
    lower, upper = bounds(pool, a, table)
    return max(-lower, upper)  # type: ignore[no-any-return]
