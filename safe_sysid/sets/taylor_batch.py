"""The kernels of `taylor_kernels` over a batch of models, on all cores when the batch is large.

The operands are copied into one pool, so each kernel is compiled for one kind of array only.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_sine import sine_cosine

SHARED_FROM = 256  # products; below, a second thread costs more than it saves


def add(a: Array, b: Array) -> Array:
    """Enclose a + b for every row."""
    return _add(np.concatenate((a, b)))[: len(a)]  # type: ignore[no-any-return]


def subtract(a: Array, b: Array) -> Array:
    """Enclose a - b for every row."""
    return _subtract(np.concatenate((a, b)))[: len(a)]  # type: ignore[no-any-return]


def multiply(a: Array, b: Array, table: IntArray) -> Array:
    """Enclose a * b for every row."""
    n = len(a)
    pool = np.concatenate((a, b, np.zeros_like(a)))
    if n >= SHARED_FROM:
        over_steps(_multiply, n, pool, table)
    else:
        _multiply((0, n), pool, table)
    return pool[2 * n :]


def square(a: Array, table: IntArray) -> Array:
    """Enclose a * a for every row."""
    return _square(np.concatenate((a, a)), table)[len(a) :]  # type: ignore[no-any-return]


def add_interval(a: Array, center: Array, radius: Array) -> Array:
    """Enclose a + [center - radius, center + radius] for every row."""
    return _add_interval(np.array(a), center, radius)  # type: ignore[no-any-return]


def scale(a: Array, center: Array, radius: Array) -> Array:
    """Enclose a * [center - radius, center + radius] for every row."""
    return _scale(np.array(a), center, radius)  # type: ignore[no-any-return]


def bounds(a: Array, table: IntArray) -> tuple[Array, Array]:
    """Enclose the range over the box of every row."""
    return _bounds(np.array(a), table)  # type: ignore[no-any-return]


def waves(a: Array, table: IntArray) -> tuple[Array, Array]:
    """Enclose sine and cosine of every row."""
    n = len(a)
    pool = _waves(np.concatenate((a, a, a, np.zeros((3, a.shape[1])))), table)
    return pool[n : 2 * n], pool[2 * n : 3 * n]


@jit
def _add(pool: Array) -> Array:
    n = len(pool) // 2
    for i in range(n):
        kernels.add(pool, i, n + i, i)
    return pool


@jit
def _subtract(pool: Array) -> Array:
    n = len(pool) // 2
    for i in range(n):
        kernels.subtract(pool, i, n + i, i)
    return pool


@jit
def _multiply(steps: Steps, pool: Array, table: IntArray) -> None:
    n = len(pool) // 3
    for i in range(steps[0], steps[1]):
        kernels.add_product(pool, i, n + i, 1.0, 2 * n + i, table)


@jit
def _square(pool: Array, table: IntArray) -> Array:
    n = len(pool) // 2
    for i in range(n):
        kernels.square(pool, i, n + i, table)
    return pool


@jit
def _add_interval(pool: Array, center: Array, radius: Array) -> Array:
    for i in range(len(pool)):
        kernels.add_interval(pool, center[i], radius[i], i)
    return pool


@jit
def _scale(pool: Array, center: Array, radius: Array) -> Array:
    for i in range(len(pool)):
        kernels.scale(pool, i, center[i], radius[i], i)
    return pool


@jit
def _bounds(pool: Array, table: IntArray) -> tuple[Array, Array]:
    lower, upper = np.empty(len(pool)), np.empty(len(pool))
    for i in range(len(pool)):
        lower[i], upper[i] = kernels.bounds(pool, i, table)
    return lower, upper


@jit
def _waves(pool: Array, table: IntArray) -> Array:
    n = (len(pool) - 3) // 3
    for i in range(n):
        sine_cosine(pool, i, n + i, 2 * n + i, 3 * n, table)
    return pool
