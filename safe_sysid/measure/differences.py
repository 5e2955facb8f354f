"""Velocities of positions: differences that are right to second order between uneven stamps.

With h samples before and k after, a plain difference (q_k - q_h) / (h + k) is off by half the
acceleration times k - h, which one lost sample makes larger than all else. The slope of the
parabola through all three is off by h k / 6 times the jerk alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray

ACROSS = 1.5  # times the usual time across; more is a gap
UNEVEN = 3.0  # times as long after as before, or before as after: at most, where most are


@dataclass(frozen=True, eq=False)
class Stencil:
    """Samples with one `stride` samples before and one after, neither across a gap."""

    at: IntArray  # (M,) samples in the middle
    stride: int
    before: Array  # (M, 1) [s]
    after: Array  # (M, 1) [s]

    @staticmethod
    def of(seconds: Array, stride: int) -> Stencil:
        """Of stamps that rise [s]; empty where there are too few."""
        after = seconds[2 * stride :] - seconds[stride:-stride]
        before = seconds[stride:-stride] - seconds[: -2 * stride]
        if not len(after):
            return Stencil(np.zeros(0, dtype=np.int64), stride, before[:, None], after[:, None])
        across = before + after
        near = across < ACROSS * np.median(across)
        even = near & (np.maximum(before, after) <= UNEVEN * np.minimum(before, after))
        most = 2 * np.count_nonzero(even) >= np.count_nonzero(near)  # else stamps come in bursts
        kept = np.flatnonzero(even if most else near)
        return Stencil(kept + stride, stride, before[kept, None], after[kept, None])

    def slopes(self, values: Array) -> Array:
        """First derivative (M, n) of the parabola through three samples of (N, n) values."""
        before, after = self._divided(values)
        slope: Array = (self.after * before + self.before * after) / (self.before + self.after)
        return slope

    def bends(self, values: Array) -> Array:
        """Second derivative (M, n) of that parabola."""
        before, after = self._divided(values)
        bend: Array = 2.0 * (after - before) / (self.before + self.after)
        return bend

    @property
    def largest_product(self) -> float:
        """Of the times before and after [s^2]: six times what the jerk moves a slope by."""
        return float((self.before * self.after).max())

    @property
    def gain(self) -> float:
        """Error of a slope over that of the values [1/s], at most."""
        short, long = np.minimum(self.before, self.after), np.maximum(self.before, self.after)
        return float((2.0 * long / (short * (short + long))).max())

    def _divided(self, values: Array) -> tuple[Array, Array]:
        """Slopes of the straight lines to the samples before and after."""
        middle = values[self.at]
        before = (middle - values[self.at - self.stride]) / self.before
        after = (values[self.at + self.stride] - middle) / self.after
        return before, after
