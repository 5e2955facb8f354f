"""B-splines that start and end at rest in the same place, with their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError

DEGREE = 5  # jerk is continuous where the pieces meet
RESTING = DEGREE // 2 + 1  # equal control points at an end: no velocity, no acceleration there


@dataclass(frozen=True)
class SplineBasis:
    """b(t) of a spline of degree 5 over equal pieces; the coefficients are control points."""

    duration: float  # [s]
    order: int  # control points between the resting ones

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise BoundError(f'duration is {self.duration} s, it has to be more than 0')
        if self.order < 1:
            raise BoundError(f'{self.order} control points move nothing; 1 or more are needed')

    @property
    def count(self) -> int:
        """Coefficients per joint: the start, and what is added to it at each control point."""
        return 1 + self.order

    def rows(self, t: Array, derivative: int) -> Array:
        """Return derivatives of b at the times t, (N,) -> (N, count)."""
        knots, points, degree = self._controls(derivative)
        if degree < 0:
            return np.zeros((len(t), self.count))
        inside = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        rows: Array = BSpline(knots, points, degree)(inside)
        return rows

    def limiting_rows(self, derivative: int) -> tuple[Array, float]:
        """Control points of the derivative: a spline stays in the convex hull of its own."""
        return self._controls(derivative)[1], 1.0 - 1e-12

    def _controls(self, derivative: int) -> tuple[Array, Array, int]:
        """Knots, control points (M, count) as rows in x, and degree of a derivative."""
        knots, points, degree = self._knots, self._points, DEGREE
        for _ in range(derivative):
            spans = knots[degree + 1 : -1] - knots[1 : -degree - 1]
            points = degree * np.diff(points, axis=0) / spans[:, None]
            knots, degree = knots[1:-1], degree - 1
            if degree < 0:
                break
        return knots, points, degree

    @cached_property
    def _knots(self) -> Array:
        pieces = self.order + 2 * RESTING - DEGREE
        ends = np.ones(DEGREE)
        return np.concatenate(
            [0.0 * ends, np.linspace(0.0, self.duration, pieces + 1), self.duration * ends]
        )

    @cached_property
    def _points(self) -> Array:
        """Control points of q as rows in x: the start everywhere, the rest in between."""
        between = np.zeros((self.order + 2 * RESTING, self.order))
        between[RESTING:-RESTING] = np.eye(self.order)
        return np.hstack([np.ones((len(between), 1)), between])
