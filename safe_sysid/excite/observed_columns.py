"""Which columns of the torque regressor a motion is judged by; its condition number depends on it.

The choice: all entries of theta that are asked for, at random states inside the limits of the
arm, through QR with pivoting of the columns as they are, in SI units. Columns that the pivots do
not reach depend on the others and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.identifiability.base_parameters import (
    BaseParameters,
    base_parameters_in_order,
)
from safe_sysid.model.dynamics.torque_rows import RowLayout, torque_rows_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import JointLimits

STATES = 400
SEED = 20241  # of the states, so that the choice is the same every time
ENDLESS = np.pi  # [rad] range for joints without position limits, to both sides
FASTEST = 10.0  # [rad/s, rad/s^2] range of random rates where there is no limit


@dataclass(frozen=True, eq=False)
class ObservedColumns:
    """The chosen entries of theta, and where they are in the rows of each joint."""

    entries: IntArray  # (p,) of theta
    base: BaseParameters  # of the candidates; what each chosen column stands for
    candidates: IntArray  # entries of theta that were asked for
    layout: RowLayout
    parts: tuple[IntArray, ...]  # per joint: which of the p columns its rows have

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.entries)

    @property
    def width(self) -> int:
        """Columns of the widest part."""
        return max(len(part) for part in self.parts)


def random_states(limits: JointLimits, rng: np.random.Generator, count: int) -> Array:
    """q, qd, qdd inside the limits, (3, count, n)."""
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -ENDLESS)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, ENDLESS)
    rates = [np.where(np.isfinite(x), x, FASTEST) for x in (limits.velocity, limits.acceleration)]
    shape = (count, len(lower))
    return np.stack(
        [rng.uniform(lower, upper, shape), *(rng.uniform(-x, x, shape) for x in rates)]
    )


def observed_columns(
    model: RobotModel, friction: tuple[str, ...], smooth: float
) -> ObservedColumns:
    """Return base columns of all bodies and of some kinds of friction (Fc, Fv, Ia, beta)."""
    kinds = [np.r_[model.layout.joint_entries(kind)] for kind in friction]
    candidates = np.concatenate([np.arange(10 * model.n), *kinds]).astype(np.int64)
    return _chosen(model, candidates, smooth)


def payload_columns(model: RobotModel, smooth: float) -> ObservedColumns:
    """Columns of the body at the tip alone; everything else counts as known."""
    return _chosen(model, np.r_[model.layout.end_effector].astype(np.int64), smooth)


def all_columns(n: int, smooth: float) -> RowLayout:
    """Every entry of theta in its own column."""
    return RowLayout(np.tile(np.arange(14 * n), (n, 1)), smooth)


def _chosen(model: RobotModel, candidates: IntArray, smooth: float) -> ObservedColumns:
    states = random_states(model.limits, np.random.default_rng(SEED), STATES)
    rows = np.zeros((model.n, STATES, model.layout.size))
    torque_rows_into(model.tree, all_columns(model.n, smooth), states, rows)
    Y = rows.reshape(-1, model.layout.size)[:, candidates]
    if not np.any(Y):
        raise BoundError('no torque depends on the parameters that are asked for')
    pivots = scipy.linalg.qr(Y, mode='r', pivoting=True, check_finite=False)[1]
    base = base_parameters_in_order(Y, pivots)
    entries = candidates[base.columns]
    column, parts = _places(model, entries)
    return ObservedColumns(entries, base, candidates, RowLayout(column, smooth), parts)


def _places(model: RobotModel, entries: IntArray) -> tuple[IntArray, tuple[IntArray, ...]]:
    """Column of every entry in the rows of each joint, and which entries those rows have."""
    n = model.n
    column, parts = np.full((n, 14 * n), -1, dtype=np.int64), []
    for k in range(n):
        moved = _moved_by(model, k)
        body = entries // 10
        inertial = (entries < 10 * n) & moved[np.minimum(body, n - 1)]
        own = (entries >= 10 * n) & (entries % n == (10 * n + k) % n)
        part = np.flatnonzero(inertial | own)
        column[k, entries[part]] = np.arange(len(part))
        parts.append(part)
    return column, tuple(parts)


def _moved_by(model: RobotModel, joint: int) -> AnyArray:
    """Whether each body moves with a joint."""
    moved = np.zeros(model.n, dtype=bool)
    for b in range(model.n):
        up = model.tree.parent[b]
        moved[b] = b == joint or (up >= 0 and moved[up])
    return moved
