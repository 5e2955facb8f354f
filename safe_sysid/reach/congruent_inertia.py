"""Compiled: X H(q) X' as polynomials over an ellipsoid of positions.

The positions are q = q_c + G z with |z| <= 1 in 2-norm, rows of `ball_polynomials`. A row x_a of
X is a rate of all joints; the motions v_i of the bodies under it follow joint by joint,

    v_i = (motion of the joint below, in the frame of joint i) + s_i x_ai,

and (X H X')_ab = sum_i v_i(x_a)' I_i v_i(x_b). X is inside from the beginning, so that what
cancels does so before anything is rounded or dropped; for an upper triangular X motions with i < a
are zero and cost nothing. v_i(x_a) depends on the positions after the first joint with a rate in
x_a. If G is upper triangular as well, these depend on z_(a+1), ..., z_n only, and nothing is
computed for the variables before (`_first_variables`).

LANES time steps at a time are the lanes of one pool. Motions of a body take the place of those of
its parent when no other body is left that needs them: a chain has one place, a tree one a branch.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.reach.inertia_change import LINEAR_ROUNDING, add_changes
from safe_sysid.reach.joint_geometry import AXIS, BACK, INTO, LEVER
from safe_sysid.reach.joint_geometry import TURN as CROSS_AXIS
from safe_sysid.reach.motion_transport import ALIGNED, MOTION, PRISMATIC, TransportJoints
from safe_sysid.sets.ball_polynomials import (
    Rows,
    add_ball_linear,
    add_ball_product,
    add_ball_products,
    clear_row,
    first_of,
    row_norm,
    set_part_norms,
)
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.elementary import SINE_MARGIN
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES, anywhere, lane_pool
from safe_sysid.sets.steps import Steps
from safe_sysid.sets.taylor_kernels import add_interval, add_scaled, clear, copy, rounded_up

COSINE, SINE, POSITION = 0, 1, 2  # rows of the joint that motions are taken over
STATE = 3
WORK = 12


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


class Motions(NamedTuple):
    """What is known of the motions of all bodies under every rate, of each in some lane."""

    are: AnyArray  # (n, n) bool: body i moves under rate a
    since: IntArray  # (n,) first variable on which motions under rate a depend


class Congruence(NamedTuple):
    """Enclosure of X (H + diag(Ia)) X' - 1 for the middle of theta, and bounds of its changes."""

    middle: Array  # (S, n, n) constant terms of the entries, which are polynomials in z
    radius: Array  # (S, n, n) of the entries
    squares: Array  # (S, D, n, n) sum of B_i B_i / m_i over the coefficients B_i of a degree
    change: Array  # (S, n, n) largest absolute value of what theta may change in an entry


@jit
def congruence_into(
    steps: Steps,
    sets: Ellipsoids,
    bodies: BodyParameters,
    joints: TransportJoints,
    weights: Array,
    table: IntArray,
    found: Congruence,
) -> None:
    """Fill what is found, LANES steps at a time; copies are those of `newton_euler`."""
    n, D = found.middle.shape[1], table[0]
    place = _places(joints.parent)
    first_result = _motion(n, place.max() + 1, 0) + WORK
    memory = np.zeros((first_result + n * n, table[3 + D] + 1, LANES))
    given, terms = np.zeros((3 * n, n + 1, LANES)), np.zeros((MOTION * n + 1, n + 3, LANES))
    changes, squares = np.zeros((n * n, 1, LANES)), np.zeros((n * n, D, LANES))
    pool, parts = lane_pool(memory), lane_pool(np.zeros((first_result, D, LANES)))
    moves, since = np.zeros((n, n), dtype=np.bool_), np.zeros(n, dtype=np.int64)
    motions = Motions(moves, since)
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    middle, radius = bodies.middle.copy(), bodies.radius.copy()
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        _take(sets, first, last, given)
        _first_variables(lane_pool(given), since)
        memory[first_result:] = 0.0
        changes[:] = 0.0
        for i in range(n):
            at = _motion(n, place[i], 0)
            _set_state(pool, lane_pool(given), i, own.kind[i], weights, table)
            _set_motions(pool, own, lane_pool(given), i, place, motions, weights, table)
            _set_norms(pool, parts, at, i, motions, weights, table)
            _add_energies(pool, parts, middle[i], at, i, motions, weights, table)
            work, sums = lane_pool(terms), lane_pool(changes)
            add_changes(pool, parts, radius[i], at, moves[:, i], since, work, sums)
        for a in range(n):
            for b in range(a, n):
                _add_armature_less_one(pool, lane_pool(given), bodies.armature, a, b)
        _set_squares(pool, since, weights, table, lane_pool(squares))
        _keep(memory[first_result:], changes, squares, first, last, found)


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
            given[2 * n + i, 0, lane] = math.cos(center)
            given[2 * n + i, 1, lane] = math.sin(center)
            for k in range(n):
                given[i, 1 + k, lane], given[n + i, k, lane] = sets.G[t, i, k], sets.X[t, i, k]


