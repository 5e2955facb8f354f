"""EstimateSeries: what was known of theta_e, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array

INSTANT = 1e-6  # [s] within which times are the same


@dataclass(frozen=True, eq=False)
class EstimateSeries:
    """What was known of theta_e whenever it changed, the first one included."""

    time: Array  # (M,) [s]
    nominal: Array  # (M, 10)
    lower: Array  # (M, 10)
    upper: Array  # (M, 10)

    @property
    def half_width(self) -> Array:
        """Of [theta_e], (M, 10)."""
        return np.asarray(0.5 * (self.upper - self.lower))

    def during(self, begin: float, end: float) -> EstimateSeries:
        """Return what was known from one time [s] on, and became known before another."""
        first = max(int(np.searchsorted(self.time, begin + INSTANT)) - 1, 0)
        last = max(int(np.searchsorted(self.time, end - INSTANT)), first + 1)
        rows = slice(first, last)
        return EstimateSeries(
            self.time[rows], self.nominal[rows], self.lower[rows], self.upper[rows]
        )
