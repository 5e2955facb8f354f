"""Compiled: X H(q) X' as polynomials over an ellipsoid of positions, and what theta may change.

The positions are q = q_c + G z with |z| <= 1 in 2-norm, rows of `ball_polynomials`. A row x_a of
X is a rate of all joints; the motions v_i of the bodies under it follow joint by joint,

    v_i = (motion of the joint below, in the frame of joint i) + s_i x_ai,

and (X H X')_ab = sum_i v_i(x_a)' I_i v_i(x_b). X is inside from the beginning, so that what
cancels does so before anything is rounded or dropped; for an upper triangular X motions with i < a
are zero and cost nothing.

With motions (l, w) an entry of theta changes v_a' I v_b by

    m: l_a . l_b     m c: l_a x w_b + l_b x w_a     I_rc: w_ar w_bc + w_ac w_br (once if r = c)

whose largest value over the ball is that of constant and linear terms, |c| + |g|, and a remainder.

LANES time steps at a time are the lanes of one pool. Motions of a body take the place of those of
its parent when no other body is left that needs them: a chain has one place, a tree one a branch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.reach.joint_geometry import AXIS, BACK, INTO, LEVER
from safe_sysid.reach.joint_geometry import TURN as CROSS_AXIS
from safe_sysid.reach.motion_transport import ALIGNED, MOTION, PRISMATIC, TransportJoints
from safe_sysid.sets.ball_polynomials import (
    add_ball_product,
    add_ball_products,
    set_part_norms,
)
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.elementary import SINE_MARGIN
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES, anywhere, lane_pool
from safe_sysid.sets.steps import Steps
from safe_sysid.sets.taylor_kernels import add_interval, add_scaled, clear, copy, norm, rounded_up
from safe_sysid.sets.taylor_vectors import add_linear, clear_vector

COSINE, SINE, POSITION = 0, 1, 2  # rows of the joint that motions are taken over
STATE = 3
WORK = 12
LINEAR_ROUNDING = 1.0 + 1e-12  # of sums of non-negative terms here, a few hundred deep
ABSOLUTE = 64.0 * EPS  # times the absolute values of what a difference is made of


class Ellipsoids(NamedTuple):
    """Positions q_c + G z, |z| <= 1, of S time steps, and the X of each."""

    center: Array  # (S, n)
    G: Array  # (S, n, n)
    X: Array  # (S, n, n)


class BodyParameters(NamedTuple):
    """Inertial parameters in the middle of their bounds and their radii, and least armatures."""

    middle: Array  # (n, 10)
    radius: Array  # (n, 10)
    armature: Array  # (n,)


class Congruence(NamedTuple):
    """Enclosure of X (H + diag(Ia)) X' - 1 for the middle of theta, and bounds of its changes."""

    rows: Array  # (S, n, n, M + 1) entries a <= b, polynomials in z
    change: Array  # (S, n, n) largest absolute value of what theta may change in an entry


@jit
def congruence_into(
    steps: Steps,
    sets: Ellipsoids,
    bodies: BodyParameters,
    joints: TransportJoints,
    weights: Array,
    table: IntArray,
    rows: Array,
    change: Array,
) -> None:
    """Fill rows and change, LANES steps at a time; copies are those of `newton_euler`."""
    n, width = rows.shape[1], rows.shape[3]
    place = _places(joints.parent)
    first_result = _motion(n, place.max() + 1, 0) + WORK
    memory = np.zeros((first_result + n * n, width, LANES))
    given, terms = np.zeros((3 * n, n + 1, LANES)), np.zeros((MOTION * n + 1, n + 3, LANES))
    changes = np.zeros((n * n, 1, LANES))
    pool, parts = lane_pool(memory), lane_pool(np.zeros((first_result, table[0], LANES)))
    moves = np.zeros((n, n), dtype=np.bool_)
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    middle, radius = bodies.middle.copy(), bodies.radius.copy()
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        _take(sets, first, last, given)
        memory[first_result:] = 0.0
        changes[:] = 0.0
        for i in range(n):
            at = _motion(n, place[i], 0)
            _set_state(pool, lane_pool(given), i, own.kind[i], weights, table)
            _set_motions(pool, own, lane_pool(given), i, place, moves, weights, table)
            _set_norms(pool, parts, at, moves[:, i], weights, table)
            _add_energies(pool, parts, middle[i], at, moves[:, i], weights, table)
            _add_changes(
                pool, parts, radius[i], at, moves[:, i], lane_pool(terms), lane_pool(changes)
            )
        for a in range(n):
            for b in range(a, n):
                _add_armature_less_one(pool, lane_pool(given), bodies.armature, a, b)
        _keep(memory[first_result:], changes, first, last, rows, change)


