"""Linear algebra in floats, whose ranks are decided by a tolerance or taken from elsewhere.

Same operations as `ResidueField`. Lengths are measured in the size of the arm and vectors of a
basis are orthonormal, so an absolute tolerance means the same everywhere. What counts is the part
of a vector that the basis does not have; it is never scaled up before it is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
import math

import numpy as np
import scipy.linalg

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.identifiability.base_parameters import RankDecision
from safe_sysid.identifiability.exact_geometry import ExactAngle, cosine_sine
from safe_sysid.sets.array_copies import copy_matrix
from safe_sysid.sets.compiled import jit

TOLERANCE = 1e-7
DECIDE = -1


class FloatingSpans:
    """Arithmetic of floats that remembers its two closest decisions."""

    def __init__(self, length: Fraction, tolerance: float = TOLERANCE) -> None:
        self.length = length
        self.tolerance = tolerance
        self._accepted, self._rejected = math.inf, 0.0

    @property
    def decision(self) -> RankDecision:
        """The two decisions that were nearest to the tolerance."""
        return RankDecision(self._accepted, self._rejected, self.tolerance)

    def number(self, value: Fraction) -> float:
        """Nearest float."""
        return float(value)

    def cosine_sine(self, angle: ExactAngle) -> tuple[float, float]:
        """Cosine and sine."""
        return cosine_sine(angle)

    def array(self, rows: object) -> Array:
        """Floats of whole numbers."""
        return np.asarray(rows, dtype=float)

    def reduced(self, values: AnyArray) -> Array:
        """Nothing to do for floats."""
        return values

    def product(self, A: AnyArray, B: AnyArray) -> Array:
        """Matrix product."""
        product: Array = A @ B
        return product

    def span(self, rows: Array) -> Array:
        """Orthonormal basis of rows that are known to be independent."""
        return (
            scipy.linalg.qr(rows.T, mode='economic', check_finite=False)[0].T
            if len(rows)
            else rows
        )

    def extended(self, basis: Array, rows: Array) -> tuple[Array, Array]:
        """Basis with the directions that the rows add, and these directions."""
        if not len(rows) or len(basis) == rows.shape[1]:
            return basis, rows[:0]
        found = _extended(
            np.ascontiguousarray(basis), np.ascontiguousarray(rows), self.tolerance, self._rank()
        )
        larger, accepted, rejected = found
        self._remember(accepted, rejected)
        return larger, larger[len(basis) :]

    def dependence(self, N: Array) -> tuple[IntArray, Array]:
        """First independent columns S, and W with the other columns = N[:, S] W."""
        chosen = self._chosen(N)
        return chosen, _solved(N[:, chosen], np.delete(N, chosen, axis=1))

    def is_zero(self, values: AnyArray) -> AnyArray:
        """Which entries are zero, up to the tolerance."""
        return np.abs(values) <= self.tolerance

    def _rank(self) -> int:
        """How many directions to add; DECIDE leaves it to the tolerance."""
        return DECIDE

    def _chosen(self, N: Array) -> IntArray:
        chosen, accepted, rejected = _first_independent(np.ascontiguousarray(N), self.tolerance)
        self._remember(accepted, rejected)
        return np.asarray(chosen, dtype=np.int64)

    def _remember(self, accepted: float, rejected: float) -> None:
        self._accepted = min(self._accepted, accepted)
        self._rejected = max(self._rejected, rejected)


class GuidedSpans(FloatingSpans):
    """Floats whose ranks and choices are those that `ResidueField` found on the same tree."""

    def __init__(
        self, length: Fraction, ranks: Sequence[int], choices: Sequence[IntArray]
    ) -> None:
        super().__init__(length)
        self._ranks: Iterator[int] = iter(ranks)
        self._choices: Iterator[IntArray] = iter(choices)

    def _rank(self) -> int:
        return next(self._ranks)

    def _chosen(self, N: Array) -> IntArray:
        chosen = next(self._choices)
        rest = N - N[:, chosen] @ _solved(N[:, chosen], N)
        smallest = scipy.linalg.svdvals(N[:, chosen])[-1] if len(chosen) else math.inf
        self._remember(float(smallest), float(np.abs(rest).max(initial=0.0)))
        return chosen


def _solved(A: Array, B: Array) -> Array:
    return np.asarray(np.linalg.lstsq(A, B, rcond=None)[0], dtype=float)


@jit
def _without(basis: Array, count: int, row: Array) -> float:
    """Leave of a row what the first vectors of a basis don't have; its length afterwards."""
    for _ in range(2):  # twice is enough
        for b in range(count):
            along = np.dot(basis[b], row)
            for j in range(len(row)):
                row[j] -= along * basis[b, j]
    return float(np.sqrt(np.dot(row, row)))


@jit
def _extended(
    basis: Array, rows: Array, tolerance: float, rank: int
) -> tuple[Array, float, float]:
    """Basis with the largest of what rows add, and the sizes nearest to the decision."""
    width, count = rows.shape[1], basis.shape[0]
    larger = np.empty((width, width))
    copy_matrix(basis, larger[:count])
    rest = rows.copy()
    accepted, added = np.inf, 0
    while True:
        best, size = 0, 0.0
        for r in range(rest.shape[0]):
            length = _without(larger, count + added, rest[r])
            if length > size:
                best, size = r, length
        full = count + added == width
        enough = size <= tolerance if rank == DECIDE else added == rank
        if full or enough:
            return larger[: count + added].copy(), accepted, 0.0 if full else size
        accepted = min(accepted, size)
        for j in range(width):
            larger[count + added, j] = rest[best, j] / size
        length = _without(larger, count + added, larger[count + added])
        for j in range(width):
            larger[count + added, j] /= length
        added += 1


@jit
def _first_independent(N: Array, tolerance: float) -> tuple[IntArray, float, float]:
    """Columns that add a direction to those before them, and the sizes nearest to the decision."""
    rows, width = N.shape
    basis = np.empty((width, rows))
    chosen = np.empty(width, dtype=np.int64)
    accepted, rejected, count = np.inf, 0.0, 0
    for j in range(width):
        column = N[:, j].copy()
        size = _without(basis, count, column)
        if size > tolerance:
            accepted = min(accepted, size)
            for row in range(rows):
                basis[count, row] = column[row] / size
            chosen[count] = j
            count += 1
        else:
            rejected = max(rejected, size)
    return chosen[:count].copy(), accepted, rejected
