"""Rows for theta_e that a plan is going to give, as a function of x, and their derivatives.

Row t is W_e at one sample of the desired motion. What the identifier gets are integrals over
windows; a mean over neighbouring samples is one of these, divided by the length of its window
(W_e theta = tau, integrated; friction left aside). For windows of 0.1 s of a plan of 3 s either
gives the condition number of the real rows to a few percent; means matter where windows are long
beside the motion, which may average out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tip_regressor import tip_pullback, tip_regressor
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import basis_derivative


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Means over groups of samples of the curve with k = k_center + k_range x, at equal steps."""

    model: RobotModel
    horizon: Horizon
    until: float  # [s] since the start of the curve: when the next plan takes over
    samples: int = 128
    samples_per_row: int = 1  # 1 is the published form; more stand for windows

    def __post_init__(self) -> None:
        if not 0.0 < self.until <= self.horizon.curve.duration:
            raise BoundError(
                f'rows are predicted until {self.until} s; it has to be above 0 and at most the '
                f'duration of the curve, {self.horizon.curve.duration} s'
            )
        if self.samples_per_row < 1 or self.samples % self.samples_per_row or self.samples < 1:
            raise BoundError(
                f'{self.samples} samples are not groups of {self.samples_per_row}; the first has '
                'to be a multiple of the second'
            )

    @cached_property
    def _times(self) -> Array:
        return np.linspace(0.0, self.until, self.samples)

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

    def _states(self, x: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations at every sample."""
        k = self.horizon.k_center + self.horizon.k_range * np.asarray(x)
        curve, t = self.horizon.curve, self._times
        return curve.position(t, k), curve.velocity(t, k), curve.acceleration(t, k)

    def rows(self, x: npt.ArrayLike) -> Array:
        """Rows of all joints of each group, (N / samples_per_row, n, 10)."""
        W_e = tip_regressor(self.model, *self._states(x))
        groups = W_e.reshape(-1, self.samples_per_row, *W_e.shape[1:])
        mean: Array = groups.mean(axis=1)
        return mean

    def pullback(self, x: npt.ArrayLike, weights: Array) -> Array:
        """Derivative of sum(weights * rows) in x; weights as rows, (n,)."""
        share = np.repeat(weights, self.samples_per_row, axis=0) / self.samples_per_row
        slopes = tip_pullback(self.model, *self._states(x), share)
        in_k: Array = (slopes * self._slopes).sum(axis=(0, 1))
        return in_k * self.horizon.k_range
