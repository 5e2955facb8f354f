"""Joint states under all tracking errors: linear in r and in e, which are in ellipsoids.

`error_balls` shows that r is in the ellipsoid with half axes c_j = sqrt(2 V_M / Ia_j), and e in
the one with half axes c_j / K, K = min K_r; `plan_error` has others for every step of time. So
r = R z_1 and e = L z_2 with |z_1| <= 1 and |z_2| <= 1 in 2-norm: these z are the error variables
of `taylor_kernels`. With de/dt = r - K_r e,

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
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import bounds, norm, rounded_up


class _Axes(NamedTuple):
    """Factors of the ellipsoids in every time step, or one for all, and bounds of |e|."""

    r: Array  # (T or 1, n, n)
    e: Array  # (T or 1, n, n)
    K_r: Array  # (n,)
    position: Array  # (T or 1, n)


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
    axes = _axes(error, errors)
    if axes is None:
        return joint_reach(model, horizon, error)
    T, n, M = *desired.q.shape[:2], desired.monomials.count
    rows, table = np.empty((len(KINDS), T, n, M + 2 * n + 1)), desired.monomials.kernel
    over_steps(_add_errors, T, desired.rows, axes, model.tree.is_prismatic, table, rows)
    rows.setflags(write=False)
    return JointReach(desired.monomials, desired.time, rows)


def _axes(error: TrackingError, errors: ErrorSet) -> _Axes | None:
    """Ellipsoids of one plan or of all; None where there are none."""
    K_r = np.array(error.K_r)
    if error.tube is not None:
        position = np.minimum(error.position, error.tube.largest_e)
        return _Axes(errors.r, errors.e, K_r, position)
    if not np.all(np.isfinite(errors.half_axes)):
        return None
    return _Axes(
        # which were rounded up by more than this may lose
        np.diag(errors.half_axes * error.K_r.min())[None],
        np.diag(errors.half_axes)[None],
        K_r,
        np.minimum(error.position, errors.half_axes)[None],
    )


@jit
def _add_errors(
    steps: Steps,
    desired: Array,
    axes: _Axes,
    is_prismatic: AnyArray,
    table: IntArray,
    rows: Array,
) -> None:
    """Fill rows, which have 2 n columns more than those that are desired."""
    kinds, _, n, width = rows.shape
    M, pool = desired.shape[3] - 1, np.empty((kinds, width))
    for t in range(steps[0], steps[1]):
        step = min(t, len(axes.e) - 1)
        for j in range(n):
            for kind in range(kinds):
                for i in range(M):
                    pool[kind, i] = desired[kind, t, j, i]
                for i in range(M, width - 1):
                    pool[kind, i] = 0.0
                pool[kind, width - 1] = desired[kind, t, j, M]
            _add_linear_terms(pool, axes, step, j, table)
            if not is_prismatic[j]:
                _turn_by_error(pool, axes, step, j, table)
            for kind in range(kinds):
                for i in range(width):
                    rows[kind, t, j, i] = pool[kind, i]


@part_jit
def _add_linear_terms(pool: Array, axes: _Axes, step: int, j: int, table: IntArray) -> None:
    """Linear terms of q, qd, qd_a and qdd_a of joint j."""
    n, M, K = len(axes.K_r), table[3 + table[0]], axes.K_r[j]
    for c in range(n):
        r, e = axes.r[step, j, c], axes.e[step, j, c]
        pool[Q, M + n + c] = -e
        pool[QD, M + c], pool[QD, M + n + c] = -r, K * e
        pool[QD_A, M + n + c] = K * e
        pool[QDD_A, M + c], pool[QDD_A, M + n + c] = K * r, -K * K * e
    for kind in (Q, QD, QD_A, QDD_A):
        rounding = 4.0 * EPS * norm(pool, kind, M, M + 2 * n)
        pool[kind, -1] = rounded_up(pool[kind, -1] + rounding, 2 * n)


@part_jit
def _turn_by_error(pool: Array, axes: _Axes, step: int, j: int, table: IntArray) -> None:
    """Linear terms of cos q and sin q: cos(q_d - e) = cos q_d + sin q_d e to e^2 / 2."""
    n, e = len(axes.K_r), table[3 + table[0]] + len(axes.K_r)
    cosine, sine = pool[COS, 0], pool[SIN, 0]
    off_cosine = _largest_distance(pool, COS, cosine, table)
    off_sine = _largest_distance(pool, SIN, sine, table)
    largest = axes.position[step, j]
    for kind, slope, off in ((COS, sine, off_sine), (SIN, -cosine, off_cosine)):
        for c in range(n):
            pool[kind, e + c] = slope * axes.e[step, j, c]
        slack = (off + 0.5 * largest) * largest + 4.0 * EPS * norm(pool, kind, e, e + n)
        pool[kind, -1] = rounded_up(pool[kind, -1] + slack, n)


@jit
def _largest_distance(pool: Array, kind: int, value: float, table: IntArray) -> float:
    """How far a row may be from a number."""
    lower, upper = bounds(pool, kind, table)
    return max(upper - value, value - lower) + 4.0 * EPS  # type: ignore[no-any-return]
