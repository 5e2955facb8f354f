"""Margins of the reachable torque to the torque limits, with derivatives, compiled."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS, Interval

UPPER, LOWER = 1, -1  # which limit a row is about


def every_row(intervals: int, limit: Array) -> IntArray:
    """Rows (time interval, joint, side) of all torque limits there are, (R, 3)."""
    limited = np.flatnonzero(limit != np.inf)  # NaN is a limit that nothing satisfies
    grid = np.meshgrid(np.arange(intervals), limited, [UPPER, LOWER], indexing='ij')
    return np.stack([axis.ravel() for axis in grid], axis=1)


def undecided_torque_rows(torque: Interval, limit: Array) -> IntArray:
    """Return the rows in which the torque of some k may be beyond its limit; torque is (T, n)."""
    rows = every_row(torque.shape[0], limit)
    t, joint, side = rows.T
    reached = np.where(side == UPPER, torque.upper[t, joint], -torque.lower[t, joint])
    undecided: IntArray = rows[~(reached <= limit[joint])]
    return undecided


def torque_margins(
    rows: IntArray, reach: tuple[Array, Array], limit: Array, monomials: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Limit minus torque on the side of each row, and its derivative in x.

    `reach` holds polynomials with remainder (T, n, M + 1) and what comes on top (T, n);
    `monomials` their values (M,) and gradients (M, d) at x.
    """
    values, jacobian = np.empty(len(rows)), np.empty((len(rows), monomials[1].shape[1]))
    _torque_margins(rows, reach[0], reach[1], limit, monomials[0], monomials[1], values, jacobian)
    return values, jacobian


@jit
def _torque_margins(
    rows: IntArray,
    models: Array,
    radius: Array,
    limit: Array,
    monomials: Array,
    gradients: Array,
    values: Array,
    jacobian: Array,
) -> None:
    for i in range(len(rows)):
        t, j, side = rows[i, 0], rows[i, 1], rows[i, 2]
        values[i] = _margin(models[t, j], radius[t, j], limit[j], side, monomials)
        for v in range(gradients.shape[1]):
            slope = 0.0
            for m in range(len(monomials)):
                slope += models[t, j, m] * gradients[m, v]
            jacobian[i, v] = -side * slope


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
