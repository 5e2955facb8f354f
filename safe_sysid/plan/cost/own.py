"""A user's own cost of plans beside ours: it steers the search, certificates stay the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
import math

import numpy as np
import numpy.typing as npt

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.motion_objective import Along, MotionObjective
from safe_sysid.plan.cost.sampled_motion import SampledMotion
from safe_sysid.plan.cost.terms import Cost, CostValue
from safe_sysid.reach.joint_reach import Horizon

SAMPLES = 32  # of the whole plan, until rest


@dataclass(frozen=True, eq=False)
class WithOwnCost:
    """A cost of ours plus a user's; infinite, or an error, where the latter can't be had."""

    ours: Cost
    own: MotionObjective
    horizon: Horizon
    theta: Array  # (14 n,) nominal

    @cached_property
    def _motion(self) -> SampledMotion:
        return SampledMotion(self.horizon, self.horizon.curve.duration, SAMPLES)

    def value(self, x: npt.ArrayLike) -> float:
        """Cost alone; infinite for plans that exceed limits of the user's."""
        own = self._along(x)
        return self.ours.value(x) + own.value if own.is_kept else math.inf

    def evaluate(self, x: npt.ArrayLike) -> CostValue:
        """Cost and gradient; limits of the user's count as a penalty here."""
        own = self._along(x)
        if not math.isfinite(own.value):
            raise BoundError(f'{self.own.name} can not be evaluated at x = {np.asarray(x)}')
        ours = self.ours.evaluate(x)
        gradient = ours.gradient + self._motion.pullback(own.slopes)
        return CostValue(ours.value + own.value, gradient)

    def _along(self, x: npt.ArrayLike) -> Along:
        times = np.linspace(0.0, self.horizon.curve.duration, SAMPLES)
        return self.own.along(np.stack(self._motion.states(x)), self.theta, times)
