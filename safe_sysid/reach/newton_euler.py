"""Newton-Euler recursion on set-valued joint states and parameters, in passivity form.

With spatial motions v of qd, v_a of qd_a and a (gravity as an acceleration of the base, velocity
products symmetric), the wrench that body i needs is linear in its ten parameters m, mc, I:

    force   m c + B mc                 c = a_lin + 1/2 (w x v_a_lin + w_a x v_lin)
    torque  mc x c + J(I)              B = [alpha] + S - tr(S) 1,  S = 1/2 (w w_a' + w_a w')

with w, w_a, alpha the angular parts and J(I) = I alpha + 1/2 (w x I w_a + w_a x I w), which in the
entry e_r e_c' of I is e_r alpha_c + S_c x e_r. A motion s = (l, z) of joint k, in the frame of
body i, turns it into the row of W_s for joint k:

    m: l . c        mc: B' l + c x z        I: z . J

Wrenches are never added up along the arm: each parameter keeps its own sign over [theta], and no
remainder is turned from frame to frame more often than s is. So |W_s delta| over a box of deltas
is bounded as closely as each entry of W_s is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.body_columns import (
    BodyColumns,
    add_grown,
    body_columns,
    columns_of,
    grow,
    joint_in_lanes,
    places,
    slots,
    table_of,
)
from safe_sysid.reach.joint_geometry import AXIS
from safe_sysid.reach.joint_reach import QD, QD_A, QDD_A, JointReach
from safe_sysid.reach.motion_transport import (
    MOTION,
    PRISMATIC,
    TRANSPORT_WORK,
    TransportJoints,
    cross_axis,
    kernel_joints,
    set_to_axis,
    to_child,
)
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import (
    add,
    add_product,
    add_scaled,
    clear,
    copy,
    magnitude,
    scale,
    subtract,
)
from safe_sysid.sets.taylor_sums import (
    add_combination,
    add_difference,
    note_sizes,
    set_inner_product,
)
from safe_sysid.sets.taylor_vectors import add_cross, clear_vector

STATE = 6  # rows of a joint state: cos, sin, q, qd, qd_a, qdd_a
V, V_A, A = STATE, STATE + 6, STATE + 12  # rows of the motions of a body
BASIS = STATE + 18  # of a wrench
C, B, S, J = BASIS, BASIS + 3, BASIS + 12, BASIS + 21  # B and S are 3 x 3, J is six 3-vectors
W = BASIS + 39  # rows of W_s for one joint and body
ENTRIES = 10
NOMINAL, OFFSET = W + ENTRIES, W + ENTRIES + 1  # what they are, times parameters
WORK = OFFSET + 1  # intermediate results
JOINTS = WORK + TRANSPORT_WORK  # motions of the joints below in the frame of the body, last rows
MOTIONS = 18
INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of I in theta


class RigidBodyTorque(NamedTuple):
    """Inertial part of W_s theta_0, and of what theta in its bounds may change in it."""

    nominal: Array  # (T, n, M + 1) rows of W_s theta_0
    offset: Array  # (T, n, M + 1) rows of W_s (centre of [theta] - theta_0)
    spread: Array  # (T, n) bound of |W_s| times the radius of [theta]


def rigid_body_torque(
    model: RobotModel, reach: JointReach, theta_0: Array, bounds: Interval
) -> RigidBodyTorque:
    """Enclose the inertial part of the torque for all states of the reach and theta in bounds."""
    inertial = slice(0, 10 * model.n)
    delta = bounds[inertial] - theta_0[inertial]
    parameters = np.stack([theta_0[inertial], delta.center, delta.radius])
    T, n, width = reach.q.shape
    unset = np.full((T, n, width), np.nan)  # what a kernel does not write is noticed below
    result = RigidBodyTorque(unset, unset.copy(), unset[..., 0].copy())
    joints, columns = kernel_joints(model.tree), body_columns(reach)
    arguments = (reach.rows, joints, slots(model.tree.parent), columns, parameters, result)
    over_steps(_torque_into, T, *arguments, together=LANES)
    for part in result:
        if not np.all(np.isfinite(part)):
            raise BoundError(
                'torques over the horizon are larger than a float can hold: k_range, the '
                'tracking error or the bounds of theta are not those of an arm'
            )
        part.setflags(write=False)
    return result


@jit
def _torque_into(
    steps: Steps,
    states: Array,
    joints: TransportJoints,
    slot: IntArray,
    columns: BodyColumns,
    parameters: Array,
    result: RigidBodyTorque,
) -> None:
    """Fill the result, LANES steps at a time.

    The joints are copied because views of an array count its references, which would be shared
    by all cores.
    """
    n, width = states.shape[2:]
    memory = np.zeros((slot.max() + 1, _rows(n) * width * LANES))
    totals, spread = np.zeros((2 * n, width, LANES)), np.zeros((n, 1, LANES))
    sizes, place = (
        lane_pool(np.zeros((_rows(n), columns.tables[0] + 1, LANES))),
        np.zeros(width, dtype=np.int64),
    )
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    theta = parameters.copy()
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        totals[:] = 0.0
        spread[:] = 0.0
        for i in range(n):
            mine, table = columns_of(columns, i), table_of(columns, i)
            rows = _part(memory[slot[i]], i, len(mine))
            pool, up = lane_pool(rows), own.parent[i]
            joint_in_lanes(states, i, mine, first, last, STATE, rows)
            if up < 0:
                _set_base(pool, own.gravity)
            else:
                before = columns_of(columns, up)
                below = lane_pool(_part(memory[slot[up]], up, len(before)))
                _take_motions(below, pool, own.below[i], places(before, mine, place))
            _advance(pool, own, i, table)
            sums = Sums(lane_pool(totals), lane_pool(spread))
            _add_torques(pool, sizes, own.below[i], theta[:, 10 * i :], mine, table, sums)
        _keep(totals, spread, first, last, result)


class Sums(NamedTuple):
    """Sums over bodies: rows of W_s theta_0 and of the offset for every joint, and the spread."""

    rows: Array
    spread: Array


@jit
def _part(memory: Array, i: int, width: int) -> Array:
    """Return rows of body i."""
    count = _rows(i + 1)
    return memory[: count * width * LANES].reshape((count, width, LANES))


@jit
def _rows(joints: int) -> int:
    """How many rows a body has that so many joints move."""
    return JOINTS + MOTION * joints


@part_jit
def _keep(totals: Array, spread: Array, first: int, last: int, result: RigidBodyTorque) -> None:
    """Copy sums over bodies out of lanes."""
    n, width = result.nominal.shape[1:]
    for t in range(first, last + 1):
        for k in range(n):
            result.spread[t, k] = spread[k, 0, t - first] * (1.0 + 2.0**-40)
            for m in range(width):
                result.nominal[t, k, m] = totals[2 * k, m, t - first]
                result.offset[t, k, m] = totals[2 * k + 1, m, t - first]


@part_jit
def _set_base(pool: Array, gravity: Array) -> None:
    """Set motions of a body to those of the base."""
    for r in range(MOTIONS):
        clear(pool, V + r)
    for r in range(3):
        pool[A + r, 0] = -gravity[r]


@part_jit
def _take_motions(below: Array, pool: Array, is_below: AnyArray, place: IntArray) -> None:
    """Set motions of a body, and those of the joints below it, to what they are one body below."""
    grow(below, V, pool, MOTIONS, place)
    for k in range((below.shape[0] - JOINTS) // MOTION):
        if is_below[k]:
            grow(below, JOINTS + MOTION * k, pool, MOTION, place)


@part_jit
def _advance(pool: Array, joints: TransportJoints, i: int, table: IntArray) -> None:
    """Take motions from the frame below to that of body i, and add what its joint does."""
    joint, kind = joints.geometry[i], joints.kind[i]
    for motion in (V, V_A, A):
        to_child(pool, joint, kind, 0, motion, motion, WORK, table)
    for k in range(i):
        if joints.below[i, k]:
            s = JOINTS + MOTION * k
            to_child(pool, joint, kind, 0, s, s, WORK, table)
    set_to_axis(pool, joint, kind, JOINTS + MOTION * i)
    half_rate = WORK + MOTION
    for rate, motion in ((QD_A, V), (QD, V_A)):
        cross_axis(pool, joint, kind, motion, WORK)
        copy(pool, rate, half_rate)
        scale(pool, half_rate, 0.5, 0.0, half_rate)
        for r in range(MOTION):
            add_product(pool, half_rate, WORK + r, 1.0, A + r, table)
    own = 0 if kind == PRISMATIC else 3
    for rate, motion in ((QD, V), (QD_A, V_A), (QDD_A, A)):
        for r in range(3):
            center, radius = joint[AXIS, 0, 0, r], joint[AXIS, 1, 0, r]
            if abs(center) + radius > 0.0:
                add_scaled(pool, rate, center, radius, motion + own + r)


@part_jit
def _add_torques(
    pool: Array,
    sizes: Array,
    is_below: AnyArray,
    parameters: Array,
    columns: IntArray,
    table: IntArray,
    sums: Sums,
) -> None:
    """Add what a body with these parameters needs of the joints below it.

    `sizes` has a row for each of the pool, see `note_sizes`.
    """
    _set_wrench_basis(pool, table)
    note_sizes(pool, BASIS, W - BASIS, sizes, table)
    for k in range((pool.shape[0] - JOINTS) // MOTION):
        if is_below[k]:
            s = JOINTS + MOTION * k
            note_sizes(pool, s, MOTION, sizes, table)
            _set_entries(pool, sizes, s, table)
            sums.spread[k, 0] += _set_torques(pool, parameters, table)
            add_grown(pool, NOMINAL, columns, sums.rows, 2 * k)
            add_grown(pool, OFFSET, columns, sums.rows, 2 * k + 1)


@part_jit
def _set_wrench_basis(pool: Array, table: IntArray) -> None:
    """Rows c, B, S and J of a body from its motions."""
    w, w_a, alpha = V + 3, V_A + 3, A + 3
    c, b, s, j = C, B, S, J
    clear_vector(pool, c)
    add_cross(pool, w, V_A, 1.0, c, table)
    add_cross(pool, w_a, V, 1.0, c, table)
    for r in range(3):
        scale(pool, c + r, 0.5, 0.0, c + r)
        add(pool, c + r, A + r, c + r)
        for k in range(r, 3):
            clear(pool, s + 3 * r + k)
            add_product(pool, w + r, w_a + k, 1.0, s + 3 * r + k, table)
            if k > r:
                add_product(pool, w + k, w_a + r, 1.0, s + 3 * r + k, table)
                scale(pool, s + 3 * r + k, 0.5, 0.0, s + 3 * r + k)
                copy(pool, s + 3 * r + k, s + 3 * k + r)
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        clear(pool, b + 4 * r)
        subtract(pool, b + 4 * r, s + 4 * up, b + 4 * r)
        subtract(pool, b + 4 * r, s + 4 * down, b + 4 * r)
        subtract(pool, s + 3 * r + up, alpha + down, b + 3 * r + up)
        add(pool, s + 3 * r + down, alpha + up, b + 3 * r + down)
    for p, (r, k) in enumerate(INERTIA_ENTRIES):
        clear_vector(pool, j + 3 * p)
        _add_inertia_entry(pool, alpha, s, r, k, j + 3 * p)
        if r != k:
            _add_inertia_entry(pool, alpha, s, k, r, j + 3 * p)


@jit
def _add_inertia_entry(pool: Array, alpha: int, s: int, r: int, k: int, out: int) -> None:
    """Add e_r alpha_k + S_k x e_r."""
    up, down = (r + 1) % 3, (r + 2) % 3
    add(pool, out + r, alpha + k, out + r)
    add(pool, out + up, s + 3 * down + k, out + up)
    subtract(pool, out + down, s + 3 * up + k, out + down)


@part_jit
def _set_entries(pool: Array, sizes: Array, motion: int, table: IntArray) -> None:
    """Ten entries of W_s for one body and the joint whose motion is given."""
    z = motion + 3
    set_inner_product(pool, sizes, motion, C, 1, W, table)
    for p in range(3):
        set_inner_product(pool, sizes, motion, B + p, 3, W + 1 + p, table)
        up, down = (p + 1) % 3, (p + 2) % 3
        add_difference(pool, sizes, C + up, z + down, C + down, z + up, W + 1 + p, table)
    for p in range(6):
        set_inner_product(pool, sizes, z, J + 3 * p, 1, W + 4 + p, table)


@part_jit
def _set_torques(pool: Array, parameters: Array, table: IntArray) -> float:
    """Set entries times theta_0 and times the centre of delta; magnitude times the radius."""
    spread = 0.0
    for which, out in enumerate((NOMINAL, OFFSET)):
        clear(pool, out)
        add_combination(pool, W, parameters[which, :ENTRIES], out)
    for p in range(ENTRIES):
        if parameters[2, p] != 0.0:
            spread += parameters[2, p] * magnitude(pool, W + p, table)
    return spread
