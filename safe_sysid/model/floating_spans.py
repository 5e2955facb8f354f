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
from safe_sysid.model.base_parameters import RankDecision
from safe_sysid.model.exact_geometry import ExactAngle, cosine_sine

TOLERANCE = 1e-7


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
        if not len(rows):
            return basis, rows
        rest = _without(basis, rows)
        Q, R, _ = scipy.linalg.qr(rest.T, mode='economic', pivoting=True, check_finite=False)
        sizes = np.abs(np.diagonal(R))
        rank = self._rank(sizes)
        self._remember(sizes, rank)
        added = _without(basis, Q[:, :rank].T)
        added /= np.linalg.norm(added, axis=1, keepdims=True)
        return np.vstack([basis, added]), added

    def dependence(self, N: Array) -> tuple[IntArray, Array]:
        """First independent columns S, and W with the other columns = N[:, S] W."""
        chosen = self._chosen(N)
        return chosen, _solved(N[:, chosen], np.delete(N, chosen, axis=1))

    def is_zero(self, values: AnyArray) -> AnyArray:
        """Which entries are zero, up to the tolerance."""
        return np.abs(values) <= self.tolerance

    def _rank(self, sizes: Array) -> int:
        return int(np.sum(sizes > self.tolerance))

    def _chosen(self, N: Array) -> IntArray:
        Q = np.zeros((len(N), 0))
        chosen = []
        for j in range(N.shape[1]):
            rest = _without(Q.T, N[None, :, j])
            size = np.linalg.norm(rest)
            taken = bool(size > self.tolerance)
            self._remember(np.array([size]), int(taken))
            if taken:
                Q = np.column_stack([Q, rest[0] / size])
                chosen.append(j)
        return np.array(chosen, dtype=np.int64)

    def _remember(self, sizes: Array, rank: int) -> None:
        if rank:
            self._accepted = min(self._accepted, float(sizes[:rank].min()))
        if rank < len(sizes):
            self._rejected = max(self._rejected, float(sizes[rank:].max()))


class GuidedSpans(FloatingSpans):
    """Floats whose ranks and choices are those that `ResidueField` found on the same tree."""

    def __init__(
        self, length: Fraction, ranks: Sequence[int], choices: Sequence[IntArray]
    ) -> None:
        super().__init__(length)
        self._ranks: Iterator[int] = iter(ranks)
        self._choices: Iterator[IntArray] = iter(choices)

    def _rank(self, _: Array) -> int:
        return next(self._ranks)

    def _chosen(self, N: Array) -> IntArray:
        chosen = next(self._choices)
        rest = N - N[:, chosen] @ _solved(N[:, chosen], N)
        self._remember(np.abs(rest).max(axis=0), 0)
        if len(chosen):
            self._remember(scipy.linalg.svdvals(N[:, chosen])[-1:], 1)
        return chosen


def _solved(A: Array, B: Array) -> Array:
    return np.asarray(np.linalg.lstsq(A, B, rcond=None)[0], dtype=float)


def _without(basis: Array, rows: Array) -> Array:
    """The part of rows outside an orthonormal basis; subtracted twice, which is enough."""
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows
