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

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_geometry import AXIS
from safe_sysid.reach.joint_reach import QD, QD_A, QDD_A, JointReach, states_in_lanes
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
    add_inner_product,
    note_sizes,
)
from safe_sysid.sets.taylor_vectors import add_cross, clear_vector

STATE = 6  # rows of a joint state: cos, sin, q, qd, qd_a, qdd_a
V, V_A, A = 0, 6, 12  # rows of the motions of a body
MOTIONS = 18
C, B, S, J = 0, 3, 12, 21  # rows of a wrench basis; B and S are 3 x 3, J is six 3-vectors
BASIS = 39
ENTRIES = 10  # rows of W_s for one joint and body
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
    joints = kernel_joints(model.tree)
    arguments = (reach.rows, joints, parameters, reach.monomials.kernel, result)
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
    parameters: Array,
    table: IntArray,
    result: RigidBodyTorque,
) -> None:
    """Fill the result, LANES steps at a time.

    The joints are copied because views of an array count its references, which would be shared
    by all cores.
    """
    n, width = states.shape[2:]
    rows, spread = np.zeros((_rows(n), width, LANES)), np.zeros((n, 1, LANES))
    pool, sizes = lane_pool(rows), lane_pool(np.zeros((_rows(n), 1, LANES)))
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    theta = parameters.copy()
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        states_in_lanes(states, first, last, STATE, rows)
        _torque(pool, sizes, lane_pool(spread), own, theta, table)
        _keep(rows, spread, first, last, result)


@jit
def _keep(rows: Array, spread: Array, first: int, last: int, result: RigidBodyTorque) -> None:
    """Copy sums over bodies out of lanes."""
    n, width = result.nominal.shape[1:]
    for t in range(first, last + 1):
        for k in range(n):
            total = _totals(n) + 2 * k
            result.spread[t, k] = spread[k, 0, t - first]
            for m in range(width):
                result.nominal[t, k, m] = rows[total, m, t - first]
                result.offset[t, k, m] = rows[total + 1, m, t - first]


@jit
def _motions(n: int, i: int) -> int:
    """First row of the motions of body i; -1 is the base."""
    return STATE * n + MOTIONS * (i + 1)


@jit
def _joint_motion(n: int, i: int, k: int) -> int:
    """First row of the motion of joint k in the frame of body i."""
    return _motions(n, n) + MOTION * (n * i + k)  # type: ignore[no-any-return]


@jit
def _totals(n: int) -> int:
    """First of the sums over bodies: two rows per joint."""
    return _joint_motion(n, n, 0)  # type: ignore[no-any-return]


@jit
def _work(n: int) -> int:
    """First row that is free to use: basis of a wrench, entries of W_s, intermediate results."""
    return _totals(n) + 2 * n  # type: ignore[no-any-return]


@jit
def _rows(n: int) -> int:
    return _work(n) + BASIS + ENTRIES + TRANSPORT_WORK + 2  # type: ignore[no-any-return]


@part_jit
def _torque(
    pool: Array,
    sizes: Array,
    spread: Array,
    joints: TransportJoints,
    parameters: Array,
    table: IntArray,
) -> None:
    """Sum over bodies at one time step, or several side by side, into rows `_totals` and spread.

    `sizes` has a row for each of the pool, see `note_sizes`, and spread one for each joint.
    """
    n = len(joints.parent)
    basis = _work(n)
    entries = basis + BASIS
    work = entries + ENTRIES
    for r in range(MOTIONS):
        clear(pool, _motions(n, -1) + r)
    for k in range(n):
        clear(spread, k)
        clear(pool, _totals(n) + 2 * k)
        clear(pool, _totals(n) + 2 * k + 1)
    for r in range(3):
        pool[_motions(n, -1) + A + r, 0] = -joints.gravity[r]
    for i in range(n):
        _advance(pool, joints, i, work, table)
        _set_wrench_basis(pool, _motions(n, i), basis, table)
        note_sizes(pool, basis, BASIS, sizes, table)
        for k in range(i + 1):
            if joints.below[i, k]:
                s = _joint_motion(n, i, k)
                note_sizes(pool, s, MOTION, sizes, table)
                _set_entries(pool, sizes, s, basis, entries, table)
                total = _totals(n) + 2 * k
                spread[k, 0] += _add_entries(pool, entries, parameters[:, 10 * i :], total, table)
    for k in range(n):
        spread[k, 0] *= 1.0 + 2.0**-40


