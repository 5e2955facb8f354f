"""Joint positions, velocities and accelerations over each time step, for every k.

k = k_center + k_range x with x in [-1, 1]^n, the variables of the Taylor models. The desired
motion is affine in k, so its rows have a constant and one linear coefficient. Time and tracking
errors are in the remainder: with e = q_d - q,

    q = q_d - e,  qd = qd_d - de/dt,  qd_a = qd_d + K_r e,  qdd_a = qdd_d + K_r de/dt.

After its last time step a plan is at rest, which is the end of that step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import inline_jit, jit, part_jit
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.lanes import LANES
from safe_sysid.sets.monomials import Monomials, monomials
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import rounded_up
from safe_sysid.sets.taylor_sine import sine_cosine
from safe_sysid.trajectory.bezier import Bezier, unit_time

Ball = tuple[float, float]  # centre, radius

KINDS = ('cos', 'sin', 'q', 'qd', 'qd_a', 'qdd_a', 'qd_d')
COS, SIN, Q, QD, QD_A, QDD_A, QD_D = range(len(KINDS))
WORK = 3  # rows that sine_cosine needs


@dataclass(frozen=True, eq=False)
class Horizon:
    """The plans that sets are made for: curves whose k is in a box, and how finely to look."""

    curve: Bezier
    k_center: Array  # (n,) [rad]
    k_range: Array  # (n,) [rad] half width; 0 everywhere is one single plan
    intervals: int = 128  # time steps
    degree: int = 2  # of the polynomials in k

    def __post_init__(self) -> None:
        for name in ('k_center', 'k_range'):
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != self.curve.q0.shape or not np.all(np.isfinite(value)):
                raise BoundError(
                    f'{name} = {value} has to be {len(self.curve.q0)} finite numbers, one per '
                    'joint of the curve'
                )
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if np.any(self.k_range < 0.0):
            raise BoundError(f'k_range = {self.k_range} has to be at least zero everywhere')
        if self.intervals < 1:
            raise BoundError(f'{self.intervals} time intervals; 1 or more are needed')
        if not np.all(np.diff(_edges(self.curve.duration, self.intervals)) > 0.0):
            raise BoundError(
                f'{self.intervals} time intervals of a curve of {self.curve.duration} s have no '
                'length; use fewer intervals or a longer duration'
            )

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.k_range)

    @property
    def time(self) -> Interval:
        """Time steps, which cover [0, duration] without gaps; (T,) [s] since the start."""
        return _time_steps(float(self.curve.duration), self.intervals)[0]

    @cached_property
    def monomials(self) -> Monomials:
        """Monomials in x; without variables for a single plan."""
        return monomials(self.n if np.any(self.k_range > 0.0) else 0, self.degree)


@dataclass(frozen=True, eq=False)
class JointReach:
    """Taylor models in x of the joint states, for all times of a step and all tracking errors.

    Of a prismatic joint cos and sin are 1 and 0. Between the M coefficients and the remainder may
    be those of error variables, see `error_terms`.
    """

    monomials: Monomials
    time: Interval  # (T,) [s] since the start of the curve
    rows: Array  # (7, T, n, M + 1) in the order of KINDS

    @property
    def error_variables(self) -> int:
        """Number of error variables, 2 n or 0."""
        return int(self.rows.shape[-1]) - self.monomials.count - 1

    @property
    def cos(self) -> Array:
        """Cosines of the true positions, (T, n, M + 1)."""
        return self._of(COS)

    @property
    def sin(self) -> Array:
        """Sines of the true positions."""
        return self._of(SIN)

    @property
    def q(self) -> Array:
        """True positions."""
        return self._of(Q)

    @property
    def qd(self) -> Array:
        """True velocities."""
        return self._of(QD)

    @property
    def qd_a(self) -> Array:
        """Auxiliary velocities qd_d + K_r e."""
        return self._of(QD_A)

    @property
    def qdd_a(self) -> Array:
        """Auxiliary accelerations qdd_d + K_r de/dt."""
        return self._of(QDD_A)

    @property
    def qd_d(self) -> Array:
        """Desired velocities, without tracking error."""
        return self._of(QD_D)

    def _of(self, kind: int) -> Array:
        rows: Array = self.rows[kind]
        return rows


class _Slack(NamedTuple):
    """What tracking errors add to the remainders, (n,) each."""

    q: Array
    qd: Array
    qd_a: Array
    qdd_a: Array


def joint_reach(model: RobotModel, horizon: Horizon, error: TrackingError) -> JointReach:
    """Enclosures of the joint states of every plan of the horizon."""
    for name, size in (('horizon', horizon.n), ('tracking error', len(error.K_r))):
        if size != model.n:
            raise BoundError(f'the {name} has {size} joints, the arm has {model.n}')
    K_r = Interval.of(error.K_r)
    slack = _Slack(
        error.position,
        error.velocity,
        (K_r * error.position).upper,
        (K_r * error.velocity).upper,
    )
    _, s = _time_steps(float(horizon.curve.duration), horizon.intervals)
    curve, slope = _coefficients(horizon)
    table, count = horizon.monomials, horizon.monomials.count
    rows = np.zeros((len(KINDS), horizon.intervals, model.n, count + 1))
    rows[..., -1] = np.nan  # what a kernel does not write is noticed below
    own = monomials(min(table.variables, 1), table.degree)
    over_steps(
        _joint_reach_into,
        horizon.intervals,
        (s, curve, slope),
        horizon.k_range,
        slack,
        model.tree.is_prismatic,
        (_own_columns(table), own.kernel),
        rows,
    )
    if not np.all(np.isfinite(rows[..., [0, -1]])):  # others are in the radius, to rounding
        raise BoundError(
            'joint states of the horizon are larger than a float can hold; the start of the '
            'curve, k_center or k_range are not those of an arm'
        )
    rows.setflags(write=False)
    return JointReach(horizon.monomials, horizon.time, rows)


@lru_cache(maxsize=8)  # as below
def _own_columns(table: Monomials) -> IntArray:
    """Columns of the powers of the variable of each joint, (n, D + 1); (1, 1) without any."""
    powers = np.arange(table.degree + 1 if table.variables else 1)
    exponents = powers[:, None] * np.eye(max(table.variables, 1), dtype=np.int64)[:, None, :]
    return np.array(
        [
            [table.index(tuple(row[: table.variables])) for row in each]
            for each in exponents.tolist()
        ]
    )


def _edges(duration: float, intervals: int) -> Array:
    edges = duration * (np.arange(intervals + 1) / intervals)
    edges[-1] = duration
    return edges


@lru_cache(maxsize=8)  # all plans of a search have the same
def _time_steps(duration: float, intervals: int) -> tuple[Interval, Array]:
    """Time steps, and centre and radius of each as parts of the duration, (T, 2)."""
    edges = _edges(duration, intervals)
    time = Interval(edges[:-1], edges[1:])
    s = unit_time(time, duration)
    return time, np.stack([s.center, s.radius], axis=-1)


def _coefficients(horizon: Horizon) -> tuple[Array, Array]:
    """Coefficients in s of the curve of k_center, (3 n, 6, 2), and of its slope, (3, 6, 2).

    The first axis is the order of the derivative in time (and joints), the last one centre and
    radius.
    """
    offset, slope = horizon.curve.affine_orders
    middle = offset + slope * horizon.k_center[:, None]
    curves, slopes = (np.stack([c.center, c.radius], axis=-1) for c in (middle, slope))
    return curves.reshape(-1, *curves.shape[2:]), slopes[:, 0].copy()


@inline_jit
def _polynomial_over(coefficients: Array, p: int, s: Ball, work: Array) -> Ball:
    """Range over [s[0] - s[1], s[0] + s[1]] of the degree-5 polynomials in ball p of (P, 6, 2).

    Expanded about the middle by repeated synthetic division. Each step is a product and a sum, an
    error below EPS times their sizes; the radii are sums of positive terms, at most 40 deep. Rows
    of `work` (2, 6) are centres and radii.
    """
    middle, half = s
    for i in range(6):
        work[0, i], work[1, i] = coefficients[p, i, 0], coefficients[p, i, 1]
    for m in range(5):
        for i in range(4, m - 1, -1):
            shift = work[0, i + 1] * middle
            work[1, i] += work[1, i + 1] * abs(middle)
            work[1, i] += EPS * (abs(work[0, i]) + 2.0 * abs(shift))
            work[0, i] += shift
    radius = 0.0
    for m in range(5, 0, -1):
        radius = (radius + abs(work[0, m]) + work[1, m]) * half
    return work[0, 0], rounded_up(radius + work[1, 0], 32)


@inline_jit
def _affine_row(rows: Array, t: int, joint: int, curve: Ball, slope: Ball, k_range: float) -> None:
    """Set a row (t, joint), which is zero, to curve + slope k_range x of this joint."""
    M = rows.shape[2] - 1
    rows[t, joint, 0] = curve[0]
    linear = slope[0] * k_range
    if M > 1:
        rows[t, joint, 1 + joint] = linear
    rows[t, joint, M] = rounded_up(curve[1] + slope[1] * k_range + EPS * abs(linear), 4)


@jit
def _joint_reach_into(
    steps: Steps,
    curves: tuple[Array, Array, Array],
    k_range: Array,
    slack: _Slack,
    is_prismatic: AnyArray,
    own: tuple[IntArray, IntArray],
    rows: Array,
) -> None:
    """Fill rows, (7, T, n, M + 1), which are zero but for their remainders.

    A joint has its own variable: `own` are the columns of its powers and the table of these.
    """
    work = np.empty((2, 6))
    for t in range(steps[0], steps[1]):
        _set_desired(curves, t, k_range, work, rows)
        _set_states(t, slack, own[0], rows)
        _set_waves(is_prismatic, t, own, rows)


@part_jit
def _set_desired(
    curves: tuple[Array, Array, Array], t: int, k_range: Array, work: Array, rows: Array
) -> None:
    """Fill the rows of the desired motion in one time step."""
    s, curve, slope = curves
    over = s[t, 0], s[t, 1]
    for order, kind in ((0, Q), (1, QD_D), (2, QDD_A)):
        shared, out = _polynomial_over(slope, order, over, work), rows[kind]
        for j in range(rows.shape[2]):
            own = _polynomial_over(curve, order * rows.shape[2] + j, over, work)
            _affine_row(out, t, j, own, shared, k_range[j])


@part_jit
def _set_states(t: int, slack: _Slack, columns: IntArray, rows: Array) -> None:
    """Fill the rows of the other states in one time step, all but the cosines and sines."""
    M = rows.shape[3] - 1
    for j in range(rows.shape[2]):
        for e in range(min(2, columns.shape[1])):
            i = columns[j, e] if e > 0 else 0
            rows[QD, t, j, i] = rows[QD_A, t, j, i] = rows[QD_D, t, j, i]
        rows[QD, t, j, M] = rows[QD_A, t, j, M] = rows[QD_D, t, j, M]
        _widen(rows, (Q, t, j), slack.q[j])
        _widen(rows, (QD, t, j), slack.qd[j])
        _widen(rows, (QD_A, t, j), slack.qd_a[j])
        _widen(rows, (QDD_A, t, j), slack.qdd_a[j])


@inline_jit
def _widen(rows: Array, place: tuple[int, int, int], radius: float) -> None:
    """Add a radius to that of a row."""
    kind, t, j = place
    M = rows.shape[3] - 1
    rows[kind, t, j, M] = rounded_up(rows[kind, t, j, M] + radius, 1)


@part_jit
def _set_waves(
    is_prismatic: AnyArray, t: int, own: tuple[IntArray, IntArray], rows: Array
) -> None:
    """Fill the cosines and sines of one time step."""
    columns, table = own
    M, count = rows.shape[3] - 1, columns.shape[1]
    pool = np.empty((3 + WORK, count + 1))
    for j in range(rows.shape[2]):
        if is_prismatic[j]:
            rows[COS, t, j, 0] = 1.0
            rows[COS, t, j, M] = rows[SIN, t, j, M] = 0.0
            continue
        place = columns[min(j, len(columns) - 1)]
        for e in range(count):
            pool[0, e] = rows[Q, t, j, place[e]]
        pool[0, count] = rows[Q, t, j, M]
        sine_cosine(pool, 0, 1, 2, 3, table)
        for e in range(count):
            rows[SIN, t, j, place[e]], rows[COS, t, j, place[e]] = pool[1, e], pool[2, e]
        rows[SIN, t, j, M], rows[COS, t, j, M] = pool[1, count], pool[2, count]


@jit
def states_in_lanes(rows: Array, first: int, last: int, kinds: int, out: Array) -> None:
    """Copy the first kinds of state of time steps into lanes, `kinds` rows of out per joint.

    Lanes that are left over hold the last step too.
    """
    for i in range(rows.shape[2]):
        for kind in range(kinds):
            for m in range(rows.shape[3]):
                for lane in range(LANES):
                    t = min(first + lane, last)
                    out[kinds * i + kind, m, lane] = rows[kind, t, i, m]
