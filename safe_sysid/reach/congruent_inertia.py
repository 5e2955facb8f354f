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
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.reach.joint_geometry import AXIS, BACK, INTO, LEVER
from safe_sysid.reach.joint_geometry import TURN as CROSS_AXIS
from safe_sysid.reach.motion_transport import ALIGNED, MOTION, PRISMATIC, TransportJoints
from safe_sysid.sets.ball_polynomials import add_ball_product, part_norm
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.elementary import SINE_MARGIN
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.steps import Steps
from safe_sysid.sets.taylor_kernels import add_interval, add_scaled, clear, copy, norm, rounded_up
from safe_sysid.sets.taylor_vectors import add_linear, clear_vector

STATE = 3  # rows of a joint: cosine, sine, position
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
    """Fill rows and change, step by step."""
    for t in range(steps[0], steps[1]):
        _congruence_at(t, sets, bodies, joints, weights, table, rows, change)


@part_jit
def _congruence_at(
    t: int,
    sets: Ellipsoids,
    bodies: BodyParameters,
    joints: TransportJoints,
    weights: Array,
    table: IntArray,
    rows: Array,
    change: Array,
) -> None:
    n, width = rows.shape[1], rows.shape[3]
    pool, moves = np.zeros((_result(n) + n * n, width)), np.zeros((n, n), dtype=np.bool_)
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    X, G = sets.X[t].copy(), sets.G[t].copy()
    linear = np.zeros((n, MOTION, n + 3))
    for i in range(n):
        _set_state(pool, sets.center[t, i], G[i], i, own.kind[i], weights, table)
    for i in range(n):
        _set_motions(pool, own, X, i, moves, weights, table)
        for a in range(n):
            _set_linear(pool, _motion(n, a, i), linear[a], weights, table)
        _add_energies(pool, bodies.middle[i], i, moves, weights, table)
        for b in range(n):
            for a in range(b + 1):
                if moves[a, i] and moves[b, i]:
                    change[t, a, b] += _change(linear[a], linear[b], bodies.radius[i])
    for a in range(n):
        for b in range(a, n):
            _add_armature_less_one(pool, X, bodies.armature, a, b)
            change[t, b, a] = change[t, a, b]
            for m in range(width):
                rows[t, a, b, m] = pool[_result(n) + n * a + b, m]


@jit
def _set_motions(
    pool: Array,
    joints: TransportJoints,
    X: Array,
    i: int,
    moves: AnyArray,
    weights: Array,
    table: IntArray,
) -> None:
    """Motions of body i under every rate, and which are not zero."""
    n, up = len(X), joints.parent[i]
    for a in range(n):
        below = up >= 0 and moves[a, up]
        moves[a, i] = below or X[a, i] != 0.0
        if below:
            _to_child(pool, joints, i, _motion(n, a, up), _motion(n, a, i), weights, table)
        _add_own_rate(pool, joints, X[a, i], i, _motion(n, a, i))


@part_jit
def _add_energies(
    pool: Array, body: Array, i: int, moves: AnyArray, weights: Array, table: IntArray
) -> None:
    """Add v_a' I v_b of body i to the entries a <= b."""
    n = len(moves)
    for b in range(n):
        if moves[b, i]:
            _set_momentum(pool, body, _motion(n, b, i), _work(n))
            for a in range(b + 1):
                if moves[a, i]:
                    first, out = _motion(n, a, i), _result(n) + n * a + b
                    for r in range(MOTION):
                        add_ball_product(pool, first + r, _work(n) + r, 1.0, out, weights, table)


@part_jit
def _add_armature_less_one(pool: Array, X: Array, armature: Array, a: int, b: int) -> None:
    """Add the entry of X diag(Ia) X' - 1."""
    n = len(X)
    one = 1.0 if a == b else 0.0
    total, size = -one, one
    for j in range(n):
        term = X[a, j] * armature[j] * X[b, j]
        total += term
        size += abs(term)
    add_interval(pool, total, (2.0 * n + 8.0) * EPS * size, _result(n) + n * a + b)


