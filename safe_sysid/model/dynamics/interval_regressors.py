"""Momentum regressors of positions and velocities that are known to a bounded error.

Every number is a ball: a centre and a radius around it. All operations enclose: the radius of a
result covers the radii of its operands and the rounding of the centre, and is itself inflated by
more than its own rounding. With zero error the radii are the rounding errors alone, about 1e-15
of the entries, so that a regressor from here can be used in a guarantee as it is. The axes and
rotations of the tree are rounded too: what is enclosed is an arm whose axes have length one and
whose rotations are orthonormal. The formulas are those of `regressors`.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import inline_jit, jit

Ball = tuple[float, float]  # centre, radius

_UNIT = 2.0**-53  # relative rounding error of one operation
_INFLATE = 1.0 + 2.0**-49  # 16 units: a radius here is at most 6 roundings of positive terms
_TINY = 1e-300  # more than what underflow can lose
_SIN_COS = 2.0**-50  # absolute error of sin and cos, 4 units in the last place of 1
_DIRECTION = 2.0**-50  # the same of axes and rotations that were normalised in floats


@inline_jit
def _ball(array: Array, i: int) -> Ball:
    ball: Ball = (array[i, 0], array[i, 1])
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
def _store(row: Array, i: int, a: Ball) -> None:
    row[i, 0], row[i, 1] = a


@inline_jit
def _accumulate(row: Array, i: int, a: Ball) -> None:
    row[i, 0], row[i, 1] = _add((row[i, 0], row[i, 1]), a)


@inline_jit
def _cross_entry(a: Array, b: Array, i: int, j: int, k: int, m: int) -> Ball:
    """a[i] b[j] - a[k] b[m]."""
    difference: Ball = _subtract(
        _multiply(_ball(a, i), _ball(b, j)), _multiply(_ball(a, k), _ball(b, m))
    )
    return difference


@jit
def _bilinear(s: Array, v: Array, row: Array, first: int) -> None:
    """row[first : first + 10] += b(s, v), see `regressors`."""
    dot = _multiply(_ball(s, 0), _ball(v, 0))
    dot = _add(dot, _multiply(_ball(s, 1), _ball(v, 1)))
    _accumulate(row, first, _add(dot, _multiply(_ball(s, 2), _ball(v, 2))))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turned = _cross_entry(s, v, j, k + 3, k, j + 3)
        moved = _cross_entry(v, s, j, k + 3, k, j + 3)
        _accumulate(row, first + 1 + i, _add(turned, moved))
    column = first + 4
    for c in range(3):
        for r in range(c + 1):
            entry = _multiply(_ball(s, r + 3), _ball(v, c + 3))
            if r != c:
                entry = _add(entry, _multiply(_ball(s, c + 3), _ball(v, r + 3)))
            _accumulate(row, column, entry)
            column += 1


@jit
def _motion_cross(a: Array, b: Array, out: Array) -> None:
    """out = a x b for motions (linear, angular)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        turning = _cross_entry(a, b, j + 3, k, k + 3, j)
        moving = _cross_entry(a, b, j, k + 3, k, j + 3)
        _store(out, i, _add(turning, moving))
        _store(out, i + 3, _cross_entry(a, b, j + 3, k + 3, k + 3, j + 3))