@part_jit
def _first_variables(given: Array, since: IntArray) -> None:
    """First variable of the positions that come after the first joint with a rate in x_a."""
    n = len(since)
    for a in range(n):
        is_after, least = False, n
        for j in range(n):
            k = 0
            while is_after and k < least:
                if anywhere(given[j, 1 + k] != 0.0):
                    least = k
                k += 1
            is_after = is_after or anywhere(given[n + a, j] != 0.0)
        since[a] = least


@part_jit
def _set_squares(
    pool: Array, since: IntArray, weights: Array, table: IntArray, squares: Array
) -> None:
    """Sum B_i B_i / m_i over the coefficients B_i of each degree, for entries a <= b."""
    n = len(since)
    for a in range(n):
        for b in range(a, n):
            for e in range(1, table[0] + 1):
                squares[n * a + b, e - 1] = 0.0
            for k in range(n):
                x = _result(pool, n) + n * min(a, k) + max(a, k)
                y = _result(pool, n) + n * min(b, k) + max(b, k)
                both = max(min(since[a], since[k]), min(since[b], since[k]))
                for e in range(1, table[0] + 1):
                    total = squares[n * a + b, e - 1]
                    for i in range(first_of(table, both, e), table[3 + e]):
                        total += weights[i] * pool[x, i] * pool[y, i]
                    squares[n * a + b, e - 1] = total


@part_jit
def _keep(
    results: Array, changes: Array, squares: Array, first: int, last: int, found: Congruence
) -> None:
    """Copy what was found of entries a <= b out of lanes, to b, a too."""
    n, width = found.middle.shape[1], results.shape[1]
    for t in range(first, last + 1):
        for a in range(n):
            for b in range(n):
                entry, lane = n * min(a, b) + max(a, b), t - first
                found.middle[t, a, b] = results[entry, 0, lane]
                found.radius[t, a, b] = results[entry, width - 1, lane]
                found.change[t, a, b] = changes[entry, 0, lane]
                for e in range(squares.shape[1]):
                    found.squares[t, e, a, b] = squares[entry, e, lane]


@part_jit
def _set_motions(
    pool: Array,
    joints: TransportJoints,
    given: Array,
    i: int,
    place: IntArray,
    motions: Motions,
    weights: Array,
    table: IntArray,
) -> None:
    """Motions of body i under every rate, and which are not zero."""
    n, up, moves = len(place), joints.parent[i], motions.are
    for a in range(n):
        below = up >= 0 and moves[a, up]
        rate, out = given[n + a, i], _motion(n, place[i], a)
        moves[a, i] = below or anywhere(rate != 0.0)
        if below:
            motion = Rows(_motion(n, place[up], a), motions.since[a])
            _to_child(pool, joints, i, motion, out, weights, table)
        else:
            for r in range(MOTION):
                clear(pool, out + r)
        _add_own_rate(pool, joints, rate, i, out)


@part_jit
def _set_norms(
    pool: Array,
    parts: Array,
    at: int,
    i: int,
    motions: Motions,
    weights: Array,
    table: IntArray,
) -> None:
    """Norms of the homogeneous parts of the motions of body i, which begin at a row."""
    for a in range(len(motions.since)):
        if motions.are[a, i]:
            for r in range(MOTION):
                row = at + MOTION * a + r
                set_part_norms(pool, row, motions.since[a], parts, weights, table)


