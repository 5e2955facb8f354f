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
    Body,
    BodyColumns,
    add_grown,
    body_columns,
    columns_of,
    grow,
    joint_in_lanes,
    places,
    rows_in,
    slots,
    table_of,
)
from safe_sysid.reach.joint_geometry import AXIS
from safe_sysid.reach.joint_reach import QD, QD_A, QDD_A, JointReach
from safe_sysid.reach.motion_transport import (
    MOTION,
    PRISMATIC,
    TransportJoints,
    cross_axis,
    kernel_joints,
    set_to_axis,
    to_child,
)
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import (
    add,
    add_scaled,
    clear,
    clear_vector,
    copy,
    magnitude,
    subtract,
)
from safe_sysid.sets.taylor_maps import add_multiples
from safe_sysid.sets.taylor_sums import (
    add_inner_product,
    add_two_products,
    note_sizes,
    set_inner_product,
)

STATE = 6  # rows of a joint state: cos, sin, q, qd, qd_a, qdd_a
V, V_A, A = STATE, STATE + 6, STATE + 12  # rows of the motions of a body
BASIS = STATE + 18  # of a wrench
C, B, S, J = BASIS, BASIS + 3, BASIS + 12, BASIS + 21  # B and S are 3 x 3, J is six 3-vectors
FORCE, TORQUE = BASIS + 39, BASIS + 42  # of theta_0, then of the offset
WRENCH = 6  # rows
ENTRY = FORCE + 2 * WRENCH  # of W_s, or what a wrench does along a motion
WORK = ENTRY + 1  # intermediate results
JOINTS = WORK + 2 * MOTION  # motions of the joints below in the frame of the body, last rows
ENTRIES = 10  # of W_s for one joint and body
ROUNDED = 1e-12  # of a radius: how far the centre of equal bounds on both sides is from zero
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
    parameters = np.stack([theta_0[inertial], *_balls(bounds[inertial] - theta_0[inertial])])
    T, n, width = reach.q.shape
    unset = np.full((T, n, width), np.nan)  # what a kernel does not write is noticed below
    result = RigidBodyTorque(unset, unset.copy(), unset[..., 0].copy())
    joints, columns = kernel_joints(model.tree), body_columns(reach, STATE)
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


def _balls(delta: Interval) -> tuple[Array, Array]:
    """Centres and radii of parameters; centres that are only rounded are in the radii."""
    center, radius = delta.center, delta.radius
    known = np.abs(center) > ROUNDED * radius
    wider = (radius + np.abs(center)) * (1.0 + 2.0 * EPS)
    return np.where(known, center, 0.0), np.where(known, radius, wider)


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
    slots, degree, place = slot.max() + 1, columns.tables[0], np.zeros(width, dtype=np.int64)
    memory = np.zeros((slots, _rows(n) * width * LANES))
    sizes = np.zeros((slots, _rows(n), degree + 1, LANES))
    totals, spread = np.zeros((2 * n, width, LANES)), np.zeros((n, 1, LANES))
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
            rows = rows_in(memory[slot[i]], _rows(i + 1), len(mine))
            body, up = Body(lane_pool(rows), lane_pool(sizes[slot[i]])), own.parent[i]
            joint_in_lanes(states, i, mine, first, last, STATE, rows)
            if up < 0:
                _set_base(body, own.gravity, table)
            else:
                before = columns_of(columns, up)
                pool = lane_pool(rows_in(memory[slot[up]], _rows(up + 1), len(before)))
                below = Body(pool, lane_pool(sizes[slot[up]]))
                _take_motions(below, body, own.below[i], places(before, mine, place))
            _advance(body, own, i, table)
            sums = Sums(lane_pool(totals), lane_pool(spread))
            each = theta[:, 10 * i : 10 * i + ENTRIES]
            _add_torques(body, own.below[i], each, mine, table, sums)
        _keep(totals, spread, first, last, result)


class Sums(NamedTuple):
    """Sums over bodies: rows of W_s theta_0 and of the offset for every joint, and the spread."""

    rows: Array
    spread: Array


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
def _set_base(body: Body, gravity: Array, table: IntArray) -> None:
    """Set motions of a body to those of the base."""
    for r in range(MOTIONS):
        clear(body.pool, V + r)
    for r in range(3):
        body.pool[A + r, 0] = -gravity[r]
    note_sizes(body.pool, V, MOTIONS, body.sizes, table)


