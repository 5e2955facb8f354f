"""Monomials in k up to a total degree, in graded order, and where their products are.

Graded order makes products cheap: the partners with which a monomial of degree e stays within
degree D are exactly the first ones, those of degree <= D - e.
"""

from __future__ import annotations

from dataclasses import dataclass
import functools
import itertools

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.sets.compiled import jit

LARGEST_DEGREE = 4
LARGEST_COUNT = 16


def kernel_table(
    exponents: IntArray, degree: int, positions: dict[tuple[int, ...], int]
) -> IntArray:
    """Pack what compiled kernels need into one array; M monomials, d variables, degree D.

    One array and not a tuple of arrays: extracting an array from a tuple inside a parallel loop
    counts references atomically, which took three times as long as the products themselves.

        table[0] = D, table[1] = d
        table[2 + e], e = 0..D + 1    monomials of degree e are table[2 + e]:table[3 + e]
        table[4 + D + v]              index of k_v squared (D >= 2)
        table[4 + D + d + i]          1 when all exponents of monomial i are even, else 0
        table[4 + D + d + M + ...]    rows of products: for i = 1, 2, ... the indices of
                                      monomial i times monomial j, j = 0..table[3 + D - e] - 1
    """
    totals = exponents.sum(axis=1)
    start = np.searchsorted(totals, np.arange(degree + 2))
    squares = np.flatnonzero((totals == 2) & (exponents.max(axis=1, initial=0) == 2))
    products = [
        positions[tuple(row)]
        for i in range(1, len(exponents))
        for row in (exponents[i] + exponents[: start[degree - totals[i] + 1]]).tolist()
    ]
    header = [degree, exponents.shape[1], *start]
    squares = squares if degree >= 2 else np.full(exponents.shape[1], -1)
    even = np.all(exponents % 2 == 0, axis=1)
    table = np.concatenate([header, squares, even, products]).astype(np.int64)
    table.setflags(write=False)
    return table


@dataclass(frozen=True, eq=False)
class Monomials:
    """All monomials of total degree <= `degree` in k of [-1, 1]^`variables`, in graded order."""

    variables: int
    degree: int
    exponents: IntArray  # (M, variables)
    kernel: IntArray  # see kernel_table

    @property
    def count(self) -> int:
        """Number of monomials M."""
        return len(self.exponents)

    def index(self, exponents: tuple[int, ...]) -> int:
        """Position of one monomial."""
        return _positions(self.variables, self.degree)[exponents]

    def values(self, k: Array) -> Array:
        """Value of every monomial at k; (..., variables) -> (..., M)."""
        powers = np.asarray(k, dtype=np.float64)[..., None, :] ** self.exponents
        return np.asarray(powers.prod(axis=-1))

    def gradients(self, k: Array) -> Array:
        """Return derivatives of all monomials at k; (variables,) -> (M, variables)."""
        out = np.zeros(self.exponents.shape)
        _gradients(self.exponents, np.array(k, dtype=np.float64), out)
        return out


@jit
def _gradients(exponents: IntArray, k: Array, out: Array) -> None:
    """Set the entries of out, which is zero, that a monomial depends on."""
    for m in range(exponents.shape[0]):
        for v in range(exponents.shape[1]):
            if exponents[m, v] > 0:
                slope = 1.0 * exponents[m, v]
                for w in range(exponents.shape[1]):
                    for _ in range(exponents[m, w] - (w == v)):
                        slope *= k[w]
                out[m, v] = slope


@functools.cache
def monomials(variables: int, degree: int) -> Monomials:
    """Return the one table there is for this number of variables and degree."""
    if not (0 <= variables <= LARGEST_COUNT and 1 <= degree <= LARGEST_DEGREE):
        raise BoundError(
            f'polynomials in {variables} variables of degree {degree}: allowed are 0 to '
            f'{LARGEST_COUNT} variables and degree 1 to {LARGEST_DEGREE}'
        )
    positions = _positions(variables, degree)
    exponents = np.array(list(positions), dtype=np.int64).reshape(len(positions), variables)
    exponents.setflags(write=False)
    return Monomials(variables, degree, exponents, kernel_table(exponents, degree, positions))


@functools.cache
def _positions(variables: int, degree: int) -> dict[tuple[int, ...], int]:
    """Index of every exponent tuple, degree by degree; k_0, k_1, ... come right after 1."""
    ordered = [
        tuple(chosen.count(v) for v in range(variables))
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(variables), total)
    ]
    return {exponents: i for i, exponents in enumerate(ordered)}
