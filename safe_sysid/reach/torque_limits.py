"""Margins of the reachable torque to the torque limits, and their derivatives, compiled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.lanes import LANES, lane_columns, lane_pool

UPPER, LOWER = 1, -1  # which limit a row is about


def every_row(intervals: int, limit: Array) -> IntArray:
    """Rows (time interval, joint, side) of all torque limits there are, (R, 3)."""
    limited = np.flatnonzero(limit != np.inf)  # NaN is a limit that nothing satisfies
    return _rows_of(intervals, tuple(limited.tolist()))


@lru_cache(maxsize=8)  # of arms: every certificate asks
def _rows_of(intervals: int, joints: tuple[int, ...]) -> IntArray:
    which = np.array(joints, dtype=np.int64)
    grid = np.meshgrid(np.arange(intervals), which, [UPPER, LOWER], indexing='ij')
    return np.stack([axis.ravel() for axis in grid], axis=1)


def undecided_torque_rows(torque: Interval, limit: Array) -> IntArray:
    """Return the rows in which the torque of some k may be beyond its limit; torque is (T, n)."""
    rows = every_row(torque.shape[0], limit)
    t, joint, side = rows.T
    reached = np.where(side == UPPER, torque.upper[t, joint], -torque.lower[t, joint])
    undecided: IntArray = rows[~(reached <= limit[joint])]
    return undecided


def torque_margins(
    rows: IntArray,
    reach: tuple[Array, Array],
    limit: Array,
    monomials: Array,
    out: Array | None = None,
) -> Array:
    """Limit minus torque on the side of each row, in `out` if given.

    `reach` holds polynomials with remainder (T, n, M + 1) and what comes on top (T, n);
    `monomials` (M,) their values at x.
    """
    if out is None:
        out = np.empty(len(rows))
    _torque_margins(rows, reach[0], reach[1], limit, monomials, out)
    return out


def torque_slopes(rows: IntArray, models: Array, gradients: Array) -> Array:
    """Return the derivatives of margins in x, (R, d), with those of the monomials, (M, d)."""
    out = np.empty((len(rows), gradients.shape[1]))
    _torque_slopes(rows, models, lane_columns(gradients), out)
    return out


@jit
def _torque_margins(
    rows: IntArray, models: Array, radius: Array, limit: Array, monomials: Array, out: Array
) -> None:
    for i in range(len(rows)):
        t, j, side = rows[i, 0], rows[i, 1], rows[i, 2]
        out[i] = _margin(models[t, j], radius[t, j], limit[j], side, monomials)


@jit
def _torque_slopes(rows: IntArray, models: Array, gradients: Array, out: Array) -> None:
    """Gradients are `lane_columns`; sums of even and odd terms keep the adders busy."""
    blocks, M, d = len(gradients), gradients.shape[1], out.shape[1]
    slopes = np.empty((1, blocks, LANES))
    column, slope = lane_pool(gradients), lane_pool(slopes)
    for i in range(len(rows)):
        t, j, side = rows[i, 0], rows[i, 1], rows[i, 2]
        for b in range(blocks):
            even, odd = models[t, j, 0] * column[b, 0], 0.0
            for m in range(1, M - 1, 2):
                odd += models[t, j, m] * column[b, m]
                even += models[t, j, m + 1] * column[b, m + 1]
            if M % 2 == 0:
                odd += models[t, j, M - 1] * column[b, M - 1]
            slope[0, b] = even + odd
        for v in range(d):
            out[i, v] = -side * slopes[0, v // LANES, v % LANES]


@jit
def _margin(model: Array, radius: float, limit: float, side: int, monomials: Array) -> float:
    """Return rounded down; the sum of M products is off by less than M EPS of its terms."""
    M = len(monomials)
    total = size = 0.0
    for m in range(M):
        term = model[m] * monomials[m]
        total += term
        size += abs(term)
    spread = model[M] + radius
    rounding = (M + 4) * EPS * size + 4.0 * EPS * (spread + limit)
    return limit - side * total - spread - rounding  # type: ignore[no-any-return]
