"""Compiled linear maps of rows of a pool whose sizes are known, see `taylor_sums`.

Each coefficient is a sum of at most seven numbers, at most six of them products, which a matrix or
a row has: an error below 7 u = 3.5 EPS of the sum of their absolute values.
"""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.taylor_kernels import norm, rounded_up


@inline_jit
def size_of(pool: Array, sizes: Array, a: int) -> float:
    """Bound of the polynomial of a row."""
    total = abs(pool[a, 0])
    for e in range(sizes.shape[1]):
        total += sizes[a, e]
    return total  # type: ignore[no-any-return]


@jit
def set_linear(pool: Array, sizes: Array, matrix: Array, a: int, out: int) -> None:
    """Enclose A a, for three rows each and every A within matrix[1] of matrix[0]."""
    last = pool.shape[1] - 1
    a00, a01, a02 = matrix[0, 0, 0], matrix[0, 0, 1], matrix[0, 0, 2]
    a10, a11, a12 = matrix[0, 1, 0], matrix[0, 1, 1], matrix[0, 1, 2]
    a20, a21, a22 = matrix[0, 2, 0], matrix[0, 2, 1], matrix[0, 2, 2]
    for m in range(last):
        u, v, w = pool[a, m], pool[a + 1, m], pool[a + 2, m]
        pool[out, m] = a00 * u + a01 * v + a02 * w
        pool[out + 1, m] = a10 * u + a11 * v + a12 * w
        pool[out + 2, m] = a20 * u + a21 * v + a22 * w
    for i in range(3):
        pool[out + i, last] = rounded_up(_loss(pool, sizes, matrix, i, a), last)


@jit
def add_linear(pool: Array, sizes: Array, matrix: Array, a: int, out: int) -> None:
    """Enclose out + A a, in place, likewise."""
    last = pool.shape[1] - 1
    for i in range(3):
        pool[out + i, last] += 4.0 * EPS * norm(pool, out + i, 0, last)
    a00, a01, a02 = matrix[0, 0, 0], matrix[0, 0, 1], matrix[0, 0, 2]
    a10, a11, a12 = matrix[0, 1, 0], matrix[0, 1, 1], matrix[0, 1, 2]
    a20, a21, a22 = matrix[0, 2, 0], matrix[0, 2, 1], matrix[0, 2, 2]
    for m in range(last):
        u, v, w = pool[a, m], pool[a + 1, m], pool[a + 2, m]
        pool[out, m] += a00 * u + a01 * v + a02 * w
        pool[out + 1, m] += a10 * u + a11 * v + a12 * w
        pool[out + 2, m] += a20 * u + a21 * v + a22 * w
    for i in range(3):
        radius = pool[out + i, last] + _loss(pool, sizes, matrix, i, a)
        pool[out + i, last] = rounded_up(radius, last)


@inline_jit
def _loss(pool: Array, sizes: Array, matrix: Array, i: int, a: int) -> float:
    """Radius of row i of A a."""
    last, slack = pool.shape[1] - 1, 0.0
    for j in range(3):
        center, radius = abs(matrix[0, i, j]), matrix[1, i, j]
        slack += (radius + 4.0 * EPS * center) * size_of(pool, sizes, a + j)
        slack += (center + radius) * pool[a + j, last]
    return slack


@jit
def add_multiples(pool: Array, sizes: Array, a: int, step: int, factors: Array, out: int) -> None:
    """Enclose out + sum over r < 3 of factors_r a_r, in place; a_r are `step` rows apart."""
    last, f0, f1, f2 = pool.shape[1] - 1, factors[0], factors[1], factors[2]
    radius = pool[out, last] + 4.0 * EPS * norm(pool, out, 0, last)
    for m in range(last):
        pool[out, m] += f0 * pool[a, m] + f1 * pool[a + step, m] + f2 * pool[a + 2 * step, m]
    for r in range(3):
        row, factor = a + r * step, abs(factors[r])
        radius += factor * (pool[row, last] + 4.0 * EPS * size_of(pool, sizes, row))
    pool[out, last] = rounded_up(radius, last)
