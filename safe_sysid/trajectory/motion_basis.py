"""Motions that are linear in their coefficients, x_i per joint: q_i(t) = b(t) . x_i."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError


class MotionBasis(Protocol):
    """The functions b(t) that all joints share, on 0 <= t <= duration.

    The first coefficient is where the joint starts: b(t) . (1, 0, ..., 0) = 1 for all t.
    """

    @property
    def duration(self) -> float:
        """Length of the motion [s]."""

    @property
    def count(self) -> int:
        """Coefficients per joint."""

    def rows(self, t: Array, derivative: int) -> Array:
        """Return derivatives of b at the times t, (N,) -> (N, count)."""

    def limiting_rows(self, derivative: int) -> tuple[Array, float]:
        """Rows A and a share s <= 1: abs(A x - c) <= s r implies abs(b(t) . x - c) <= r for all t.

        For derivatives other than 0 the constant c is 0.
        """


@dataclass(frozen=True, eq=False)
class Motion:
    """One motion of an arm: at rest, with no acceleration, at the start and at the end."""

    basis: MotionBasis
    x: Array  # (n, count)

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.x.shape[1] != self.basis.count:
            raise BoundError(
                f'coefficients have shape {self.x.shape}, the basis takes {self.basis.count} '
                'per joint'
            )
        if not np.isfinite(self.x).all():
            raise BoundError('coefficients of a motion have to be finite')

    def states(self, t: Array) -> Array:
        """q, qd, qdd at the times t, (3, N, n)."""
        return np.stack([self.basis.rows(t, d) @ self.x.T for d in range(3)])

    def derivative(self, t: Array, order: int) -> Array:
        """Return derivative of q of any order at the times t, (N, n)."""
        rows: Array = self.basis.rows(t, order) @ self.x.T
        return rows

    def bound(self, order: int) -> Array:
        """Largest abs of a derivative of order 1 or more over all times, not below it, (n,)."""
        A, share = self.basis.limiting_rows(order)
        # a hundred roundings of sums of `count` terms
        room = 1.0 + 1e-12
        return np.asarray(np.max(np.abs(A @ self.x.T), axis=0) / share * room)
