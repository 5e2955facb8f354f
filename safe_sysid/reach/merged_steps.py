"""Joint states over fewer, longer steps of time, for bounds that do not need short ones.

Of rows c + l x + g z +- R of some steps, x and z within their unit sets, the middle of each
coefficient and half its range make one row that contains all of them:

    c' + l' x + g' z +- (max R + what all coefficients are off their middles),   |x|, |z| <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.reach.joint_reach import JointReach
from safe_sysid.sets.interval import EPS, Interval

UP = 1.0 + 1e-12


@dataclass(frozen=True, eq=False)
class MergedSteps:
    """Which steps of time go together: about `count` groups, the last one may be smaller."""

    starts: IntArray  # of the groups
    of: IntArray  # (T,) group of each step

    @staticmethod
    def about(count: int, steps: int) -> MergedSteps:
        """Return groups of equal size for so many steps, never more than about `count`."""
        size = max(1, -(-steps // count))
        of = np.arange(steps) // size
        return MergedSteps(np.arange(0, steps, size), of)

    def largest(self, values: Array) -> Array:
        """Largest value of each group, entry by entry, (T, ...) -> (groups, ...)."""
        return np.asarray(np.maximum.reduceat(values, self.starts, axis=0))

    def reach(self, reach: JointReach) -> JointReach:
        """Joint states of each group."""
        known, remainder = reach.rows[..., :-1], reach.rows[..., -1]
        low = np.minimum.reduceat(known, self.starts, axis=1)
        high = np.maximum.reduceat(known, self.starts, axis=1)
        middle = 0.5 * (low + high)
        off = np.maximum(high - middle, middle - low) + 2.0 * EPS * np.abs(middle)
        more = np.maximum.reduceat(remainder, self.starts, axis=1) + off.sum(axis=-1)
        rows = np.concatenate([middle, (more * UP)[..., None]], axis=-1)
        rows.setflags(write=False)
        ends = np.append(self.starts[1:], len(self.of)) - 1
        time = Interval(reach.time.lower[self.starts], reach.time.upper[ends])
        return JointReach(reach.monomials, time, rows)
