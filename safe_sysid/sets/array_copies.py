"""Compiled copies of arrays, entry by entry.

Numba compiles the sentence of an error into each assignment of an array to a slice, which takes
longer than most kernels.
"""

from __future__ import annotations

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit


@jit
def copy_vector(a: Array, out: Array) -> None:
    """Set the first entries of `out` to those of `a`."""
    for i in range(len(a)):
        out[i] = a[i]


@jit
def copy_matrix(a: Array, out: Array) -> None:
    """Set the first rows of `out` to those of `a`."""
    for i in range(len(a)):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j]


@jit
def copy_matrices(a: Array, out: Array) -> None:
    """Set the first matrices of `out` to those of `a`."""
    for i in range(len(a)):
        copy_matrix(a[i], out[i])
