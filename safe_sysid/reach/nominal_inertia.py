"""Mass matrix M = H(q, theta_0) + diag(Ia_0) of the robust law, wherever the arm is in a step.

H = sum over bodies of S_i' I_i S_i, the column k of S_i being the motion of body i per unit rate
of joint k. The motions are enclosed for all positions of a time step as numbers with a radius, and
so is H. With any X for which |X M X' - 1| <= epsilon < 1 in 2-norm, M >= (1 - epsilon) (X' X)^-1
and w' M^-1 w <= |w|' |X' X| |w| / (1 - epsilon). X is the inverse of a triangular factor of the
middle of M; the norm is bounded as in `joint_inertia`.

Where positions are known too badly for that, what is `known` of M along a plan counts
(`plan_error.nominal_inverse`), or M >= diag(Ia_0 - missing): a body of mass m
that can exist has no negative energy, and one whose inertia about its centre of mass has the
smallest eigenvalue -d at least -d / 2 times the square of its rate of turn, which is at most the
sum of all revolute rates below it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import JointReach, states_in_lanes
from safe_sysid.reach.motion_transport import (
    MOTION,
    TRANSPORT_WORK,
    TransportJoints,
    kernel_joints,
    set_to_axis,
    to_child,
)
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.spectral import spectral_bound
from safe_sysid.sets.steps import Steps, over_steps
from safe_sysid.sets.taylor_kernels import add_scaled, bounds, clear, copy
from safe_sysid.sets.taylor_sums import add_inner_product

NUMBERS = monomials(0, 1)  # rows that are numbers with a radius
STATE = 3  # rows of a joint: cos, sin, q, the first kinds of a reach


class NominalInertia(NamedTuple):
    """Upper bounds over every time step."""

    diagonal: Array  # (T, n) M_jj
    inverse: Array  # (T, n, n) N with w' M^-1 w <= |w|' N |w| for every w


def nominal_inertia(
    model: RobotModel, reach: JointReach, theta_0: Array, known: Array | None = None
) -> NominalInertia:
    """Bound the mass matrix of theta_0 over the joint states; `known` bounds its inverse."""
    M, radius = mass_matrix(model, reach, theta_0)
    bodies = theta_0[: 10 * model.n].reshape(-1, 10)
    armature = theta_0[model.layout.joint_entries('Ia')]
    diagonal = np.einsum('tjj->tj', M + radius) * (1.0 + 4.0 * EPS)
    scale = np.sqrt(np.maximum(diagonal, 0.0))
    by_armature = np.broadcast_to(_inverse_of_armature(model, bodies, armature), M.shape)
    inverse = _smaller(scale, _inverse_about_middle(M, radius), by_armature)
    if known is not None:
        inverse = _smaller(scale, inverse, known)
    if not np.all(np.isfinite(inverse)):
        raise BoundError(
            'the nominal parameters may leave a motion of the arm without inertia, and nothing '
            'bounds the torque of the robust law then; give the joints their armatures in the '
            'settings of the arm, or take nominal bodies that can exist'
        )
    return NominalInertia(diagonal, inverse)


def mass_matrix(model: RobotModel, reach: JointReach, theta_0: Array) -> tuple[Array, Array]:
    """Middle and radius of M in every time step, entry by entry, (T, n, n) each."""
    T, n = reach.q.shape[:2]
    H = np.full((T, n, n, 2), np.nan)
    bodies = np.ascontiguousarray(theta_0[: 10 * n].reshape(n, 10))
    tables = (reach.monomials.kernel, NUMBERS.kernel)
    arguments = (reach.rows, kernel_joints(model.tree), bodies, tables, H)
    over_steps(_mass_matrix_into, T, *arguments, together=LANES)
    M = H[..., 0] + np.diag(theta_0[model.layout.joint_entries('Ia')])
    if not np.all(np.isfinite(M)):
        raise BoundError('positions over the horizon are larger than a float can hold')
    return M, H[..., 1] + 2.0 * EPS * np.abs(M)


def _smaller(scale: Array, a: Array, b: Array) -> Array:
    """Of two bounds in each step the one that is smaller for disturbances of this scale."""
    with np.errstate(invalid='ignore'):
        sizes = [np.einsum('ti,tij,tj->t', scale, each, scale) for each in (a, b)]
    first = ~(sizes[1] < sizes[0])[:, None, None]
    return np.where(first, a, b)


def _inverse_about_middle(M: Array, radius: Array) -> Array:
    """Bounds by X; infinite where there is none."""
    inverse = np.empty_like(M)
    over_steps(_inverse_into, len(M), M, radius, inverse)
    return inverse


@jit
def _inverse_into(steps: Steps, M: Array, radius: Array, inverse: Array) -> None:
    """Fill (T, n, n). Sums of n products are off by less than a part of `rounding` of them."""
    n = M.shape[1]
    rounding = 8.0 * (n + 2) * EPS
    parts, work = np.empty((4, n, n)), np.empty((2, n))
    X, product, bounded, off = parts[0], parts[1], parts[2], parts[3]
    for t in range(steps[0], steps[1]):
        eps = np.inf
        if _set_factor(M[t], X):
            _set_products(M[t], radius[t], X, product, bounded, rounding)
            _set_distance(X, product, bounded, off, rounding)
            eps = spectral_bound(off, work)
        left = (1.0 - eps) * (1.0 - 2.0 * EPS)
        for i in range(n):
            for j in range(n):
                entry = size = 0.0
                for k in range(n):
                    entry += X[k, i] * X[k, j]
                    size += abs(X[k, i] * X[k, j])
                share = (abs(entry) + rounding * size) * (1.0 + rounding)
                inverse[t, i, j] = share / left if left > 0.0 else np.inf


@jit
def _set_factor(M: Array, X: Array) -> bool:
    """Set X, upper triangular, so that X M X' is about 1; whether M is positive definite."""
    n = len(M)
    U = np.zeros((n, n))  # U U' = M
    X[:] = 0.0
    for j in range(n - 1, -1, -1):
        for i in range(j, -1, -1):
            left = M[i, j]
            for k in range(j + 1, n):
                left -= U[i, k] * U[j, k]
            if i == j and not left > 0.0:
                return False
            U[i, j] = math.sqrt(left) if i == j else left / U[j, j]
    for j in range(n):
        X[j, j] = 1.0 / U[j, j]
        for i in range(j - 1, -1, -1):
            total = 0.0
            for k in range(i + 1, j + 1):
                total += U[i, k] * X[k, j]
            X[i, j] = -total / U[i, i]
    return True


