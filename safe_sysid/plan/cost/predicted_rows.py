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
from safe_sysid.model.dynamics.tip_regressor import tip_pullback, tip_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.sampled_motion import SampledMotion, refuse_uneven_groups
from safe_sysid.reach.joint_reach import Horizon


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Means over groups of samples of the curve with k = k_center + k_range x, at equal steps."""

    model: RobotModel
    horizon: Horizon
    until: float  # [s] since the start of the curve: when the next plan takes over
    samples: int = 128
    samples_per_row: int = 1  # 1 is the published form; more stand for windows

    def __post_init__(self) -> None:
        refuse_uneven_groups(self.samples, self.samples_per_row)

    @cached_property
    def _motion(self) -> SampledMotion:
        return SampledMotion(self.horizon, self.until, self.samples)

    def rows(self, x: npt.ArrayLike) -> Array:
        """Rows of all joints of each group, (N / samples_per_row, n, 10)."""
        W_e = tip_regressor(self.model, *self._motion.states(x))
        groups = W_e.reshape(-1, self.samples_per_row, *W_e.shape[1:])
        mean: Array = groups.mean(axis=1)
        return mean

    def pullback(self, x: npt.ArrayLike, weights: Array) -> Array:
        """Return derivative of sum(weights * rows) in x; weights as rows, (n,)."""
        share = np.repeat(weights, self.samples_per_row, axis=0) / self.samples_per_row
        slopes = tip_pullback(self.model, *self._motion.states(x), share)
        return self._motion.pullback(slopes)