@part_jit
def _places(parent: IntArray) -> IntArray:
    """Places of the motions of each body."""
    n = len(parent)
    place, taken = np.zeros(n, dtype=np.int64), 0
    for i in range(n):
        is_free = parent[i] >= 0
        for other in range(i + 1, n):
            is_free &= parent[other] != parent[i]
        if is_free:
            place[i] = place[parent[i]]
        else:
            place[i] = taken
            taken += 1
    return place


@part_jit
def _take(sets: Ellipsoids, first: int, last: int, given: Array) -> None:
    """Copy q_c and G, X, and cosine and sine of q_c into lanes; without a step, the last one."""
    n = sets.center.shape[1]
    for lane in range(LANES):
        t = min(first + lane, last)
        for i in range(n):
            center = sets.center[t, i]
            given[i, 0, lane] = center
            given[2 * n + i, 0, lane], given[2 * n + i, 1, lane] = (
                math.cos(center),
                math.sin(center),
            )
            for k in range(n):
                given[i, 1 + k, lane], given[n + i, k, lane] = sets.G[t, i, k], sets.X[t, i, k]


@part_jit
def _keep(
    results: Array, changes: Array, first: int, last: int, rows: Array, change: Array
) -> None:
    """Copy entries a <= b and what theta may change out of lanes."""
    n, width = rows.shape[1], rows.shape[3]
    for t in range(first, last + 1):
        for a in range(n):
            for b in range(a, n):
                for m in range(width):
                    rows[t, a, b, m] = results[n * a + b, m, t - first]
                change[t, a, b] = change[t, b, a] = changes[n * a + b, 0, t - first]


@part_jit
def _set_motions(
    pool: Array,
    joints: TransportJoints,
    given: Array,
    i: int,
    place: IntArray,
    moves: AnyArray,
    weights: Array,
    table: IntArray,
) -> None:
    """Motions of body i under every rate, and which are not zero."""
    n, up = len(place), joints.parent[i]
    for a in range(n):
        below = up >= 0 and moves[a, up]
        rate, out = given[n + a, i], _motion(n, place[i], a)
        moves[a, i] = below or anywhere(rate != 0.0)
        if below:
            _to_child(pool, joints, i, _motion(n, place[up], a), out, weights, table)
        else:
            for r in range(MOTION):
                clear(pool, out + r)
        _add_own_rate(pool, joints, rate, i, out)


@part_jit
def _set_norms(
    pool: Array, parts: Array, at: int, moves: AnyArray, weights: Array, table: IntArray
) -> None:
    """Norms of the homogeneous parts of motions."""
    for a in range(len(moves)):
        if moves[a]:
            for r in range(MOTION):
                set_part_norms(pool, at + MOTION * a + r, parts, weights, table)


@part_jit
def _add_energies(
    pool: Array,
    parts: Array,
    body: Array,
    at: int,
    moves: AnyArray,
    weights: Array,
    table: IntArray,
) -> None:
    """Add v_a' I v_b of a body to the entries a <= b; its motions begin at a row."""
    n = len(moves)
    for b in range(n):
        if moves[b]:
            momentum = _work(pool, n)
            _set_momentum(pool, body, at + MOTION * b, momentum)
            for r in range(MOTION):
                set_part_norms(pool, momentum + r, parts, weights, table)
            for a in range(b + 1):
                if moves[a]:
                    out = _result(pool, n) + n * a + b
                    add_ball_products(pool, parts, at + MOTION * a, momentum, MOTION, out, table)


@part_jit
def _add_changes(
    pool: Array,
    parts: Array,
    radius: Array,
    at: int,
    moves: AnyArray,
    terms: Array,
    changes: Array,
) -> None:
    """Add what the parameters of one body may change in the entries a <= b."""
    n = len(moves)
    if not np.any(radius != 0.0):
        return
    for a in range(n):
        if moves[a]:
            _set_linear(pool, parts, at + MOTION * a, terms, MOTION * a)
    for b in range(n):
        for a in range(b + 1):
            if moves[a] and moves[b]:
                changes[n * a + b, 0] += _change(terms, MOTION * a, MOTION * b, radius)


@part_jit
def _add_armature_less_one(pool: Array, given: Array, armature: Array, a: int, b: int) -> None:
    """Add the entry of X diag(Ia) X' - 1."""
    n = len(armature)
    one = 1.0 if a == b else 0.0
    total, size = -one, one
    for j in range(n):
        term = given[n + a, j] * armature[j] * given[n + b, j]
        total += term
        size += abs(term)
    add_interval(pool, total, (2.0 * n + 8.0) * EPS * size, _result(pool, n) + n * a + b)


@jit
def _motion(n: int, place: int, a: int) -> int:
    """First row of the motion under rate a at a place."""
    return STATE + MOTION * (n * place + a)


@jit
def _result(pool: Array, n: int) -> int:
    """First of the n n last rows, the entries."""
    return pool.shape[0] - n * n  # type: ignore[no-any-return]


@jit
def _work(pool: Array, n: int) -> int:
    return _result(pool, n) - WORK  # type: ignore[no-any-return]


@part_jit
def _set_state(
    pool: Array, given: Array, j: int, kind: int, weights: Array, table: IntArray
) -> None:
    """Cosine and sine of q_c + d, d = G z, by Taylor's formula to the degree there is."""
    n, last, D = given.shape[1] - 1, pool.shape[1] - 1, table[0]
    d = _work(pool, n)
    power, following = d + 1, d + 2
    for row in range(STATE):
        clear(pool, row)
        clear(pool, d + row)
    square = 0.0
    for k in range(1, n + 1):
        pool[d, k] = given[j, k]
        square += given[j, k] * given[j, k]
    copy(pool, d, POSITION)
    add_interval(pool, given[j, 0], 0.0, POSITION)
    if kind == PRISMATIC:
        pool[COSINE, 0] = 1.0
        return
    reach = math.sqrt(square) * LINEAR_ROUNDING
    c, s = given[2 * n + j, 0], given[2 * n + j, 1]
    error = 2.0 * SINE_MARGIN
    pool[COSINE, 0], pool[SINE, 0] = c, s
    copy(pool, d, power)
    cosine, sine, factorial, size = -s, c, 1.0, reach
    for m in range(1, D + 1):
        add_scaled(pool, power, cosine / factorial, error / factorial, COSINE)
        add_scaled(pool, power, sine / factorial, error / factorial, SINE)
        cosine, sine = -sine, cosine
        factorial *= m + 1.0
        size *= reach
        if m < D:
            clear(pool, following)
            add_ball_product(pool, d, power, 1.0, following, weights, table)
            power, following = following, power
    lagrange = size / factorial
    far = min(reach, 1.0) + error
    off_cosine = lagrange * min(1.0, abs(cosine) + abs(sine) * far + error) + error
    off_sine = lagrange * min(1.0, abs(sine) + abs(cosine) * far + error) + error
    pool[COSINE, last] = rounded_up(pool[COSINE, last] + off_cosine, 8)
    pool[SINE, last] = rounded_up(pool[SINE, last] + off_sine, 8)


@part_jit
def _add_own_rate(pool: Array, joints: TransportJoints, rate: float, i: int, out: int) -> None:
    """Add the motion of joint i itself at a rate."""
    joint = joints.geometry[i]
    own = 0 if joints.kind[i] == PRISMATIC else 3
    for r in range(3):
        center, radius = joint[AXIS, 0, 0, r], joint[AXIS, 1, 0, r]
        if anywhere(rate != 0.0) and abs(center) + radius > 0.0:
            slack = (abs(center) * EPS + radius) * abs(rate)
            add_interval(pool, center * rate, slack, out + own + r)


@part_jit
def _to_child(
    pool: Array,
    joints: TransportJoints,
    i: int,
    a: int,
    out: int,
    weights: Array,
    table: IntArray,
) -> None:
    """Enclose motion a of the frame below in the frame of joint i, as in `motion_transport`.

    `out` may be a.
    """
    joint, kind = joints.geometry[i], joints.kind[i]
    work = _work(pool, len(joints.parent))
    for r in range(MOTION):
        clear(pool, work + r)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a, work)
    add_linear(pool, joint[LEVER, 0], joint[LEVER, 1], a + 3, work)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a + 3, work + 3)
    for r in range(MOTION):
        clear(pool, out + r)
    if kind == PRISMATIC:
        for r in range(MOTION):
            copy(pool, work + r, out + r)
        clear_vector(pool, work)
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], out + 3, work)
        for r in range(3):
            add_ball_product(pool, POSITION, work + r, 1.0, out + r, weights, table)
        return
    for r in range(0, MOTION, 3):
        if kind == ALIGNED:
            _turn_about_z(pool, work + r, out + r, weights, table)
        else:
            _turn_about_z(pool, work + r, work + 6 + r, weights, table)
            add_linear(pool, joint[BACK, 0], joint[BACK, 1], work + 6 + r, out + r)


@jit
def _turn_about_z(pool: Array, a: int, out: int, weights: Array, table: IntArray) -> None:
    """Enclose Rz' a, which is not `out`."""
    clear(pool, out)
    clear(pool, out + 1)
    copy(pool, a + 2, out + 2)
    for r in range(2):
        add_ball_product(pool, COSINE, a + r, 1.0, out + r, weights, table)
    add_ball_product(pool, SINE, a + 1, 1.0, out, weights, table)
    add_ball_product(pool, SINE, a, -1.0, out + 1, weights, table)


