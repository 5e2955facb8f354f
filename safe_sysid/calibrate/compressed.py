"""Compressed: a least-squares problem of any length as one triangle, with nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array


@dataclass(frozen=True, eq=False)
class Compressed:
    """|Y x - tau|^2 = |R x - z|^2 + rest for every x."""

    R: Array  # (k, p), k at most p
    z: Array  # (k,)
    rest: float  # sum of squares that no x explains
    count: int  # rows that went in

    def cost(self, x: Array) -> float:
        """Sum of squared residuals at x."""
        residual = self.R @ x - self.z
        return float(residual @ residual) + self.rest

    def scaled(self, factor: float) -> Compressed:
        """Return the same rows, all times a factor."""
        return Compressed(factor * self.R, factor * self.z, factor**2 * self.rest, self.count)


def compress(Y: Array, tau: Array) -> Compressed:
    """Triangle of rows Y (N, p) with right-hand sides tau (N,)."""
    p = Y.shape[1]
    (triangle,) = scipy.linalg.qr(
        np.column_stack([Y, tau]), mode='r', overwrite_a=True, check_finite=False
    )
    triangle = triangle[: p + 1]
    rest = float(triangle[p, p] ** 2) if len(triangle) > p else 0.0
    return Compressed(triangle[:p, :p], triangle[:p, p], rest, len(Y))


def stacked(pieces: Sequence[Compressed]) -> Compressed:
    """Triangle of several problems together."""
    whole = compress(
        np.concatenate([piece.R for piece in pieces]),
        np.concatenate([piece.z for piece in pieces]),
    )
    return Compressed(
        whole.R,
        whole.z,
        whole.rest + sum(piece.rest for piece in pieces),
        sum(piece.count for piece in pieces),
    )
