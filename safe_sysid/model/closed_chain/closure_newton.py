"""Newton's method on loop closures, and what follows from closed loops, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.closed_chain.loop_closure import Loops, bias_into, gap_into
from safe_sysid.model.tree import Tree
from safe_sysid.sets.array_copies import copy_matrix, copy_vector
from safe_sysid.sets.compiled import jit

CLOSED = 1e-12  # [m], largest gap of a loop that counts as closed
LONGEST_STEP = 0.7  # [rad or m] of a passive joint in one Newton step
MOST_STEPS = 50
FULL_RANK = 1e-9  # smallest pivot that is no rounding of zero, [m/rad]


class ClosureJoints(NamedTuple):
    """A closed chain for compiled code."""

    tree: Tree
    loops: Loops
    actuated: IntArray  # (n_a,)
    passive: IntArray  # (m,)


@jit
def solve_into(A: Array, B: Array) -> bool:
    """Replace B (m, k) by inv(A) B, and A (m, m) by what elimination leaves; False if singular."""
    m, width = B.shape
    for i in range(m):
        pivot = i
        for row in range(i + 1, m):
            if abs(A[row, i]) > abs(A[pivot, i]):
                pivot = row
        if not abs(A[pivot, i]) > FULL_RANK:
            return False
        _swap(A, i, pivot)
        _swap(B, i, pivot)
        for row in range(i + 1, m):
            factor = A[row, i] / A[i, i]
            _subtract(A, row, factor, i)
            _subtract(B, row, factor, i)
    for i in range(m - 1, -1, -1):
        for k in range(width):
            for row in range(i + 1, m):
                B[i, k] -= A[i, row] * B[row, k]
            B[i, k] /= A[i, i]
    return True


@jit
def _swap(A: Array, i: int, j: int) -> None:
    if i != j:
        for k in range(A.shape[1]):
            A[i, k], A[j, k] = A[j, k], A[i, k]


@jit
def _subtract(A: Array, row: int, factor: float, i: int) -> None:
    """Take a multiple of row i from another one."""
    if factor != 0.0:
        for k in range(A.shape[1]):
            A[row, k] -= factor * A[i, k]


@jit
def newton(joints: ClosureJoints, q: Array) -> int:
    """Move the passive joints until all loops are closed; the steps it took, -1 if it failed.

    A step is halved until the largest gap falls.
    """
    m, n = len(joints.loops.loop), len(q)
    c, J = np.empty(m), np.empty((m, n))
    step, A = np.empty((m, 1)), np.empty((m, m))
    gap_into(joints.tree, joints.loops, q, c, J)
    gap = np.abs(c).max()
    for count in range(MOST_STEPS):
        if gap < CLOSED:
            return count
        for k in range(m):
            step[k, 0] = c[k]
            for column in range(m):
                A[k, column] = J[k, joints.passive[column]]
        if not solve_into(A, step):
            return -1
        share = min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        start = q.copy()
        while True:
            for k in range(m):
                q[joints.passive[k]] = start[joints.passive[k]] - share * step[k, 0]
            gap_into(joints.tree, joints.loops, q, c, J)
            smaller = np.abs(c).max()
            if smaller < gap:
                break
            share *= 0.5
            if share < 1e-4:
                return -1
        gap = smaller
    return -1


@jit
def follow(joints: ClosureJoints, first: Array, q_a: Array) -> tuple[Array, IntArray]:
    """Closures of a motion, each from the one before; Newton steps, -1 from the first failure."""
    q = np.empty((len(q_a), len(first)))
    steps = np.full(len(q_a), -1, dtype=np.int64)
    last = first.copy()
    for sample in range(len(q_a)):
        for k in range(len(joints.actuated)):
            last[joints.actuated[k]] = q_a[sample, k]
        steps[sample] = newton(joints, last)
        copy_vector(last, q[sample])
        if steps[sample] < 0:
            for later in range(sample + 1, len(q_a)):
                copy_vector(last, q[later])
            break
    return q, steps


@jit
def differentiate(
    joints: ClosureJoints, q: Array, qd_a: Array, qdd_a: Array
) -> tuple[int, Array, Array, Array]:
    """Return the first sample whose J_u is singular, or -1; qd, qdd (N, n) and G (N, n, n_a)."""
    m, n, n_a = len(joints.loops.loop), q.shape[1], len(joints.actuated)
    qd, qdd, G = np.empty_like(q), np.empty_like(q), np.zeros((len(q), n, n_a))
    c, J, bias = np.empty(m), np.empty((m, n)), np.empty(m)
    A, B = np.empty((m, m)), np.empty((m, n_a))
    factors, rest = np.empty((m, m)), np.empty((m, 1))
    for sample in range(len(q)):
        gap_into(joints.tree, joints.loops, q[sample], c, J)
        _split(joints, J, A, B)
        copy_matrix(A, factors)
        if not solve_into(A, B):
            return sample, qd, qdd, G
        for k in range(n_a):
            G[sample, joints.actuated[k], k] = 1.0
            for row in range(m):
                G[sample, joints.passive[row], k] = -B[row, k]
        for i in range(n):
            qd[sample, i] = qdd[sample, i] = 0.0
            for k in range(n_a):
                qd[sample, i] += G[sample, i, k] * qd_a[sample, k]
                qdd[sample, i] += G[sample, i, k] * qdd_a[sample, k]
        bias_into(joints.tree, joints.loops, q[sample], qd[sample], bias)
        copy_vector(bias, rest[:, 0])
        solve_into(factors, rest)
        for row in range(m):
            qdd[sample, joints.passive[row]] -= rest[row, 0]
    return -1, qd, qdd, G


@jit
def _split(joints: ClosureJoints, J: Array, A: Array, B: Array) -> None:
    """Copy the passive columns of J to A, the actuated ones to B."""
    for row in range(len(J)):
        for k in range(len(joints.passive)):
            A[row, k] = J[row, joints.passive[k]]
        for k in range(len(joints.actuated)):
            B[row, k] = J[row, joints.actuated[k]]
