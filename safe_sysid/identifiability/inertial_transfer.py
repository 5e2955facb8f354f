"""How ten inertial parameters pair with motions, turn with a joint and move between frames.

In Pinocchio's order and with motions as (linear, angular). The tables hold whole numbers, so that
the same lines run on floats and on remainders; `arithmetic` is `FloatingSpans` or `ResidueField`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np

from safe_sysid.arrays import AnyArray, IntArray
from safe_sysid.identifiability.exact_geometry import (
    ExactAngle,
    ExactPlacement,
    Turn,
    elementary,
)

# Rows and columns of the entries xx, xy, yy, xz, yz, zz of a symmetric matrix.
ROWS, COLUMNS = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])


class Arithmetic(Protocol):
    """Numbers, and subspaces of them as rows of a basis."""

    length: Fraction

    def number(self, value: Fraction) -> float:
        """Return a fraction."""

    def cosine_sine(self, angle: ExactAngle) -> tuple[float, float]:
        """Cosine and sine of an angle."""

    def array(self, rows: object) -> AnyArray:
        """Whole numbers."""

    def reduced(self, values: AnyArray) -> AnyArray:
        """Values after a sum or a product of two."""

    def product(self, A: AnyArray, B: AnyArray) -> AnyArray:
        """Matrix product."""

    def span(self, rows: AnyArray) -> AnyArray:
        """Basis of rows that are known to be independent."""

    def extended(self, basis: AnyArray, rows: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Basis with what the rows add to it, and what they add."""

    def dependence(self, N: AnyArray) -> tuple[IntArray, AnyArray]:
        """First independent columns S, and W with the other columns = N[:, S] W."""

    def is_zero(self, values: AnyArray) -> AnyArray:
        """Which entries are zero."""


def _inertia_matrices() -> IntArray:
    """(10, 6, 6): spatial inertia of each parameter, I(phi) = sum of phi_k times these."""
    matrices = np.zeros((10, 6, 6), dtype=np.int64)
    matrices[0, :3, :3] = np.eye(3)
    for k in range(3):
        S = np.cross(np.eye(3, dtype=np.int64)[k], np.eye(3, dtype=np.int64)).T
        matrices[1 + k, :3, 3:], matrices[1 + k, 3:, :3] = -S, S
    for k, (a, b) in enumerate(zip(ROWS, COLUMNS, strict=True)):
        matrices[4 + k, 3 + a, 3 + b] = matrices[4 + k, 3 + b, 3 + a] = 1
    return matrices


def _motion_crosses() -> IntArray:
    """(6, 6, 6): matrix of the cross product with each unit motion."""
    crosses = np.zeros((6, 6, 6), dtype=np.int64)
    for k in range(3):
        S = np.cross(np.eye(3, dtype=np.int64)[k], np.eye(3, dtype=np.int64)).T
        crosses[k, :3, 3:] = S
        crosses[3 + k, :3, :3] = crosses[3 + k, 3:, 3:] = S
    return crosses


def _parameters_of(matrix: IntArray) -> IntArray:
    """Ten parameters of a spatial inertia matrix."""
    S = matrix[3:, :3]
    first = [S[2, 1], S[0, 2], S[1, 0]]
    return np.array([matrix[0, 0], *first, *matrix[3:, 3:][ROWS, COLUMNS]])


def _turning() -> IntArray:
    """(6, 10, 10): change of the parameters per unit of each motion, A(phi) pi."""
    inertias = _inertia_matrices()
    return np.array(
        [
            np.stack([_parameters_of(x.T @ inertia + inertia @ x) for inertia in inertias], 1)
            for x in _motion_crosses()
        ]
    )


INERTIAS = _inertia_matrices()
CROSSES = _motion_crosses()
TURNING = _turning()
PAIRING = INERTIAS.reshape(10, 36).T  # (36, 10): a' I(phi) b = (a b') . PAIRING . phi
# I moves by t x h: entry ab of the inertia gets t_c h_k times this, (6, 3, 3)
SHIFTING = np.array(
    [
        [
            [2 * (a == b) * (k == c) - (a == c) * (b == k) - (b == c) * (a == k) for c in range(3)]
            for k in range(3)
        ]
        for a, b in zip(ROWS, COLUMNS, strict=True)
    ],
    dtype=np.int64,
)


def cross_matrix(arithmetic: Arithmetic, phi: AnyArray) -> AnyArray:
    """(6, 6) matrix of phi x, for a motion phi."""
    return arithmetic.reduced(np.tensordot(phi, CROSSES, 1))


def turning_matrix(arithmetic: Arithmetic, phi: AnyArray) -> AnyArray:
    """(10, 10) A(phi): how the parameters change in a frame that moves with phi."""
    return arithmetic.reduced(np.tensordot(phi, TURNING, 1))


def pairings(arithmetic: Arithmetic, V: AnyArray, Phi: AnyArray) -> AnyArray:
    """Rows a' I(.) b for every a of V and b of Phi, (d, 6), (n, 6) -> (n d, 10)."""
    outer = arithmetic.reduced(Phi[:, None, None, :] * V[None, :, :, None])
    return arithmetic.reduced(outer.reshape(-1, 36) @ PAIRING)


def rotation_matrix(arithmetic: Arithmetic, turns: tuple[Turn, ...]) -> AnyArray:
    """(3, 3) product of turns."""
    R = arithmetic.array(np.eye(3, dtype=np.int64))
    for turn in turns:
        about = elementary(turn.axis, *arithmetic.cosine_sine(turn.angle))
        R = arithmetic.product(R, arithmetic.reduced(about))
    return R


def pose(arithmetic: Arithmetic, placement: ExactPlacement) -> tuple[AnyArray, AnyArray]:
    """Rotation and position of a frame, in units of the arithmetic."""
    position = [arithmetic.number(x / arithmetic.length) for x in placement.position]
    return rotation_matrix(arithmetic, placement.turns), np.array(position)


def motion_to_child(arithmetic: Arithmetic, R: AnyArray, t: AnyArray) -> AnyArray:
    """(6, 6) X: motions of a frame in another one that has the pose (R, t) in it."""
    S = np.array([[0 * t[0], -t[2], t[1]], [t[2], 0 * t[0], -t[0]], [-t[1], t[0], 0 * t[0]]])
    X = np.zeros((6, 6), dtype=R.dtype)
    X[:3, :3] = X[3:, 3:] = R.T
    X[:3, 3:] = arithmetic.reduced(-arithmetic.product(R.T, arithmetic.reduced(S)))
    return X


def parameters_to_parent(arithmetic: Arithmetic, R: AnyArray, t: AnyArray) -> AnyArray:
    """(10, 10) B: parameters of a body in a frame where its own frame has the pose (R, t)."""
    reduced, product = arithmetic.reduced, arithmetic.product
    B = np.zeros((10, 10), dtype=R.dtype)
    B[0, 0] = 1
    B[1:4, 0] = t
    B[1:4, 1:4] = R
    squares = reduced(t[:, None] * t[None, :])
    B[4:, 0] = reduced(np.where(ROWS == COLUMNS, np.trace(squares), 0) - squares[ROWS, COLUMNS])
    B[4:, 1:4] = product(reduced(SHIFTING @ t), R)
    straight = reduced(R[ROWS][:, ROWS] * R[COLUMNS][:, COLUMNS])
    crossed = reduced(R[ROWS][:, COLUMNS] * R[COLUMNS][:, ROWS])
    B[4:, 4:] = reduced(straight + np.where(ROWS == COLUMNS, 0, crossed))
    return B
