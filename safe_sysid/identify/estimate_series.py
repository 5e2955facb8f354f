"""EstimateSeries: what was known of theta_e, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array


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