@part_jit
def _add_energies(
    pool: Array,
    parts: Array,
    body: Array,
    at: int,
    i: int,
    motions: Motions,
    weights: Array,
    table: IntArray,
) -> None:
    """Add v_a' I v_b of body i to the entries a <= b; its motions begin at a row."""
    n = len(motions.since)
    for b in range(n):
        if motions.are[b, i]:
            momentum = Rows(_work(pool, n), motions.since[b])
            _set_momentum(pool, body, Rows(at + MOTION * b, momentum.since), momentum.first, table)
            for r in range(MOTION):
                set_part_norms(pool, momentum.first + r, momentum.since, parts, weights, table)
            for a in range(b + 1):
                if motions.are[a, i]:
                    out, motion = (
                        _result(pool, n) + n * a + b,
                        Rows(at + MOTION * a, motions.since[a]),
                    )
                    add_ball_products(pool, parts, motion, momentum, MOTION, out, table)


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
            add_ball_product(pool, d, power, 1.0, following, 0, weights, table)
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
    motion: Rows,
    out: int,
    weights: Array,
    table: IntArray,
) -> None:
    """Enclose a motion of the frame below in the frame of joint i, as in `motion_transport`.

    `out` may be the motion.
    """
    joint, kind = joints.geometry[i], joints.kind[i]
    work, a, since = _work(pool, len(joints.parent)), motion.first, motion.since
    for r in range(MOTION):
        clear_row(pool, work + r, since, table)
    add_ball_linear(pool, joint[INTO], a, work, since, table)
    add_ball_linear(pool, joint[LEVER], a + 3, work, since, table)
    add_ball_linear(pool, joint[INTO], a + 3, work + 3, since, table)
    if kind == PRISMATIC:
        for r in range(MOTION):
            copy(pool, work + r, out + r)
        for r in range(3):
            clear_row(pool, work + r, since, table)
        add_ball_linear(pool, joint[CROSS_AXIS], out + 3, work, since, table)
        for r in range(3):
            add_ball_product(pool, POSITION, work + r, 1.0, out + r, since, weights, table)
        return
    for r in range(0, MOTION, 3):
        if kind == ALIGNED:
            _turn_about_z(pool, work + r, out + r, since, weights, table)
        else:
            _turn_about_z(pool, work + r, work + 6 + r, since, weights, table)
            for row in range(3):
                clear_row(pool, out + r + row, since, table)
            add_ball_linear(pool, joint[BACK], work + 6 + r, out + r, since, table)


@jit
def _turn_about_z(
    pool: Array, a: int, out: int, since: int, weights: Array, table: IntArray
) -> None:
    """Enclose Rz' a, which is not `out`."""
    clear_row(pool, out, since, table)
    clear_row(pool, out + 1, since, table)
    copy(pool, a + 2, out + 2)
    for r in range(2):
        add_ball_product(pool, COSINE, a + r, 1.0, out + r, since, weights, table)
    add_ball_product(pool, SINE, a + 1, 1.0, out, since, weights, table)
    add_ball_product(pool, SINE, a, -1.0, out + 1, since, weights, table)


@part_jit
def _set_momentum(pool: Array, body: Array, motion: Rows, out: int, table: IntArray) -> None:
    """Set out to I v: force m l + w x mc, moment mc x l + I w; sums of at most five products."""
    last, since = pool.shape[1] - 1, motion.since
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
        clear_row(pool, out + r, since, table)
    for c in range(MOTION):
        size = row_norm(pool, motion.first + c, since, table)
        slack = pool[motion.first + c, last] + 8.0 * EPS * size
        for r in range(MOTION):
            factor = matrix[r][c]
            if factor != 0.0:
                for e in range(table[0] + 1):
                    for i in range(first_of(table, since, e), table[3 + e]):
                        pool[out + r, i] += factor * pool[motion.first + c, i]
                pool[out + r, last] += abs(factor) * slack
    for r in range(MOTION):
        pool[out + r, last] = rounded_up(pool[out + r, last], last)
