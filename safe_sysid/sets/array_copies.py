"""Compiled copies of arrays, entry by entry.

Numba compiles the sentence of an error into each assignment of an array to a slice, which takes
longer than most kernels.
"""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit

OTHER_SHAPE = 'an array is copied into one of another shape'


@jit
def copy_vector(a: Array, out: Array) -> None:
    """Set `out` to `a`."""
    if a.shape != out.shape:
        raise ValueError(OTHER_SHAPE)
    for i in range(len(a)):
        out[i] = a[i]


@jit
def copy_matrix(a: Array, out: Array) -> None:
    """Set `out` to `a`."""
    if a.shape != out.shape:
        raise ValueError(OTHER_SHAPE)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]


@jit
def copy_matrices(a: Array, out: Array) -> None:
    """Set `out` to `a`, both with three axes."""
    if a.shape != out.shape:
        raise ValueError(OTHER_SHAPE)
    for i in range(len(a)):
        copy_matrix(a[i], out[i])