@jit
def _motion(n: int, a: int, i: int) -> int:
    """First row of the motion of body i under rate a; i = -1 is the base, which has none."""
    return STATE * n + MOTION * ((n + 1) * a + i + 1)


@jit
def _work(n: int) -> int:
    return _motion(n, n, -1)  # type: ignore[no-any-return]


@jit
def _result(n: int) -> int:
    return _work(n) + WORK  # type: ignore[no-any-return]


@part_jit
def _set_state(
    pool: Array, center: float, G: Array, j: int, kind: int, weights: Array, table: IntArray
) -> None:
    """Cosine and sine of q_c + d, d = G z, by Taylor's formula to the degree there is."""
    n, last, D = len(G), pool.shape[1] - 1, table[0]
    state = STATE * j
    d, power, following = _work(n), _work(n) + 1, _work(n) + 2
    for row in (d, power, following, state, state + 1, state + 2):
        clear(pool, row)
    square = 0.0
    for k in range(n):
        pool[d, 1 + k] = G[k]
        square += G[k] * G[k]
    copy(pool, d, state + 2)
    add_interval(pool, center, 0.0, state + 2)
    if kind == PRISMATIC:
        pool[state, 0] = 1.0
        return
    reach = math.sqrt(square) * LINEAR_ROUNDING
    c, s = math.cos(center), math.sin(center)
    error = 2.0 * SINE_MARGIN
    pool[state, 0], pool[state + 1, 0] = c, s
    copy(pool, d, power)
    cosine, sine, factorial, size = -s, c, 1.0, reach
    for m in range(1, D + 1):
        add_scaled(pool, power, cosine / factorial, error / factorial, state)
        add_scaled(pool, power, sine / factorial, error / factorial, state + 1)
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
    pool[state, last] = rounded_up(pool[state, last] + off_cosine, 8)
    pool[state + 1, last] = rounded_up(pool[state + 1, last] + off_sine, 8)


@jit
def _add_own_rate(pool: Array, joints: TransportJoints, rate: float, i: int, out: int) -> None:
    """Add the motion of joint i itself at a rate."""
    joint = joints.geometry[i]
    own = 0 if joints.kind[i] == PRISMATIC else 3
    for r in range(3):
        center, radius = joint[AXIS, 0, 0, r], joint[AXIS, 1, 0, r]
        if rate != 0.0 and abs(center) + radius > 0.0:
            slack = (abs(center) * EPS + radius) * abs(rate)
            add_interval(pool, center * rate, slack, out + own + r)


@jit
def _to_child(
    pool: Array,
    joints: TransportJoints,
    i: int,
    a: int,
    out: int,
    weights: Array,
    table: IntArray,
) -> None:
    """Enclose motion a of the frame below in the frame of joint i, as in `motion_transport`."""
    joint, kind = joints.geometry[i], joints.kind[i]
    state, work = STATE * i, _work(len(joints.parent))
    for r in range(MOTION):
        clear(pool, work + r)
        clear(pool, out + r)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a, work)
    add_linear(pool, joint[LEVER, 0], joint[LEVER, 1], a + 3, work)
    add_linear(pool, joint[INTO, 0], joint[INTO, 1], a + 3, work + 3)
    if kind == PRISMATIC:
        for r in range(MOTION):
            copy(pool, work + r, out + r)
        clear_vector(pool, work)
        add_linear(pool, joint[CROSS_AXIS, 0], joint[CROSS_AXIS, 1], out + 3, work)
        for r in range(3):
            add_ball_product(pool, state + 2, work + r, 1.0, out + r, weights, table)
        return
    for r in range(0, MOTION, 3):
        if kind == ALIGNED:
            _turn_about_z(pool, state, work + r, out + r, weights, table)
        else:
            _turn_about_z(pool, state, work + r, work + 6 + r, weights, table)
            add_linear(pool, joint[BACK, 0], joint[BACK, 1], work + 6 + r, out + r)


