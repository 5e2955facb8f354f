"""Compiled 3-vectors of Taylor models: three consecutive rows of a pool, named by the first."""

from __future__ import annotations

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.taylor_kernels import add_product, clear, norm, rounded_up


@jit
def clear_vector(pool: Array, out: int) -> None:
    """Set out to the zero vector."""
    for i in range(3):
        clear(pool, out + i)


@jit
def add_cross(pool: Array, a: int, b: int, sign: float, out: int, table: IntArray) -> None:
    """Enclose out + sign * a x b, in place; zero coefficients of a are skipped."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        add_product(pool, a + j, b + k, sign, out + i, table)
        add_product(pool, a + k, b + j, -sign, out + i, table)


@jit
def add_linear(pool: Array, center: Array, radius: Array, a: int, out: int) -> None:
    """Enclose out + A a, in place, for every (3, 3) matrix A within `radius` of `center`.

    Each coefficient is a sum of four terms, three of them products: an error below 4 EPS of the
    sum of their absolute values (see `taylor_kernels`).
    """
    M = pool.shape[1] - 1
    n0, n1, n2 = norm(pool, a, 0, M), norm(pool, a + 1, 0, M), norm(pool, a + 2, 0, M)
    r0, r1, r2 = pool[a, M], pool[a + 1, M], pool[a + 2, M]
    for i in range(3):
        c0, c1, c2 = center[i, 0], center[i, 1], center[i, 2]
        s0, s1, s2 = radius[i, 0], radius[i, 1], radius[i, 2]
        terms = abs(c0) * n0 + abs(c1) * n1 + abs(c2) * n2 + norm(pool, out + i, 0, M)
        slack = r0 * (abs(c0) + s0) + r1 * (abs(c1) + s1) + r2 * (abs(c2) + s2)
        slack += s0 * n0 + s1 * n1 + s2 * n2 + 4.0 * EPS * terms
        for m in range(M):
            pool[out + i, m] += c0 * pool[a, m] + c1 * pool[a + 1, m] + c2 * pool[a + 2, m]
        pool[out + i, M] = rounded_up(pool[out + i, M] + slack, M)
