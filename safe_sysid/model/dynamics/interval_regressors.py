"""Momentum regressors of positions and velocities that are known to a bounded error.

Every number is a ball: a centre and a radius around it. All operations enclose: the radius of a
result covers the radii of its operands and the rounding of the centre, and is itself inflated by
more than its own rounding. With zero error the radii are the rounding errors alone, about 1e-15
of the entries, so that a regressor from here can be used in a guarantee as it is. The axes and
rotations of the tree are rounded too: what is enclosed is an arm whose axes have length one and
whose rotations are orthonormal. The formulas are those of `regressors`.

Balls are rows of pools: pool[a, 0] is the centre of ball a and pool[a, 1] its radius, numbers for
one sample, `lanes` for several, in each of which is to the last bit what the sample has alone.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import inline_jit, jit
from safe_sysid.sets.lanes import LANES, lane_pool

Ball = tuple[float, float]  # centre, radius

Q, QD, SINE, COSINE, STATE = 0, 1, 2, 3, 4  # rows of a joint in a pool of states
_R, _P, _LEVER, _MOTIONS = 0, 9, 12, 15  # rows of a pose, of what turns with it, of motions
_MOTION = 6  # rows of one: linear, angular

_UNIT = 2.0**-53  # relative rounding error of one operation
_INFLATE = 1.0 + 2.0**-49  # 16 units: a radius here is at most 6 roundings of positive terms
_TINY = 1e-300  # more than what underflow can lose
_SIN_COS = 2.0**-50  # absolute error of sin and cos, 4 units in the last place of 1
_DIRECTION = 2.0**-50  # the same of axes and rotations that were normalised in floats


@inline_jit
def _ball(pool: Array, a: int) -> Ball:
    ball: Ball = (pool[a, 0], pool[a, 1])
    return ball


@inline_jit
def _add(a: Ball, b: Ball) -> Ball:
    m = a[0] + b[0]
    return m, (a[1] + b[1] + _UNIT * abs(m)) * _INFLATE


@inline_jit
def _subtract(a: Ball, b: Ball) -> Ball:
    m = a[0] - b[0]
    return m, (a[1] + b[1] + _UNIT * abs(m)) * _INFLATE


@inline_jit
def _multiply(a: Ball, b: Ball) -> Ball:
    m = a[0] * b[0]
    r = abs(a[0]) * b[1] + a[1] * (abs(b[0]) + b[1]) + _UNIT * abs(m)
    return m, r * _INFLATE + _TINY


@inline_jit
def _store(pool: Array, a: int, ball: Ball) -> None:
    pool[a, 0], pool[a, 1] = ball


@inline_jit
def _accumulate(pool: Array, a: int, ball: Ball) -> None:
    pool[a, 0], pool[a, 1] = _add((pool[a, 0], pool[a, 1]), ball)


@jit
def _clear(pool: Array, first: int, count: int) -> None:
    for a in range(first, first + count):
        pool[a, 0], pool[a, 1] = 0.0, 0.0


@inline_jit
def _cross_entry(pool: Array, a: int, b: int, c: int, d: int) -> Ball:
    """Rows a b - c d."""
    difference: Ball = _subtract(
        _multiply(_ball(pool, a), _ball(pool, b)), _multiply(_ball(pool, c), _ball(pool, d))
    )
    return difference


@jit
def _bilinear(pool: Array, s: int, v: int, W: Array, first: int) -> None:
    """W[first : first + 10] += b(s, v) of motions in the pool, see `regressors`."""
    dot = _multiply(_ball(pool, s), _ball(pool, v))
    dot = _add(dot, _multiply(_ball(pool, s + 1), _ball(pool, v + 1)))
    _accumulate(W, first, _add(dot, _multiply(_ball(pool, s + 2), _ball(pool, v + 2))))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turned = _cross_entry(pool, s + j, v + k + 3, s + k, v + j + 3)
        moved = _cross_entry(pool, v + j, s + k + 3, v + k, s + j + 3)
        _accumulate(W, first + 1 + i, _add(turned, moved))
    column = first + 4
    for c in range(3):
        for r in range(c + 1):
            entry = _multiply(_ball(pool, s + r + 3), _ball(pool, v + c + 3))
            if r != c:
                entry = _add(entry, _multiply(_ball(pool, s + c + 3), _ball(pool, v + r + 3)))
            _accumulate(W, column, entry)
            column += 1


@jit
def _motion_cross(pool: Array, a: int, b: int, out: int) -> None:
    """out = a x b for motions (linear, angular)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turning = _cross_entry(pool, a + j + 3, b + k, a + k + 3, b + j)
        moving = _cross_entry(pool, a + j, b + k + 3, a + k, b + j + 3)
        _store(pool, out + i, _add(turning, moving))
        _store(pool, out + i + 3, _cross_entry(pool, a + j + 3, b + k + 3, a + k + 3, b + j + 3))


