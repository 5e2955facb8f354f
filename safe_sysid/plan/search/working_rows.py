"""Which of many constraints a solver has to look at: those near, and those it broke when not told.

Thousands of constraints over time are mostly copies of their neighbours, and only a few of them
decide. A solution for some rows that breaks none of the others is one for all.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray


def nearest_rows(values: Array, jacobian: Array, count: int) -> IntArray:
    """Up to `count` rows whose boundary is nearest, to first order; broken ones come first."""
    slope = np.linalg.norm(jacobian, axis=1)
    with np.errstate(divide='ignore', invalid='ignore'):
        distance = np.where(values == 0.0, 0.0, values / slope)
    return np.sort(np.argsort(distance, kind='stable')[:count])


def with_broken_rows(rows: IntArray, values: Array, count: int) -> IntArray:
    """Return these rows and up to `count` others that are negative, the lowest first."""
    others = np.setdiff1d(np.flatnonzero(values < 0.0), rows)
    worst = others[np.argsort(values[others], kind='stable')[:count]]
    return np.union1d(rows, worst)