@jit
def _turn_about_z(
    pool: Array, state: int, a: int, out: int, weights: Array, table: IntArray
) -> None:
    """Enclose Rz' a; rows state and state + 1 are the cosine and the sine."""
    clear(pool, out)
    clear(pool, out + 1)
    copy(pool, a + 2, out + 2)
    for r in range(2):
        add_ball_product(pool, state, a + r, 1.0, out + r, weights, table)
    add_ball_product(pool, state + 1, a + 1, 1.0, out, weights, table)
    add_ball_product(pool, state + 1, a, -1.0, out + 1, weights, table)


@jit
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
        row = matrix[r]
        radius = rounding = 0.0
        for c in range(MOTION):
            radius += abs(row[c]) * pool[motion + c, last]
            rounding += abs(row[c]) * norm(pool, motion + c, 0, last)
        for i in range(last):
            total = 0.0
            for c in range(MOTION):
                total += row[c] * pool[motion + c, i]
            pool[out + r, i] = total
        pool[out + r, last] = rounded_up(radius + 8.0 * EPS * rounding, last)


@part_jit
def _set_linear(pool: Array, motion: int, linear: Array, weights: Array, table: IntArray) -> None:
    """Constant, linear terms, their 2-norm and a bound of the rest, for each row of a motion."""
    last, n = pool.shape[1] - 1, linear.shape[1] - 3
    for r in range(MOTION):
        row = motion + r
        for m in range(n + 1):
            linear[r, m] = pool[row, m]
        linear[r, n + 1] = part_norm(pool, row, 1, weights, table)
        rest = pool[row, last]
        for e in range(2, table[0] + 1):
            rest += part_norm(pool, row, e, weights, table)
        linear[r, n + 2] = rest


@jit
def _change(x: Array, y: Array, radius: Array) -> float:
    """Largest absolute value of what the parameters of one body may change in an entry."""
    sums = np.zeros(x.shape[1])
    for r in range(3):
        _add_product(x[r], y[r], 1.0, sums)
    total = radius[0] * _largest(sums)
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        sums[:] = 0.0
        _add_product(x[up], y[3 + down], 1.0, sums)
        _add_product(x[down], y[3 + up], -1.0, sums)
        _add_product(y[up], x[3 + down], 1.0, sums)
        _add_product(y[down], x[3 + up], -1.0, sums)
        total += radius[1 + r] * _largest(sums)
    entry = 4
    for c in range(3):  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz
        for r in range(c + 1):
            sums[:] = 0.0
            _add_product(x[3 + r], y[3 + c], 1.0, sums)
            if r < c:
                _add_product(x[3 + c], y[3 + r], 1.0, sums)
            total += radius[entry] * _largest(sums)
            entry += 1
    return total * LINEAR_ROUNDING  # type: ignore[no-any-return]


@jit
def _add_product(x: Array, y: Array, sign: float, sums: Array) -> None:
    """Add x y to constant and linear terms, and what is not linear in it to the remainder."""
    n = len(x) - 3
    if x[0] == 0.0 and x[n + 1] + x[n + 2] == 0.0:
        return
    sums[0] += sign * x[0] * y[0]
    for k in range(1, n + 1):
        sums[k] += sign * (x[0] * y[k] + x[k] * y[0])
    away_x, away_y = x[n + 1] + x[n + 2], y[n + 1] + y[n + 2]
    sums[n + 1] += abs(x[0]) * y[n + 2] + x[n + 2] * abs(y[0]) + away_x * away_y
    sums[n + 2] += (abs(x[0]) + away_x) * (abs(y[0]) + away_y)


@jit
def _largest(sums: Array) -> float:
    """Largest absolute value over the ball; rounding is a share of what was added up."""
    n = len(sums) - 3
    square = 0.0
    for k in range(1, n + 1):
        square += sums[k] * sums[k]
    exact = abs(sums[0]) + math.sqrt(square) + sums[n + 1]
    return exact * LINEAR_ROUNDING + ABSOLUTE * n * sums[n + 2]  # type: ignore[no-any-return]
