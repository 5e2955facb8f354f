"""Joint states under all tracking errors: linear in r and in e, which are in ellipsoids.

`error_balls` shows that r is in the ellipsoid with half axes c_j = sqrt(2 V_M / Ia_j), and e in
the one with half axes c_j / K, K = min K_r. So r_j = c_j z_1j and e_j = c_j / K z_2j with
|z_1| <= 1 and |z_2| <= 1 in 2-norm: these z are the error variables of `taylor_kernels`. With
de/dt = r - K_r e,

    qd = qd_d - r + K_r e,   qd_a = qd_d + K_r e,   qdd_a = qdd_d + K_r r - K_r^2 e

are exactly linear in them, and so errors that act against each other, such as those of qd and
qdd_a, are subtracted. Of cos q = cos(q_d - e) the term sin(q_d) e is kept, with sin(q_d) at the
middle of the range of k; what it is off and e^2 / 2 are in the radius. Sines likewise.

Without such ellipsoids (see `error_set`) there are no linear terms: the errors are in the radius.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.error_balls import ErrorSet
from safe_sysid.reach.joint_reach import (
    COS,
    KINDS,
    QD,
    QD_A,
    QDD_A,
    SIN,
    Horizon,
    JointReach,
    Q,
    joint_reach,
)
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import jit, parallel_jit, prange
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.taylor_kernels import bounds, rounded_up


class _Axes(NamedTuple):
    """Half axes of the ellipsoids, and |e| that is never exceeded; (n,) each."""

    r: Array
    e: Array
    K_r: Array
    position: Array


def with_errors(
    model: RobotModel,
    horizon: Horizon,
    desired: JointReach,
    error: TrackingError,
    errors: ErrorSet,
) -> JointReach:
    """Joint states of the true arm from those of `desired`, which has no tracking error.

    Rows have 2 n coefficients more, those of z_1 and z_2, where there are ellipsoids.
    """
    if not np.all(np.isfinite(errors.half_axes)):
        return joint_reach(model, horizon, error)
    axes = _Axes(
        errors.half_axes * error.K_r.min(),  # which were rounded up by more than this may lose
        np.array(errors.half_axes),
        np.array(error.K_r),
        np.minimum(error.position, errors.half_axes),
    )
    T, n, M = *desired.q.shape[:2], desired.monomials.count
    rows = np.zeros((len(KINDS), T, n, M + 2 * n + 1))
    rows[..., :M], rows[..., -1] = desired.rows[..., :M], desired.rows[..., -1]
    _add_errors(rows, axes, model.tree.is_prismatic, desired.monomials.kernel)
    rows.setflags(write=False)
    return JointReach(desired.monomials, desired.time, rows)


@parallel_jit
def _add_errors(rows: Array, axes: _Axes, is_prismatic: AnyArray, table: IntArray) -> None:
    kinds, _, n, width = rows.shape
    for t in prange(rows.shape[1]):
        pool = np.empty((kinds, width))
        for j in range(n):
            for kind in range(kinds):
                for i in range(width):
                    pool[kind, i] = rows[kind, t, j, i]
            _add_linear_terms(pool, axes, j, table)
            if not is_prismatic[j]:
                _turn_by_error(pool, axes, j, table)
            for kind in range(kinds):
                for i in range(width):
                    rows[kind, t, j, i] = pool[kind, i]


@jit
def _add_linear_terms(pool: Array, axes: _Axes, j: int, table: IntArray) -> None:
    """Linear terms of q, qd, qd_a and qdd_a of joint j."""
    r = table[3 + table[0]] + j
    e = r + len(axes.r)
    K = axes.K_r[j]
    pool[Q, e] = -axes.e[j]
    pool[QD, r], pool[QD, e] = -axes.r[j], K * axes.e[j]
    pool[QD_A, e] = K * axes.e[j]
    pool[QDD_A, r], pool[QDD_A, e] = K * axes.r[j], -K * K * axes.e[j]
    for kind in (Q, QD, QD_A, QDD_A):
        rounding = 4.0 * EPS * (abs(pool[kind, r]) + abs(pool[kind, e]))
        pool[kind, -1] = rounded_up(pool[kind, -1] + rounding, 4)


@jit
def _turn_by_error(pool: Array, axes: _Axes, j: int, table: IntArray) -> None:
    """Linear terms of cos q and sin q: cos(q_d - e) = cos q_d + sin q_d e to e^2 / 2."""
    e = table[3 + table[0]] + len(axes.r) + j
    cosine, sine = pool[COS, 0], pool[SIN, 0]
    off_cosine = _largest_distance(pool, COS, cosine, table)
    off_sine = _largest_distance(pool, SIN, sine, table)
    largest = axes.position[j]
    for kind, slope, off in ((COS, sine, off_sine), (SIN, -cosine, off_cosine)):
        slack = (off + 0.5 * largest) * largest + 4.0 * EPS * axes.e[j]
        pool[kind, e] = slope * axes.e[j]
        pool[kind, -1] = rounded_up(pool[kind, -1] + slack, 4)


@jit
def _largest_distance(pool: Array, kind: int, value: float, table: IntArray) -> float:
    """How far a row may be from a number."""
    lower, upper = bounds(pool, kind, table)
    return max(upper - value, value - lower) + 4.0 * EPS  # type: ignore[no-any-return]