@jit
def _to_child(R: Array, p: Array, a: Array, work: Array, out: Array) -> None:
    """out = motion a of the frame below, in a frame with pose (R, p) in it."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        lever = _subtract(
            _multiply(_ball(a, j + 3), _ball(p, k)), _multiply(_ball(a, k + 3), _ball(p, j))
        )
        _store(work, i, _add(_ball(a, i), lever))
    for r in range(3):
        linear = _multiply(_ball(R[0], r), _ball(work, 0))
        angular = _multiply(_ball(R[0], r), _ball(a, 3))
        for i in range(1, 3):
            linear = _add(linear, _multiply(_ball(R[i], r), _ball(work, i)))
            angular = _add(angular, _multiply(_ball(R[i], r), _ball(a, i + 3)))
        _store(out, r, linear)
        _store(out, r + 3, angular)


@jit
def _joint_pose(tree: Tree, i: int, q: float, q_radius: float, R: Array, p: Array) -> None:
    """Pose of joint frame i in the frame of the joint below it, for q within q_radius."""
    a = tree.axis[i]
    if tree.is_prismatic[i]:
        for r in range(3):
            along = (0.0, 0.0)
            for c in range(3):
                turn = (tree.R_parent_joint[i, r, c], _DIRECTION)
                R[r, c, 0], R[r, c, 1] = turn
                along = _add(along, _multiply(turn, (a[c], _DIRECTION)))
            shift = _multiply(along, (q, q_radius))
            _store(p, r, _add((tree.p_parent_joint[i, r], 0.0), shift))
        return
    sine = (np.sin(q), q_radius * _INFLATE + _SIN_COS)
    cosine = (np.cos(q), q_radius * _INFLATE + _SIN_COS)
    rest = _subtract((1.0, 0.0), cosine)
    for r in range(3):
        p[r, 0], p[r, 1] = tree.p_parent_joint[i, r], 0.0
        for c in range(3):
            entry = (0.0, 0.0)
            for k in range(3):  # R0 [cos 1 + (1 - cos) a a' + sin S(a)]
                turn = _multiply(rest, _multiply((a[k], _DIRECTION), (a[c], _DIRECTION)))
                if k == c:
                    turn = _add(turn, cosine)
                elif (k + 1) % 3 == c:  # S(a)[0, 1] = -a[2] and so on
                    turn = _subtract(turn, _multiply(sine, (a[(c + 1) % 3], _DIRECTION)))
                else:
                    turn = _add(turn, _multiply(sine, (a[(k + 1) % 3], _DIRECTION)))
                entry = _add(entry, _multiply((tree.R_parent_joint[i, r, k], _DIRECTION), turn))
            R[r, c, 0], R[r, c, 1] = entry


@jit
def momentum_balls_into(tree: Tree, q: Array, qd: Array, W_m: Array, W_c: Array) -> None:
    """Inertial columns of the momentum and momentum-rate regressors of one sample.

    q and qd are (n, 2), W_m and W_c are (n, 10 n, 2): centres and radii. A W_m without rows is
    left out, where only the rate is asked for.
    """
    n = len(tree.parent)
    has_momentum = len(W_m) > 0
    R, p, work = np.zeros((3, 3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
    v, g = np.zeros((n + 1, 6, 2)), np.zeros((n + 1, 6, 2))  # entry 0 is the base
    s, dv = np.zeros((n + 1, n, 6, 2)), np.zeros((n + 1, n, 6, 2))
    below = np.zeros((n + 1, n), dtype=np.bool_)
    for r in range(3):
        g[0, r, 0] = tree.gravity[r]
    W_m[:] = 0.0
    W_c[:] = 0.0
    for i in range(n):
        up = tree.parent[i] + 1
        _joint_pose(tree, i, q[i, 0], q[i, 1], R, p)
        _to_child(R, p, v[up], work, v[i + 1])
        _to_child(R, p, g[up], work, g[i + 1])
        for k in range(i):
            below[i + 1, k] = below[up, k]
            if below[up, k]:
                _to_child(R, p, s[up, k], work, s[i + 1, k])
                _to_child(R, p, dv[up, k], work, dv[i + 1, k])
        below[i + 1, i] = True
        own = 0 if tree.is_prismatic[i] else 3
        for r in range(3):
            s[i + 1, i, own + r, 0], s[i + 1, i, own + r, 1] = tree.axis[i, r], _DIRECTION
            rate = _multiply(_ball(s[i + 1, i], own + r), _ball(qd, i))
            _accumulate(v[i + 1], own + r, rate)
        _motion_cross(v[i + 1], s[i + 1, i], dv[i + 1, i])
        for k in range(i + 1):
            if below[i + 1, k]:
                if has_momentum:
                    _bilinear(s[i + 1, k], v[i + 1], W_m[k], 10 * i)
                _bilinear(dv[i + 1, k], v[i + 1], W_c[k], 10 * i)
                _bilinear(s[i + 1, k], g[i + 1], W_c[k], 10 * i)