@jit
def _set_products(
    M: Array, radius: Array, X: Array, product: Array, bounded: Array, rounding: float
) -> None:
    """Set X M and |X| (radius + rounding |M|)."""
    n = len(M)
    for i in range(n):
        for j in range(n):
            product[i, j] = bounded[i, j] = 0.0
            for k in range(i, n):
                product[i, j] += X[i, k] * M[k, j]
                bounded[i, j] += abs(X[i, k]) * (radius[k, j] + rounding * abs(M[k, j]))


@jit
def _set_distance(X: Array, product: Array, bounded: Array, off: Array, rounding: float) -> None:
    """Bound the entries of |X M X' - 1|."""
    n = len(X)
    for i in range(n):
        for j in range(n):
            entry = size = 0.0
            for k in range(j, n):
                entry += product[i, k] * X[j, k]
                size += bounded[i, k] * abs(X[j, k])
            off[i, j] = (abs(entry - (i == j)) + size) * (1.0 + rounding)


def _inverse_of_armature(model: RobotModel, bodies: Array, armature: Array) -> Array:
    """Bound by the armatures alone, (n, n); infinite where they are too small."""
    n, tree = model.n, model.tree
    left, missing = armature.copy(), missing_inertia(bodies)
    for i in range(n):
        turning = []
        k = i
        while k >= 0:
            if not tree.is_prismatic[k]:
                turning.append(k)
            k = int(tree.parent[k])
        left[turning] -= len(turning) * missing[i]
    usable = bool(np.all(left > 0.0))
    return np.diag((1.0 + 4.0 * EPS) / left) if usable else np.full((n, n), np.inf)


def missing_inertia(bodies: Array) -> Array:
    """How far the inertias of bodies (n, 10) about their centres of mass are from possible ones.

    In kg m^2, (n,); infinite for a body without mass that has moments of it.
    """
    m, h = bodies[:, 0], bodies[:, 1:4]
    inertia = bodies[:, np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])]
    heavy, empty = m > 0.0, (m == 0.0) & ~np.any(h, axis=1)
    share = 1.0 / np.where(heavy, np.maximum(m, 1e-300), np.where(empty, np.inf, np.nan))
    square = np.einsum('ij,ij->i', h, h)
    shift = square[:, None, None] * np.eye(3) - h[:, :, None] * h[:, None, :]
    central = inertia - shift * share[:, None, None]
    finite = np.all(np.isfinite(central), axis=(1, 2))
    least = np.linalg.eigvalsh(np.where(np.reshape(finite, (-1, 1, 1)), central, 0.0))[:, 0]
    size = np.abs(inertia).sum(axis=(1, 2)) + square * share
    return np.where(finite, np.maximum(64.0 * EPS * size - least, 0.0), np.inf)