@part_jit
def _advance(pool: Array, joints: TransportJoints, i: int, work: int, table: IntArray) -> None:
    """Motions of body i, and those of the joints below it, in its frame."""
    n, up, joint, kind = len(joints.parent), joints.parent[i], joints.geometry[i], joints.kind[i]
    state, below, here = STATE * i, _motions(n, up), _motions(n, i)
    for motion in (V, V_A, A):
        to_child(pool, joint, kind, state, below + motion, here + motion, work, table)
    for k in range(i):
        if joints.below[i, k]:
            s = _joint_motion(n, up, k)
            to_child(pool, joint, kind, state, s, _joint_motion(n, i, k), work, table)
    set_to_axis(pool, joint, kind, _joint_motion(n, i, i))
    half_rate = work + MOTION
    for rate, motion in ((QD_A, V), (QD, V_A)):
        cross_axis(pool, joint, kind, here + motion, work)
        copy(pool, state + rate, half_rate)
        scale(pool, half_rate, 0.5, 0.0, half_rate)
        for r in range(MOTION):
            add_product(pool, half_rate, work + r, 1.0, here + A + r, table)
    own = here + (0 if kind == PRISMATIC else 3)
    for rate, motion in ((QD, V), (QD_A, V_A), (QDD_A, A)):
        for r in range(3):
            center, radius = joint[AXIS, 0, 0, r], joint[AXIS, 1, 0, r]
            if abs(center) + radius > 0.0:
                add_scaled(pool, state + rate, center, radius, own + motion + r)


@part_jit
def _set_wrench_basis(pool: Array, motions: int, basis: int, table: IntArray) -> None:
    """Rows c, B, S and J of a body from its motions."""
    w, w_a, alpha = motions + V + 3, motions + V_A + 3, motions + A + 3
    c, b, s, j = basis + C, basis + B, basis + S, basis + J
    clear_vector(pool, c)
    add_cross(pool, w, motions + V_A, 1.0, c, table)
    add_cross(pool, w_a, motions + V, 1.0, c, table)
    for r in range(3):
        scale(pool, c + r, 0.5, 0.0, c + r)
        add(pool, c + r, motions + A + r, c + r)
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
def _set_entries(
    pool: Array, sizes: Array, motion: int, basis: int, entries: int, table: IntArray
) -> None:
    """Ten entries of W_s for one body and the joint whose motion is given."""
    c, b, j, z = basis + C, basis + B, basis + J, motion + 3
    for p in range(ENTRIES):
        clear(pool, entries + p)
    add_inner_product(pool, sizes, motion, c, 1, entries, table)
    for p in range(3):
        add_inner_product(pool, sizes, motion, b + p, 3, entries + 1 + p, table)
        up, down = (p + 1) % 3, (p + 2) % 3
        add_difference(pool, sizes, c + up, z + down, c + down, z + up, entries + 1 + p, table)
    for p in range(6):
        add_inner_product(pool, sizes, z, j + 3 * p, 1, entries + 4 + p, table)


@part_jit
def _add_entries(
    pool: Array, entries: int, parameters: Array, total: int, table: IntArray
) -> float:
    """Add entries times theta_0 and times the centre of delta; magnitude times the radius."""
    spread = 0.0
    add_combination(pool, entries, parameters[0, :ENTRIES], total)
    add_combination(pool, entries, parameters[1, :ENTRIES], total + 1)
    for p in range(ENTRIES):
        if parameters[2, p] != 0.0:
            spread += parameters[2, p] * magnitude(pool, entries + p, table)
    return spread