@jit
def _to_child(pool: Array, a: int, out: int) -> None:
    """out = motion a of the frame below, in a frame with the pose of the pool in it."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        lever = _subtract(
            _multiply(_ball(pool, a + j + 3), _ball(pool, _P + k)),
            _multiply(_ball(pool, a + k + 3), _ball(pool, _P + j)),
        )
        _store(pool, _LEVER + i, _add(_ball(pool, a + i), lever))
    for r in range(3):
        linear = _multiply(_ball(pool, _R + r), _ball(pool, _LEVER))
        angular = _multiply(_ball(pool, _R + r), _ball(pool, a + 3))
        for i in range(1, 3):
            turn = _ball(pool, _R + 3 * i + r)
            linear = _add(linear, _multiply(turn, _ball(pool, _LEVER + i)))
            angular = _add(angular, _multiply(turn, _ball(pool, a + i + 3)))
        _store(pool, out + r, linear)
        _store(pool, out + r + 3, angular)


@jit
def _joint_pose(tree: Tree, i: int, state: Array, pool: Array) -> None:
    """Pose of joint frame i in the frame of the joint below it."""
    a = tree.axis[i]
    _clear(pool, _R, _LEVER)
    if tree.is_prismatic[i]:
        q = _ball(state, STATE * i + Q)
        for r in range(3):
            along = (0.0, 0.0)
            for c in range(3):
                turn = (tree.R_parent_joint[i, r, c], _DIRECTION)
                _store(pool, _R + 3 * r + c, turn)
                along = _add(along, _multiply(turn, (a[c], _DIRECTION)))
            shift = _multiply(along, q)
            _store(pool, _P + r, _add((tree.p_parent_joint[i, r], 0.0), shift))
        return
    sine, cosine = _ball(state, STATE * i + SINE), _ball(state, STATE * i + COSINE)
    rest = _subtract((1.0, 0.0), cosine)
    for r in range(3):
        pool[_P + r, 0] = tree.p_parent_joint[i, r]
        for c in range(3):
            for k in range(3):  # R0 [cos 1 + (1 - cos) a a' + sin S(a)]
                turn = _multiply(rest, _multiply((a[k], _DIRECTION), (a[c], _DIRECTION)))
                if k == c:
                    turn = _add(turn, cosine)
                elif (k + 1) % 3 == c:  # S(a)[0, 1] = -a[2] and so on
                    turn = _subtract(turn, _multiply(sine, (a[(c + 1) % 3], _DIRECTION)))
                else:
                    turn = _add(turn, _multiply(sine, (a[(k + 1) % 3], _DIRECTION)))
                turn = _multiply((tree.R_parent_joint[i, r, k], _DIRECTION), turn)
                _accumulate(pool, _R + 3 * r + c, turn)


@jit
def moved_by(tree: Tree) -> AnyArray:
    """Whether joint k moves body i, at [i, k]."""
    n = len(tree.parent)
    moves = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        moves[i, i] = True
        for k in range(i):
            moves[i, k] = tree.parent[i] >= 0 and moves[tree.parent[i], k]
    return moves


@jit
def work_rows(n: int) -> int:
    """How many balls the recursion works with."""
    return int(_MOTIONS + _MOTION * (n + 1) * (2 + 2 * n))


@jit
def _balls_into(
    tree: Tree, moves: AnyArray, state: Array, pool: Array, W_m: Array, W_c: Array
) -> None:
    """Fill pools of columns, row 10 (n k + i) for joint k and body i; W_m if it has rows.

    `pool` has `work_rows`; what it holds does not matter.
    """
    n = len(tree.parent)
    has_momentum = W_m.shape[0] > 0
    v = _MOTIONS  # motion of a body, of the base first
    g = v + _MOTION * (n + 1)
    s = g + _MOTION * (n + 1)  # of a body by a joint: n motions a body
    dv = s + _MOTION * (n + 1) * n
    _clear(pool, v, 2 * _MOTION * (n + 1))
    for r in range(3):
        pool[g + r, 0] = tree.gravity[r]
    _clear(W_m, 0, W_m.shape[0])
    _clear(W_c, 0, W_c.shape[0])
    for i in range(n):
        own = _MOTION * (i + 1)
        up = _MOTION * (tree.parent[i] + 1)
        _joint_pose(tree, i, state, pool)
        _to_child(pool, v + up, v + own)
        _to_child(pool, g + up, g + own)
        for k in range(i):
            if moves[i, k]:
                of_k = _MOTION * k
                _to_child(pool, s + n * up + of_k, s + n * own + of_k)
                _to_child(pool, dv + n * up + of_k, dv + n * own + of_k)
        axis = s + n * own + _MOTION * i
        part = 0 if tree.is_prismatic[i] else 3
        _clear(pool, axis, _MOTION)
        for r in range(part, part + 3):
            _store(pool, axis + r, (tree.axis[i, r - part], _DIRECTION))
            rate = _multiply(_ball(pool, axis + r), _ball(state, STATE * i + QD))
            _accumulate(pool, v + own + r, rate)
        _motion_cross(pool, v + own, axis, dv + n * own + _MOTION * i)
        for k in range(i + 1):
            if moves[i, k]:
                of_k, column = n * own + _MOTION * k, 10 * (n * k + i)
                if has_momentum:
                    _bilinear(pool, s + of_k, v + own, W_m, column)
                _bilinear(pool, dv + of_k, v + own, W_c, column)
                _bilinear(pool, s + of_k, g + own, W_c, column)


@jit
def momentum_balls_into(tree: Tree, q: Array, qd: Array, W_m: Array, W_c: Array) -> None:
    """Inertial columns of the momentum and momentum-rate regressors of one sample.

    q and qd are (n, 2), W_m and W_c are (n, 10 n, 2): centres and radii. A W_m without rows is
    left out, where only the rate is asked for.
    """
    n = len(tree.parent)
    state = np.empty((STATE * n, 2))
    for i in range(n):
        _store(state, STATE * i + Q, _ball(q, i))
        _store(state, STATE * i + QD, _ball(qd, i))
        sine, cosine = _sine_and_cosine(q[i, 0], q[i, 1])
        _store(state, STATE * i + SINE, sine)
        _store(state, STATE * i + COSINE, cosine)
    momentum, rate = W_m.reshape(W_m.size // 2, 2), W_c.reshape(W_c.size // 2, 2)
    _balls_into(tree, moved_by(tree), state, np.empty((work_rows(n), 2)), momentum, rate)


@jit
def _sine_and_cosine(q: float, radius: float) -> tuple[Ball, Ball]:
    error = radius * _INFLATE + _SIN_COS
    return (np.sin(q), error), (np.cos(q), error)


@jit
def put_state(state: Array, lane: int, states: Array) -> None:
    """Copy balls (2, n, 2) of q and qd into a lane of states (STATE n, 2, LANES)."""
    for i in range(state.shape[1]):
        turn = _sine_and_cosine(state[0, i, 0], state[0, i, 1])
        for part in range(2):
            states[STATE * i + Q, part, lane] = state[0, i, part]
            states[STATE * i + QD, part, lane] = state[1, i, part]
            states[STATE * i + SINE, part, lane] = turn[0][part]
            states[STATE * i + COSINE, part, lane] = turn[1][part]


@jit
def rate_balls_in_lanes(
    tree: Tree, moves: AnyArray, states: Array, work: Array, W_c: Array
) -> None:
    """Fill W_c of `momentum_balls_into`, (10 n n, 2, LANES), for the state in each lane.

    `work` is (work_rows, 2, LANES).
    """
    nothing = lane_pool(np.empty((0, 2, LANES)))
    _balls_into(tree, moves, lane_pool(states), lane_pool(work), nothing, lane_pool(W_c))