@part_jit
def _set_momentum(pool: Array, body: Array, motion: int, out: int) -> None:
    """Set out to I v: force m l + w x mc, moment mc x l + I w; sums of at most five products."""
    last = pool.shape[1] - 1
    m, x, y, z, about = body[0], body[1], body[2], body[3], body[4:]
    matrix = (
        (m, 0.0, 0.0, 0.0, z, -y),
        (0.0, m, 0.0, -z, 0.0, x),
        (0.0, 0.0, m, y, -x, 0.0),
        (0.0, -z, y, about[0], about[1], about[3]),
        (z, 0.0, -x, about[1], about[2], about[4]),
        (-y, x, 0.0, about[3], about[4], about[5]),
    )
    for r in range(MOTION):
        clear(pool, out + r)
    for c in range(MOTION):
        size = norm(pool, motion + c, 0, last)
        for r in range(MOTION):
            factor = matrix[r][c]
            if factor != 0.0:
                for i in range(last):
                    pool[out + r, i] += factor * pool[motion + c, i]
                slack = pool[motion + c, last] + 8.0 * EPS * size
                pool[out + r, last] += abs(factor) * slack
    for r in range(MOTION):
        pool[out + r, last] = rounded_up(pool[out + r, last], last)


@part_jit
def _set_linear(pool: Array, parts: Array, motion: int, terms: Array, first: int) -> None:
    """Constant, linear terms, their 2-norm and a bound of the rest, for each row of a motion."""
    n = terms.shape[1] - 3
    for r in range(MOTION):
        row, out = motion + r, first + r
        for m in range(n + 1):
            terms[out, m] = pool[row, m]
        terms[out, n + 1] = parts[row, 0]
        rest = pool[row, pool.shape[1] - 1]
        for e in range(1, parts.shape[1]):
            rest += parts[row, e]
        terms[out, n + 2] = rest


@part_jit
def _change(terms: Array, x: int, y: int, radius: Array) -> float:
    """Largest absolute value of what the parameters of one body may change in an entry."""
    sums = terms.shape[0] - 1
    clear(terms, sums)
    for r in range(3):
        _add_product(terms, x + r, y + r, 1.0, sums)
    total = radius[0] * _largest(terms, sums)
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        clear(terms, sums)
        _add_product(terms, x + up, y + 3 + down, 1.0, sums)
        _add_product(terms, x + down, y + 3 + up, -1.0, sums)
        _add_product(terms, y + up, x + 3 + down, 1.0, sums)
        _add_product(terms, y + down, x + 3 + up, -1.0, sums)
        total += radius[1 + r] * _largest(terms, sums)
    entry = 4
    for c in range(3):  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz
        for r in range(c + 1):
            clear(terms, sums)
            _add_product(terms, x + 3 + r, y + 3 + c, 1.0, sums)
            if r < c:
                _add_product(terms, x + 3 + c, y + 3 + r, 1.0, sums)
            total += radius[entry] * _largest(terms, sums)
            entry += 1
    return total * LINEAR_ROUNDING  # type: ignore[no-any-return]


@jit
def _add_product(terms: Array, x: int, y: int, sign: float, sums: int) -> None:
    """Add x y to constant and linear terms, and what is not linear in it to the remainder."""
    n = terms.shape[1] - 3
    constant_x, constant_y = terms[x, 0], terms[y, 0]
    linear_x, linear_y = terms[x, n + 1], terms[y, n + 1]
    rest_x, rest_y = terms[x, n + 2], terms[y, n + 2]
    away_x, away_y = linear_x + rest_x, linear_y + rest_y
    if not anywhere(abs(constant_x) + away_x != 0.0):
        return
    terms[sums, 0] += sign * constant_x * constant_y
    for k in range(1, n + 1):
        terms[sums, k] += sign * (constant_x * terms[y, k] + terms[x, k] * constant_y)
    terms[sums, n + 1] += abs(constant_x) * rest_y + rest_x * abs(constant_y) + away_x * away_y
    terms[sums, n + 2] += (abs(constant_x) + away_x) * (abs(constant_y) + away_y)


@jit
def _largest(terms: Array, sums: int) -> float:
    """Largest absolute value over the ball; rounding is a share of what was added up."""
    n = terms.shape[1] - 3
    square = 0.0
    for k in range(1, n + 1):
        square += terms[sums, k] * terms[sums, k]
    exact = abs(terms[sums, 0]) + math.sqrt(square) + terms[sums, n + 1]
    return exact * LINEAR_ROUNDING + ABSOLUTE * n * terms[sums, n + 2]  # type: ignore[no-any-return]
