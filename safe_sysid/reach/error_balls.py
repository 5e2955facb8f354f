"""How far tracking errors can move points of the arm: balls about where the plan has them.

Let p(q) be a point, d_j the length of its derivative in q_j at the desired q_d, and D_jl a bound
of its second derivatives anywhere. Along the segment from q_d to q_d - e the mean value theorem
gives

    |p(q_d - e) - p(q_d)| <= sum_j |e_j| d_j + 1/2 sum_jl |e_j| |e_l| D_jl.

For a revolute joint d_j is the distance from its axis, and D_jl of two of them is at most the
largest distance from the origin of the one nearer to the point, as cross products with unit
vectors lengthen nothing. A prismatic joint has d_j = 1, and D_jl <= 1 with any other joint.

The errors are bounded one by one, |e_j| <= position_j, and together: from
V = 1/2 r' (H + diag(Ia)) r <= V_M with H >= 0 follows sum_j (r_j / c_j)^2 <= 1,
c_j = sqrt(2 V_M / Ia_j). As de/dt = r - K_r e, the vector of K |e_j|, K = min K_r, is never above
a convex combination of vectors |r_j| and of where it started: it stays in this ellipsoid if it
started there, as it does from rest without an error. Over the ellipsoid with half axes c_j / K
the two sums are at most the Euclidean norms of (c_j d_j / K) and of (c_j c_l D_jl / K^2). Each
ball is the smaller of the two answers. Carrying errors through products of rotation matrices
instead gives balls about four times as large.

Along one plan (`plan_error`) e = L z with |z| <= 1 in each step of time, whatever L. Then the
first derivatives J of a point, which are known to less than off_j each, move it by at most

    |J L| + sum_j off_j |e_j|,   |J L|^2 = largest eigenvalue of M = J L L' J' <= tr(M^8)^(1/8),

and the second ones by half the 2-norm of |L|' D |L|, entry by entry.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.tree import Tree
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import inline_jit, jit, part_jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.points import length, minus, plus, point_at, size
from safe_sysid.sets.steps import Steps, over_steps

ROUNDING = 1.0 + 1e-12  # sums here have at most 12^2 positive terms, each a few operations deep


class ErrorSet(NamedTuple):
    """Tracking errors of the positions: a box and an ellipsoid, both of which contain them."""

    position: Array  # (n,) half widths of the box
    half_axes: Array  # (n,) of the ellipsoid; infinite when there is none
    r: Array = np.zeros((0, 0, 0))  # (T, n, n) factors of r along one plan, if it is about one
    e: Array = np.zeros((0, 0, 0))  # (T, n, n) likewise of e


class Levers(NamedTuple):
    """Joints that move each of P points, with the largest lever arm."""

    moves: Array  # (n, P) 1 where a joint is below a point, else 0
    reach: Array  # (n, P) [m] largest distance of a point from the origin of a joint
    is_prismatic: Array  # (n,) 1 or 0


def error_set(error: TrackingError, armature: Array, V_M: float) -> ErrorSet:
    """Tracking errors for armatures that are at least these, (n,).

    There is no ellipsoid where errors at the start may be larger than V <= V_M would leave them.
    Errors of one plan have those of its tube, other armatures or not.
    """
    if error.tube is not None:
        none = np.full(len(armature), np.inf)
        return ErrorSet(error.position, none, error.tube.r.copy(), error.tube.e.copy())
    with np.errstate(divide='ignore'):
        half_axes = np.sqrt(2.0 * V_M / np.maximum(armature, 0.0)) / error.K_r.min() * ROUNDING
    grown = error.position > error.r_max / error.K_r * ROUNDING
    usable = np.all(np.isfinite(half_axes)) and not np.any(grown)
    return ErrorSet(error.position, half_axes if usable else np.full(len(half_axes), np.inf))


def levers(tree: Tree, joint: IntArray, points: Array, slides: Array) -> Levers:
    """Levers of points fixed to joints; `slides` (n,) bounds |q| of the prismatic joints."""
    n = len(tree.parent)
    moves, reach = np.zeros((n, len(joint))), np.zeros((n, len(joint)))
    step = np.linalg.norm(tree.p_parent_joint, axis=1) + slides * tree.is_prismatic
    for i in range(len(joint)):
        j, length = int(joint[i]), float(np.linalg.norm(points[i]))
        while j >= 0:
            moves[j, i] = 1.0
            reach[j, i] = length * ROUNDING
            length += step[j]
            j = int(tree.parent[j])
    return Levers(moves, reach, tree.is_prismatic.astype(np.float64))


def error_balls(lever: Levers, errors: ErrorSet, centers: Array, radii: Array) -> Array:
    """Radius of a ball about every point in every time interval, (T, P).

    `centers` and `radii` (T, P + 2 n, 3) are boxes that contain, for all desired positions, the
    points, the origins of the joints, and the tips of their axes.
    """
    balls = np.zeros((len(centers), lever.moves.shape[1]))
    over_steps(_error_balls, len(centers), lever, errors, centers, radii, balls)
    return balls


@jit
def _error_balls(
    steps: Steps,
    lever: Levers,
    errors: ErrorSet,
    centers: Array,
    radii: Array,
    balls: Array,
) -> None:
    n, count = lever.moves.shape
    d, J, curved = np.empty(n), np.empty((n, 4)), np.empty((count, 2))
    for i in range(count):
        curved[i, 0], curved[i, 1] = _curved(lever, errors, i)
    for t in range(steps[0], steps[1]):
        for i in range(count):
            for j in range(n):
                d[j] = 0.0
                if lever.moves[j, i] > 0.0:
                    d[j] = 1.0
                    if lever.is_prismatic[j] == 0.0:
                        places = i, count + j, count + n + j
                        d[j] = _axis_distance(centers, radii, t, places)
            balls[t, i] = _ball(lever, errors, d, curved, i)
            if len(errors.e) > 0:
                for j in range(n):
                    _set_derivative(lever, centers[t], radii[t], i, j, J)
                balls[t, i] = min(balls[t, i], _ball_along(lever, errors, t, J, i))


@inline_jit
def _axis_distance(centers: Array, radii: Array, t: int, places: tuple[int, int, int]) -> float:
    """Upper bound of |a x w|, a = tip - origin of length one, w = point - origin.

    Places are those of the point, of the origin and of the tip.

    |a x w| <= |a0 x w0| + |a - a0| |w0| + |w - w0| for the centres a0 and w0.
    """
    point, origin, tip = places
    p, o, e = point_at(centers, t, point), point_at(centers, t, origin), point_at(centers, t, tip)
    a, w = minus(e, o), minus(p, o)
    turned = (
        a[1] * w[2] - a[2] * w[1],
        a[2] * w[0] - a[0] * w[2],
        a[0] * w[1] - a[1] * w[0],
    )
    around = point_at(radii, t, origin)
    a_off = plus(point_at(radii, t, tip), around)
    w_off = plus(point_at(radii, t, point), around)
    total = size(p) + size(o) + size(e)
    rounding = 32.0 * EPS * total * (1.0 + total)
    bound = length(turned) + length(a_off) * length(w) + length(w_off)
    return bound * ROUNDING + rounding  # type: ignore[no-any-return]


@jit
def _curved(lever: Levers, errors: ErrorSet, i: int) -> tuple[float, float]:
    """Return what curvature adds to the two sums, for point i."""
    box = ellipsoid = 0.0
    for j in range(len(errors.position)):
        for m in range(len(errors.position)):
            if lever.moves[j, i] > 0.0 and lever.moves[m, i] > 0.0:
                D = lever.reach[max(j, m), i]
                if lever.is_prismatic[j] + lever.is_prismatic[m] > 0.0:
                    D = 1.0
                box += errors.position[j] * errors.position[m] * D
                ellipsoid += (errors.half_axes[j] * errors.half_axes[m] * D) ** 2
    return 0.5 * box, 0.5 * math.sqrt(ellipsoid)


@jit
def _ball(lever: Levers, errors: ErrorSet, d: Array, curved: Array, i: int) -> float:
    """Smaller bound of the two sums, for point i."""
    box = ellipsoid = 0.0
    for j in range(len(d)):
        if lever.moves[j, i] > 0.0:
            box += errors.position[j] * d[j]
            ellipsoid += (errors.half_axes[j] * d[j]) ** 2
    first, second = box + curved[i, 0], math.sqrt(ellipsoid) + curved[i, 1]
    smaller = first if not second < first else second
    return smaller * ROUNDING  # type: ignore[no-any-return]


@part_jit
def _set_derivative(lever: Levers, centers: Array, radii: Array, i: int, j: int, J: Array) -> None:
    """Set the derivative of point i in q_j, and how far it may be off: (x, y, z, off)."""
    n, count = lever.moves.shape
    J[j] = 0.0
    if lever.moves[j, i] == 0.0:
        return
    origin, tip = count + j, count + n + j
    a_off = w_off = w_length = size = 0.0
    for r in range(3):
        k, m = (r + 1) % 3, (r + 2) % 3
        a_k, a_m = centers[tip, k] - centers[origin, k], centers[tip, m] - centers[origin, m]
        w_k, w_m = centers[i, k] - centers[origin, k], centers[i, m] - centers[origin, m]
        J[j, r] = a_k * w_m - a_m * w_k
        if lever.is_prismatic[j] > 0.0:
            J[j, r] = centers[tip, r] - centers[origin, r]
        w_length += w_k * w_k
        a_off += (radii[tip, r] + radii[origin, r]) ** 2
        w_off += (radii[i, r] + radii[origin, r]) ** 2
        size += abs(centers[i, r]) + abs(centers[origin, r]) + abs(centers[tip, r])
    off = np.sqrt(a_off) * np.sqrt(w_length) + np.sqrt(w_off)
    if lever.is_prismatic[j] > 0.0:
        off = np.sqrt(a_off)
    J[j, 3] = off * ROUNDING + 32.0 * EPS * size * (1.0 + size)


@part_jit
def _ball_along(lever: Levers, errors: ErrorSet, t: int, J: Array, i: int) -> float:
    """How far e = L z moves point i in time step t."""
    n, L = len(J), errors.e
    M, size, off = np.zeros((3, 3)), 0.0, 0.0
    for c in range(n):
        x = y = z = 0.0
        for j in range(n):
            x += J[j, 0] * L[t, j, c]
            y += J[j, 1] * L[t, j, c]
            z += J[j, 2] * L[t, j, c]
            size += abs(L[t, j, c]) * (abs(J[j, 0]) + abs(J[j, 1]) + abs(J[j, 2]))
        column = (x, y, z)
        for r in range(3):
            for k in range(3):
                M[r, k] += column[r] * column[k]
    for j in range(n):
        square = 0.0
        for c in range(n):
            square += L[t, j, c] ** 2
        off += J[j, 3] * min(np.sqrt(square), errors.position[j])
    rounding = 1e-13 * size
    return (_root_of_norm(M) + rounding + off + _curvature(lever, L, t, i)) * ROUNDING  # type: ignore[no-any-return]


@part_jit
def _root_of_norm(M: Array) -> float:
    """Upper bound of the root of the norm of a 3 x 3 matrix that is not negative."""
    largest = max(M[0, 0], M[1, 1], M[2, 2])
    if not largest > 0.0:
        return 0.0
    power, square = M / largest, 0.0
    for _ in range(2):
        before = power.copy()
        for r in range(3):
            for k in range(3):
                power[r, k] = 0.0
                for m in range(3):
                    power[r, k] += before[r, m] * before[m, k]
    for r in range(3):
        for k in range(3):
            square += power[r, k] ** 2
    return np.sqrt(largest * square**0.125) * ROUNDING  # type: ignore[no-any-return]


@part_jit
def _curvature(lever: Levers, L: Array, t: int, i: int) -> float:
    """Half the 2-norm of |L|' D |L| for point i."""
    n = L.shape[1]
    total, weighted = 0.0, np.zeros(n)
    for b in range(n):
        for j in range(n):
            weighted[j] = 0.0
            if lever.moves[j, i] > 0.0:
                for m in range(n):
                    if lever.moves[m, i] > 0.0 and L[t, m, b] != 0.0:
                        D = lever.reach[max(j, m), i]
                        if lever.is_prismatic[j] + lever.is_prismatic[m] > 0.0:
                            D = 1.0
                        weighted[j] += D * abs(L[t, m, b])
        for a in range(n):
            entry = 0.0
            for j in range(n):
                entry += abs(L[t, j, a]) * weighted[j]
            total += entry * entry
    return 0.5 * np.sqrt(total)  # type: ignore[no-any-return]
