"""Compiled: what the inertial parameters of a body may change in the entries of X H X'.

With motions (l, w) an entry of theta changes v_a' I v_b by

    m: l_a . l_b     m c: l_a x w_b + l_b x w_a     I_rc: w_ar w_bc + w_ac w_br (once if r = c)

whose largest value over the ball is that of constant and linear terms, |c| + |g|, and a remainder.
Motions under rate a depend on no variable before since[a] (see `ball_polynomials`).
"""

from __future__ import annotations

import math

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.reach.motion_transport import MOTION
from safe_sysid.sets.ball_polynomials import Rows
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import anywhere
from safe_sysid.sets.taylor_kernels import clear

LINEAR_ROUNDING = 1.0 + 1e-12  # of sums of non-negative terms here, a few hundred deep
ABSOLUTE = 64.0 * EPS  # times the absolute values of what a difference is made of


@part_jit
def add_changes(
    pool: Array,
    parts: Array,
    radius: Array,
    at: int,
    moves: AnyArray,
    since: IntArray,
    terms: Array,
    changes: Array,
) -> None:
    """Add what the parameters of one body may change in the entries a <= b."""
    n = len(moves)
    if not np.any(radius != 0.0):
        return
    for a in range(n):
        if moves[a]:
            _set_linear(pool, parts, Rows(at + MOTION * a, since[a]), terms, MOTION * a)
    for b in range(n):
        for a in range(b + 1):
            if moves[a] and moves[b]:
                least = min(since[a], since[b])
                changes[n * a + b, 0] += _change(terms, MOTION * a, MOTION * b, least, radius)


@part_jit
def _set_linear(pool: Array, parts: Array, motion: Rows, terms: Array, first: int) -> None:
    """Constant, linear terms, their 2-norm and a bound of the rest, for each row of a motion."""
    n = terms.shape[1] - 3
    for r in range(MOTION):
        row, out = motion.first + r, first + r
        clear(terms, out)
        terms[out, 0] = pool[row, 0]
        for m in range(motion.since + 1, n + 1):
            terms[out, m] = pool[row, m]
        terms[out, n + 1] = parts[row, 0]
        rest = pool[row, pool.shape[1] - 1]
        for e in range(1, parts.shape[1]):
            rest += parts[row, e]
        terms[out, n + 2] = rest


@part_jit
def _change(terms: Array, x: int, y: int, since: int, radius: Array) -> float:
    """Largest absolute value of what the parameters of one body may change in an entry."""
    sums = terms.shape[0] - 1
    clear(terms, sums)
    for r in range(3):
        _add_product(terms, x + r, y + r, 1.0, since, sums)
    total = radius[0] * _largest(terms, since, sums)
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        clear(terms, sums)
        _add_product(terms, x + up, y + 3 + down, 1.0, since, sums)
        _add_product(terms, x + down, y + 3 + up, -1.0, since, sums)
        _add_product(terms, y + up, x + 3 + down, 1.0, since, sums)
        _add_product(terms, y + down, x + 3 + up, -1.0, since, sums)
        total += radius[1 + r] * _largest(terms, since, sums)
    entry = 4
    for c in range(3):  # Ixx, Ixy, Iyy, Ixz, Iyz, Izz
        for r in range(c + 1):
            clear(terms, sums)
            _add_product(terms, x + 3 + r, y + 3 + c, 1.0, since, sums)
            if r < c:
                _add_product(terms, x + 3 + c, y + 3 + r, 1.0, since, sums)
            total += radius[entry] * _largest(terms, since, sums)
            entry += 1
    return total * LINEAR_ROUNDING  # type: ignore[no-any-return]


@jit
def _add_product(terms: Array, x: int, y: int, sign: float, since: int, sums: int) -> None:
    """Add x y to constant and linear terms, and what is not linear in it to the remainder."""
    n = terms.shape[1] - 3
    constant_x, constant_y = terms[x, 0], terms[y, 0]
    linear_x, linear_y = terms[x, n + 1], terms[y, n + 1]
    rest_x, rest_y = terms[x, n + 2], terms[y, n + 2]
    away_x, away_y = linear_x + rest_x, linear_y + rest_y
    if not anywhere(abs(constant_x) + away_x != 0.0):
        return
    terms[sums, 0] += sign * constant_x * constant_y
    for k in range(since + 1, n + 1):
        terms[sums, k] += sign * (constant_x * terms[y, k] + terms[x, k] * constant_y)
    terms[sums, n + 1] += abs(constant_x) * rest_y + rest_x * abs(constant_y) + away_x * away_y
    terms[sums, n + 2] += (abs(constant_x) + away_x) * (abs(constant_y) + away_y)


@jit
def _largest(terms: Array, since: int, sums: int) -> float:
    """Largest absolute value over the ball; rounding is a share of what was added up."""
    n = terms.shape[1] - 3
    square = 0.0
    for k in range(since + 1, n + 1):
        square += terms[sums, k] * terms[sums, k]
    exact = abs(terms[sums, 0]) + math.sqrt(square) + terms[sums, n + 1]
    return exact * LINEAR_ROUNDING + ABSOLUTE * n * terms[sums, n + 2]  # type: ignore[no-any-return]
