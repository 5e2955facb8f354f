"""TrueLoad: what the last joint of a recorded arm moved in truth, which a simulator knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.estimate_series import EstimateSeries


@dataclass(frozen=True, eq=False)
class TrueLoad:
    """theta_e from one time on to the next."""

    time: Array  # (C,) [s], the first is -inf
    theta: Array  # (C, 10)

    @classmethod
    def always(cls, theta: Array) -> TrueLoad:
        """Return what is the same from the beginning to the end."""
        return cls(np.array([-np.inf]), theta[None])

    @classmethod
    def changing(cls, at: Sequence[float], empty: Array, holding: Array) -> TrueLoad:
        """Return a hand that is empty at first, and holds something after every other change."""
        theta = [holding if i % 2 else empty for i in range(len(at) + 1)]
        return cls(np.array([-np.inf, *at]), np.array(theta))

    def is_within(self, series: EstimateSeries) -> AnyArray:
        """Whether bounds had what was true, (M, 10), also where it became so when they ended."""
        begin, end = series.time[:, None], np.append(series.time[1:], np.inf)[:, None]
        until = np.append(self.time[1:], np.inf)
        counts = (self.time <= end) & (begin < until)  # (M, C)
        lower, upper = series.lower[:, None], series.upper[:, None]
        inside = (lower <= self.theta) & (self.theta <= upper)  # (M, C, 10)
        return np.asarray((inside | ~counts[..., None]).all(axis=1))
