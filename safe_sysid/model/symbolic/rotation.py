"""Rotation: of a joint frame in the frame below, in as few operations as its axis allows."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs

ROUNDING = 1e-15  # what is left of cos(pi / 2) in the matrix of a right angle


class Rotation:
    """R = R0 exp(q [axis]), of a joint that slides R0 alone.

    About a coordinate axis exp(q [axis]) takes 6 operations a vector; so does R0 where it turns
    about one, and none where its angle is a right one. Otherwise R is one matrix.
    """

    def __init__(self, R0: Array, axis: Array, q: SX | None) -> None:
        R0 = without_rounding(R0)
        coordinate = np.flatnonzero(np.abs(axis) == 1.0)
        self._turn: _Turn | None = None
        if q is None:
            self._matrix = constant(R0)
        elif len(coordinate) and np.count_nonzero(R0) <= 5:
            self._matrix = constant(R0)
            self._turn = _Turn(int(coordinate[0]), cs.cos(q), cs.sin(q) * axis[coordinate[0]])
        else:
            along = np.outer(axis, axis)
            even, odd = R0 @ (np.eye(3) - along), R0 @ _skew(axis)
            self._matrix = (
                constant(R0 @ along) + constant(even) * cs.cos(q) + constant(odd) * cs.sin(q)
            )

    def matrix(self) -> SX:
        """Return R, (3, 3)."""
        return self.up(cs.SX.eye(3))

    def up(self, v: SX) -> SX:
        """Return R v of the columns of v."""
        return cs.mtimes(self._matrix, v if self._turn is None else self._turn.of(v))

    def down(self, v: SX) -> SX:
        """Return R' v of the columns of v."""
        v = cs.mtimes(self._matrix.T, v)
        return v if self._turn is None else self._turn.back(v)

    def up_symmetric(self, S: SX) -> SX:
        """Return R S R' of a symmetric S, of which only one triangle is computed."""
        S = S if self._turn is None else self._turn.of_symmetric(S)
        turned = cs.mtimes(self._matrix, cs.mtimes(S, self._matrix.T))
        return cs.triu2symm(cs.triu(turned))


class _Turn:
    """A rotation about coordinate axis k; a and b are the two others, in cyclic order."""

    def __init__(self, k: int, cos: SX, sin: SX) -> None:
        self.k, self.a, self.b, self.cos, self.sin = k, (k + 1) % 3, (k + 2) % 3, cos, sin

    def of(self, v: SX) -> SX:
        turned = cs.SX(v)
        turned[self.a, :] = self.cos * v[self.a, :] - self.sin * v[self.b, :]
        turned[self.b, :] = self.sin * v[self.a, :] + self.cos * v[self.b, :]
        return turned

    def back(self, v: SX) -> SX:
        turned = cs.SX(v)
        turned[self.a, :] = self.cos * v[self.a, :] + self.sin * v[self.b, :]
        turned[self.b, :] = self.cos * v[self.b, :] - self.sin * v[self.a, :]
        return turned

    def of_symmetric(self, S: SX) -> SX:
        k, a, b, cos, sin = self.k, self.a, self.b, self.cos, self.sin
        w = sin * (S[a, a] - S[b, b]) + 2.0 * cos * S[a, b]
        turned = cs.SX(S)
        turned[a, a], turned[b, b] = S[a, a] - sin * w, S[b, b] + sin * w
        turned[a, b] = turned[b, a] = cos * w - S[a, b]
        turned[a, k] = turned[k, a] = cos * S[a, k] - sin * S[b, k]
        turned[b, k] = turned[k, b] = sin * S[a, k] + cos * S[b, k]
        return turned


def without_rounding(R0: Array) -> Array:
    """Return a rotation whose entries 0, 1 and -1 are exact."""
    nearest = np.round(R0)
    return np.where(np.abs(R0 - nearest) < ROUNDING, nearest, R0)


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def constant(values: Array) -> SX:
    """Return numbers as SX."""
    return cs.SX(cs.DM(values))
