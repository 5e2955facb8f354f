"""The desired motion at equal steps, as a function of x, and its derivative."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import basis_derivative


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """The curve with k = k_center + k_range x, from its start until a time."""

    horizon: Horizon
    until: float  # [s] since the start of the curve: when the next plan takes over
    samples: int

    def __post_init__(self) -> None:
        if not 0.0 < self.until <= self.horizon.curve.duration:
            raise BoundError(
                f'rows are predicted until {self.until} s; it has to be above 0 and at most the '
                f'duration of the curve, {self.horizon.curve.duration} s'
            )

    @cached_property
    def _times(self) -> Array:
        return np.linspace(0.0, self.until, self.samples)

    @cached_property
    def _start(self) -> Array:
        """Position, velocity and acceleration of the curve with k = 0, (3, N, n)."""
        curve, t = self.horizon.curve, self._times
        return np.stack(
            [curve.derivative(order, t, np.zeros(curve.q0.size)) for order in range(3)]
        )

    @cached_property
    def _slopes(self) -> Array:
        """Derivatives of position, velocity and acceleration in k, (3, N, 1)."""
        T = self.horizon.curve.duration
        s = self._times / T
        slopes = [
            np.polynomial.polynomial.polyval(s, basis_derivative(order)[2]) / T**order
            for order in range(3)
        ]
        return np.stack(slopes)[:, :, None]

    def states(self, x: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations at every sample, (N, n) each."""
        k = self.horizon.k_center + self.horizon.k_range * np.asarray(x)
        if not np.all(np.isfinite(k)):
            raise BoundError(f'k = {k} is no plan; all of it has to be finite')
        q, qd, qdd = self._start + self._slopes * k
        return q, qd, qdd

    def pullback(self, slopes: Array) -> Array:
        """Pull derivatives in the states back to x, (3, N, n) -> (n,)."""
        in_k: Array = (slopes * self._slopes).sum(axis=(0, 1))
        return in_k * self.horizon.k_range


def refuse_uneven_groups(samples: int, samples_per_row: int) -> None:
    """Refuse samples that are no groups of equal size."""
    if samples_per_row < 1 or samples % samples_per_row or samples < 1:
        raise BoundError(
            f'{samples} samples are not groups of {samples_per_row}; the first has to be a '
            'multiple of the second'
        )
