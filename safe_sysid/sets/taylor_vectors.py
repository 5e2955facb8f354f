"""Compiled 3-vectors of Taylor models: three consecutive rows of a pool, named by the first."""

from __future__ import annotations

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.taylor_kernels import add_product, add_scaled, clear


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
    """Enclose out + A a, in place, for every (3, 3) matrix A within `radius` of `center`."""
    for i in range(3):
        for j in range(3):
            if center[i, j] != 0.0 or radius[i, j] != 0.0:
                add_scaled(pool, a + j, center[i, j], radius[i, j], out + i)
