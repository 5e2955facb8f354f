"""Finite Fourier series that start and end at rest, with all derivatives.

    q(t) = q_0 + sum_l a_l / (w l) sin(w l t) - b_l / (w l) (cos(w l t) - 1),  w = 2 pi / duration

so q_0 is the start. With sum a_l = 0 and sum l b_l = 0 velocity and acceleration are 0 there, and
one period later again: the coefficients left are coordinates of that null space.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError

LIMITING_POINTS = 40  # per harmonic: the limits are used up to 1 - cos(pi / 40) = 0.3 %


@dataclass(frozen=True)
class FourierBasis:
    """b(t) of one period of a series with `order` harmonics."""

    duration: float  # [s], one period
    order: int

    def __post_init__(self) -> None:
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise BoundError(f'duration is {self.duration} s, it has to be more than 0')
        if self.order < 2:
            raise BoundError(
                f'{self.order} harmonics can not start and end at rest; 2 or more are needed'
            )

    @property
    def count(self) -> int:
        """Coefficients per joint: the start, and what is left of a and b."""
        return 2 * self.order - 1

    def rows(self, t: Array, derivative: int) -> Array:
        """Return derivatives of b at the times t, (N,) -> (N, count)."""
        rate = 2.0 * np.pi / self.duration * np.arange(1, self.order + 1)  # (L,)
        phase = np.asarray(t, dtype=float)[:, None] * rate
        quarter = derivative * np.pi / 2.0  # a derivative turns sin and cos by a quarter
        size = rate ** (derivative - 1)
        of_a, of_b = np.sin(phase + quarter) * size, -np.cos(phase + quarter) * size
        if derivative == 0:
            of_b += 1.0 / rate
        start = np.full((len(phase), 1), 1.0 if derivative == 0 else 0.0)
        return np.hstack([start, np.hstack([of_a, of_b]) @ self._resting])

    def limiting_rows(self, derivative: int) -> tuple[Array, float]:
        """Rows at K equidistant times, and cos(pi L / K).

        A trigonometric polynomial of degree L exceeds its largest value at K > 2 L equidistant
        points of a period by a factor of at most 1 / cos(pi L / K) (Ehlich and Zeller). The
        share is below that by more than the rounding of the rows.
        """
        points = LIMITING_POINTS * self.order
        t = np.arange(points, dtype=np.float64) * (self.duration / points)
        return self.rows(t, derivative), float(np.cos(np.pi / LIMITING_POINTS)) * (1.0 - 1e-12)

    @cached_property
    def _resting(self) -> Array:
        """Orthonormal columns: the (a, b) with velocity and acceleration 0 at the start."""
        harmonics, zeros = np.arange(1.0, self.order + 1.0), np.zeros(self.order)
        conditions = np.stack(
            [np.concatenate([np.ones(self.order), zeros]), np.concatenate([zeros, harmonics])]
        )
        resting: Array = scipy.linalg.null_space(conditions)
        return resting
