"""Linear algebra modulo a prime: ranks without a tolerance.

The recursion of `parameter_nullspace` only adds, multiplies and compares with zero, so it runs on
remainders as well as on numbers. The primes are 1 modulo 24, hence sqrt 2 and sqrt 3 exist and so
do all sines of multiples of 15 degrees. What is zero has the remainder zero always; what is not
zero has it with chance 1/p, about 5e-10. Two primes that agree leave 2e-19.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from safe_sysid.arrays import AnyArray, IntArray
from safe_sysid.identifiability.exact_geometry import SINES, ExactAngle, sine_of_step
from safe_sysid.sets.array_copies import copy_vector
from safe_sysid.sets.compiled import jit

PRIMES = (2147483497, 2147483353, 2147483137, 2147482921)  # the largest below 2^31, 1 mod 24


class ResidueField:
    """Arithmetic of remainders; writes down every rank it finds."""

    length = Fraction(1)  # unit of length [m]; exact numbers need no scaling

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.ranks: list[int] = []
        self.choices: list[IntArray] = []
        self._sines = _sines(prime)

    def number(self, value: Fraction) -> int:
        """Remainder of a fraction."""
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

    def cosine_sine(self, angle: ExactAngle) -> tuple[int, int]:
        """Remainders of cosine and sine."""
        c, s = self._sine(angle.steps + 6), self._sine(angle.steps)
        if not angle.tan_half:
            return c, s
        t = self.number(angle.tan_half)
        per = pow(1 + t * t, -1, self.prime)
        ct, st = (1 - t * t) * per, 2 * t * per
        return (c * ct - s * st) % self.prime, (s * ct + c * st) % self.prime

    def array(self, rows: object) -> IntArray:
        """Remainders of whole numbers."""
        return np.asarray(rows, dtype=np.int64) % self.prime

    def reduced(self, values: AnyArray) -> IntArray:
        """Remainders of sums of remainders."""
        remainders: IntArray = values % self.prime
        return remainders

    def product(self, A: AnyArray, B: AnyArray) -> IntArray:
        """Matrix product."""
        a, b = np.ascontiguousarray(A), np.ascontiguousarray(B)
        remainders: IntArray = _product(a, b, self.prime)
        return remainders

    def span(self, rows: AnyArray) -> IntArray:
        """Rows that are known to be independent, as `extended` wants them."""
        return self._reduce(np.zeros((0, rows.shape[1]), dtype=np.int64), rows)

    def extended(self, basis: IntArray, rows: AnyArray) -> tuple[IntArray, IntArray]:
        """Basis with the directions that the rows add, and these directions."""
        if not len(rows) or len(basis) == rows.shape[1]:
            return basis, rows[:0]
        larger = self._reduce(basis, rows)
        self.ranks.append(len(larger) - len(basis))
        return larger, larger[len(basis) :]

    def dependence(self, N: AnyArray) -> tuple[IntArray, IntArray]:
        """First independent columns S, and W with the other columns = N[:, S] W."""
        echelon, pivots = _reduced_echelon(np.ascontiguousarray(N), self.prime)
        self.choices.append(pivots)
        return pivots, np.delete(echelon, pivots, axis=1)

    def is_zero(self, values: AnyArray) -> AnyArray:
        """Which entries are zero."""
        zero: AnyArray = values == 0
        return zero

    def _reduce(self, basis: IntArray, rows: AnyArray) -> IntArray:
        larger: IntArray = _extended(basis, np.ascontiguousarray(rows), self.prime)
        return larger

    def _sine(self, steps: int) -> int:
        sign, entries = sine_of_step(steps)
        return sign * self._sines[SINES.index(entries)] % self.prime


@cache
def _sines(prime: int) -> tuple[int, ...]:
    """Remainders of sin(15 degrees * k) for k = 0..6."""
    r2, r3 = _square_root(2, prime), _square_root(3, prime)
    quarter = pow(4, -1, prime)
    return tuple((a + b * r2 + c * r3 + d * r2 * r3) * quarter % prime for a, b, c, d in SINES)


def _square_root(square: int, prime: int) -> int:
    """Return a square root modulo a prime, by Tonelli and Shanks."""
    odd, twos = prime - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    non_residue = next(z for z in range(2, prime) if pow(z, (prime - 1) // 2, prime) == prime - 1)
    c, t, root = (
        pow(non_residue, odd, prime),
        pow(square, odd, prime),
        pow(square, odd // 2 + 1, prime),
    )
    while t != 1:
        order, power = 0, t
        while power != 1:
            power, order = power * power % prime, order + 1
        factor = pow(c, 1 << (twos - order - 1), prime)
        twos, c = order, factor * factor % prime
        t, root = t * c % prime, root * factor % prime
    return root


@jit
def _inverse(a: int, p: int) -> int:
    """1 / a modulo p, by Euclid."""
    r0, r1, x0, x1 = p, a, 0, 1
    while r1 != 0:
        k = r0 // r1
        r0, r1 = r1, r0 - k * r1
        x0, x1 = x1, x0 - k * x1
    return x0 % p


@jit
def _product(A: IntArray, B: IntArray, p: int) -> IntArray:
    C = np.zeros((A.shape[0], B.shape[1]), dtype=np.int64)
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            if A[i, k] != 0:
                for j in range(B.shape[1]):
                    C[i, j] = (C[i, j] + A[i, k] * B[k, j]) % p
    return C


@jit
def _extended(basis: IntArray, rows: IntArray, p: int) -> IntArray:
    """Echelon rows: each begins with a 1, where all rows after it are zero."""
    width = rows.shape[1]
    larger = np.zeros((width, width), dtype=np.int64)
    leads = np.zeros(width, dtype=np.int64)
    count = basis.shape[0]
    for b in range(count):
        copy_vector(basis[b], larger[b])
        while larger[b, leads[b]] == 0:
            leads[b] += 1
    row = np.zeros(width, dtype=np.int64)
    for r in range(rows.shape[0]):
        copy_vector(rows[r], row)
        for b in range(count):
            factor = p - row[leads[b]]
            if factor != p:
                for j in range(width):
                    row[j] = (row[j] + factor * larger[b, j]) % p
        lead = 0
        while lead < width and row[lead] == 0:
            lead += 1
        if lead < width:
            inverse = _inverse(row[lead], p)
            for j in range(width):
                larger[count, j] = row[j] * inverse % p
            leads[count] = lead
            count += 1
    found: IntArray = larger[:count].copy()
    return found


@jit
def _reduced_echelon(N: IntArray, p: int) -> tuple[IntArray, IntArray]:
    """Reduced echelon form without its zero rows, and the columns of its leading ones."""
    E = N.copy()
    rows, width = E.shape
    pivots = np.zeros(min(rows, width), dtype=np.int64)
    rank = 0
    for column in range(width):
        found = rank
        while found < rows and E[found, column] == 0:
            found += 1
        if found == rows:
            continue
        inverse = _inverse(E[found, column], p)
        for j in range(width):
            E[found, j], E[rank, j] = E[rank, j], E[found, j] * inverse % p
        for r in range(rows):
            factor = p - E[r, column]
            if r != rank and factor != p:
                for j in range(width):
                    E[r, j] = (E[r, j] + factor * E[rank, j]) % p
        pivots[rank] = column
        rank += 1
        if rank == rows:
            break
    return E[:rank].copy(), pivots[:rank].copy()