@jit
def _mass_matrix_into(
    steps: Steps,
    states: Array,
    joints: TransportJoints,
    bodies: Array,
    tables: tuple[IntArray, IntArray],
    H: Array,
) -> None:
    """Fill H with centres and radii, LANES steps at a time; copies are those of `newton_euler`."""
    n, width = states.shape[2:]
    positions, rows = np.empty((STATE * n, width, LANES)), np.zeros((_rows(n), 2, LANES))
    sizes = lane_pool(np.zeros((_rows(n), 2, LANES)))
    own = TransportJoints(
        joints.geometry.copy(), joints.kind, joints.parent, joints.below, joints.gravity
    )
    masses = bodies.copy()
    for first in range(steps[0], steps[1], LANES):
        last = min(first + LANES, steps[1]) - 1
        states_in_lanes(states, first, last, STATE, positions)
        _set_numbers(lane_pool(positions), lane_pool(rows), tables[0])
        _set_totals(lane_pool(rows), sizes, own, masses, tables[1])
        _keep(rows, first, last, H)


@part_jit
def _set_numbers(positions: Array, pool: Array, table: IntArray) -> None:
    """Enclose joint states by numbers with a radius, the first rows of the pool."""
    for row in range(positions.shape[0]):
        low, high = bounds(positions, row, table)
        middle = 0.5 * low + 0.5 * high
        pool[row, 0] = middle
        pool[row, 1] = max(high - middle, middle - low) * (1.0 + 4.0 * EPS)


@part_jit
def _keep(rows: Array, first: int, last: int, H: Array) -> None:
    """Copy sums over bodies out of lanes."""
    n = H.shape[1]
    for t in range(first, last + 1):
        for k in range(n):
            for m in range(n):
                total = _totals(n) + n * min(k, m) + max(k, m)
                H[t, k, m, 0], H[t, k, m, 1] = rows[total, 0, t - first], rows[total, 1, t - first]


@jit
def _motion(n: int, i: int, k: int) -> int:
    """First row of the motion of joint k in the frame of body i."""
    return STATE * n + MOTION * (n * i + k)


@jit
def _totals(n: int) -> int:
    """First of n n sums over bodies."""
    return _motion(n, n, 0)  # type: ignore[no-any-return]


@jit
def _momentum(n: int) -> int:
    """First row of the momentum of a body."""
    return _totals(n) + n * n  # type: ignore[no-any-return]


@jit
def _work(n: int) -> int:
    return _momentum(n) + MOTION  # type: ignore[no-any-return]


@jit
def _rows(n: int) -> int:
    return _work(n) + TRANSPORT_WORK  # type: ignore[no-any-return]


@part_jit
def _set_totals(
    pool: Array, sizes: Array, joints: TransportJoints, bodies: Array, table: IntArray
) -> None:
    """Sum s_k' I_i s_m over bodies i, for k <= m. Numbers have no sizes but themselves."""
    n = len(joints.parent)
    for total in range(_totals(n), _momentum(n)):
        clear(pool, total)
    for i in range(n):
        up, joint, kind = joints.parent[i], joints.geometry[i], joints.kind[i]
        for k in range(i):
            if joints.below[i, k]:
                s = _motion(n, i, k)
                for r in range(MOTION):
                    copy(pool, _motion(n, up, k) + r, s + r)
                to_child(pool, sizes, joint, kind, STATE * i, s, _work(n), table)
        set_to_axis(pool, joint, kind, _motion(n, i, i))
        for m in range(i + 1):
            if joints.below[i, m]:
                force = _momentum(n)
                _set_momentum(pool, bodies[i], _motion(n, i, m), force)
                for k in range(m + 1):
                    if joints.below[i, k]:
                        s, total = _motion(n, i, k), _totals(n) + n * k + m
                        add_inner_product(pool, sizes, s, force, 1, total, table)
                        add_inner_product(pool, sizes, s + 3, force + 3, 1, total, table)


@part_jit
def _set_momentum(pool: Array, body: Array, s: int, out: int) -> None:
    """Set out to I s: m lin + w x h and h x lin + I w, for h = m c."""
    column = 4
    for r in range(3):
        up, down = (r + 1) % 3, (r + 2) % 3
        clear(pool, out + r)
        clear(pool, out + 3 + r)
        add_scaled(pool, s + r, body[0], 0.0, out + r)
        add_scaled(pool, s + 3 + up, body[1 + down], 0.0, out + r)
        add_scaled(pool, s + 3 + down, -body[1 + up], 0.0, out + r)
        add_scaled(pool, s + down, body[1 + up], 0.0, out + 3 + r)
        add_scaled(pool, s + up, -body[1 + down], 0.0, out + 3 + r)
    for c in range(3):
        for r in range(c + 1):
            add_scaled(pool, s + 3 + c, body[column], 0.0, out + 3 + r)
            if r != c:
                add_scaled(pool, s + 3 + r, body[column], 0.0, out + 3 + c)
            column += 1