@part_jit
def _take_motions(below: Body, body: Body, is_below: AnyArray, place: IntArray) -> None:
    """Set motions of a body, and those of the joints below it, to what they are one body below."""
    grow(below, V, body, V, MOTIONS, place)
    for k in range((below.pool.shape[0] - JOINTS) // MOTION):
        if is_below[k]:
            s = JOINTS + MOTION * k
            grow(below, s, body, s, MOTION, place)


@part_jit
def _advance(body: Body, joints: TransportJoints, i: int, table: IntArray) -> None:
    """Take motions from the frame below to that of body i, and add what its joint does."""
    pool, sizes, joint, kind = body.pool, body.sizes, joints.geometry[i], joints.kind[i]
    note_sizes(pool, 0, STATE, sizes, table)
    for motion in (V, V_A, A):
        to_child(pool, sizes, joint, kind, 0, motion, WORK, table)
    for k in range(i):
        if joints.below[i, k]:
            to_child(pool, sizes, joint, kind, 0, JOINTS + MOTION * k, WORK, table)
    axis, crossed = JOINTS + MOTION * i, WORK + MOTION
    set_to_axis(pool, joint, kind, axis)
    note_sizes(pool, axis, MOTION, sizes, table)
    cross_axis(pool, sizes, joint, kind, V, WORK)
    cross_axis(pool, sizes, joint, kind, V_A, crossed)
    note_sizes(pool, WORK, 2 * MOTION, sizes, table)
    for r in range(MOTION):
        first, second = (QD_A, WORK + r), (QD, crossed + r)
        add_two_products(pool, sizes, first, second, (0.5, 0.5), A + r, table)
    own = 0 if kind == PRISMATIC else 3
    for rate, motion in ((QD, V), (QD_A, V_A), (QDD_A, A)):
        for r in range(3):
            center, radius = joint[AXIS, 0, 0, r], joint[AXIS, 1, 0, r]
            if abs(center) + radius > 0.0:
                add_scaled(pool, rate, center, radius, motion + own + r)
    note_sizes(pool, V, MOTIONS, sizes, table)


@part_jit
def _add_torques(
    body: Body,
    is_below: AnyArray,
    theta: Array,
    columns: IntArray,
    table: IntArray,
    sums: Sums,
) -> None:
    """Add what a body with parameters theta, (3, ENTRIES), needs of the joints below it."""
    pool, sizes = body.pool, body.sizes
    _set_wrench_basis(pool, sizes, table)
    for which in range(2):
        if np.any(theta[which] != 0.0):
            _set_wrench(pool, sizes, theta[which], WRENCH * which, table)
    for k in range((pool.shape[0] - JOINTS) // MOTION):
        if is_below[k]:
            s = JOINTS + MOTION * k
            for which in range(2):
                if np.any(theta[which] != 0.0):
                    force, torque = FORCE + WRENCH * which, TORQUE + WRENCH * which
                    set_inner_product(pool, sizes, s, force, 1, ENTRY, table)
                    add_inner_product(pool, sizes, s + 3, torque, 1, ENTRY, table)
                    add_grown(pool, ENTRY, columns, sums.rows, 2 * k + which)
            for p in range(ENTRIES):
                if theta[2, p] != 0.0:
                    _set_entry(pool, sizes, s, p, table)
                    sums.spread[k, 0] += theta[2, p] * magnitude(pool, ENTRY, table)


@part_jit
def _set_wrench_basis(pool: Array, sizes: Array, table: IntArray) -> None:
    """Rows c, B, S and J of a body from its motions."""
    alpha = A + 3
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        copy(pool, A + r, C + r)
        for w, v in ((V + 3, V_A), (V_A + 3, V)):
            first, second = (w + up, v + down), (w + down, v + up)
            add_two_products(pool, sizes, first, second, (0.5, -0.5), C + r, table)
        for k in range(r, 3):
            out = S + 3 * r + k
            clear(pool, out)
            first, second = (V + 3 + r, V_A + 3 + k), (V + 3 + k, V_A + 3 + r)
            add_two_products(pool, sizes, first, second, (0.5, 0.5), out, table)
            if k > r:
                copy(pool, out, S + 3 * k + r)
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        clear(pool, B + 4 * r)
        subtract(pool, B + 4 * r, S + 4 * up, B + 4 * r)
        subtract(pool, B + 4 * r, S + 4 * down, B + 4 * r)
        subtract(pool, S + 3 * r + up, alpha + down, B + 3 * r + up)
        add(pool, S + 3 * r + down, alpha + up, B + 3 * r + down)
    for p, (r, k) in enumerate(INERTIA_ENTRIES):
        clear_vector(pool, J + 3 * p)
        _add_inertia_entry(pool, alpha, S, r, k, J + 3 * p)
        if r != k:
            _add_inertia_entry(pool, alpha, S, k, r, J + 3 * p)
    note_sizes(pool, BASIS, FORCE - BASIS, sizes, table)


@jit
def _add_inertia_entry(pool: Array, alpha: int, s: int, r: int, k: int, out: int) -> None:
    """Add e_r alpha_k + S_k x e_r."""
    up, down = (r + 1) % 3, (r + 2) % 3
    add(pool, out + r, alpha + k, out + r)
    add(pool, out + up, s + 3 * down + k, out + up)
    subtract(pool, out + down, s + 3 * up + k, out + down)


@part_jit
def _set_wrench(pool: Array, sizes: Array, theta: Array, skip: int, table: IntArray) -> None:
    """Set the wrench that a body of these parameters needs, some rows behind the first."""
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        force, torque = FORCE + skip + r, TORQUE + skip + r
        clear(pool, force)
        add_multiples(pool, sizes, B + 3 * r, 1, theta[1:], force)
        add_scaled(pool, C + r, theta[0], 0.0, force)
        clear(pool, torque)
        add_multiples(pool, sizes, J + r, 3, theta[4:], torque)
        add_multiples(pool, sizes, J + 9 + r, 3, theta[7:], torque)
        add_scaled(pool, C + down, theta[1 + up], 0.0, torque)
        add_scaled(pool, C + up, -theta[1 + down], 0.0, torque)
    note_sizes(pool, FORCE + skip, WRENCH, sizes, table)


@part_jit
def _set_entry(pool: Array, sizes: Array, motion: int, p: int, table: IntArray) -> None:
    """Set entry p of W_s for one body and the joint whose motion is given."""
    z = motion + 3
    if p == 0:
        set_inner_product(pool, sizes, motion, C, 1, ENTRY, table)
    elif p < 4:
        first, second = (z + (p + 1) % 3, C + p % 3), (z + p % 3, C + (p + 1) % 3)
        set_inner_product(pool, sizes, motion, B + p - 1, 3, ENTRY, table)
        add_two_products(pool, sizes, first, second, (1.0, -1.0), ENTRY, table)
    else:
        set_inner_product(pool, sizes, z, J + 3 * (p - 4), 1, ENTRY, table)
