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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.tree import Tree
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.compiled import jit, parallel_jit, prange
from safe_sysid.sets.interval import EPS

ROUNDING = 1.0 + 1e-12  # sums here have at most 12^2 positive terms, each a few operations deep


class ErrorSet(NamedTuple):
    """Tracking errors of the positions: a box and an ellipsoid, both of which contain them."""

    position: Array  # (n,) half widths of the box
    half_axes: Array  # (n,) of the ellipsoid; infinite when there is none


class Levers(NamedTuple):
    """Joints that move each of P points, with the largest lever arm."""

    moves: Array  # (n, P) 1 where a joint is below a point, else 0
    reach: Array  # (n, P) [m] largest distance of a point from the origin of a joint
    is_prismatic: Array  # (n,) 1 or 0


def error_set(error: TrackingError, armature: Array, V_M: float) -> ErrorSet:
    """Tracking errors for armatures that are at least these, (n,).

    There is no ellipsoid where errors at the start may be larger than V <= V_M would leave them.
    """
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
    _error_balls(lever, errors, centers, radii, balls)
    return balls


@parallel_jit
def _error_balls(
    lever: Levers, errors: ErrorSet, centers: Array, radii: Array, balls: Array
) -> None:
    n, count = lever.moves.shape
    for t in prange(len(centers)):
        d = np.empty(n)
        for i in range(count):
            for j in range(n):
                d[j] = 0.0
                if lever.moves[j, i] > 0.0:
                    d[j] = 1.0
                    if lever.is_prismatic[j] == 0.0:
                        d[j] = _axis_distance(centers[t], radii[t], i, count + j, count + n + j)
            balls[t, i] = _ball(lever, errors, d, i)


@jit
def _axis_distance(centers: Array, radii: Array, point: int, origin: int, tip: int) -> float:
    """Upper bound of |a x w|, a = tip - origin of length one, w = point - origin.

    |a x w| <= |a0 x w0| + |a - a0| |w0| + |w - w0| for the centres a0 and w0.
    """
    a_off = w_off = w_length = product = 0.0
    for r in range(3):
        k, m = (r + 1) % 3, (r + 2) % 3
        a_k, a_m = centers[tip, k] - centers[origin, k], centers[tip, m] - centers[origin, m]
        w_k, w_m = centers[point, k] - centers[origin, k], centers[point, m] - centers[origin, m]
        product += (a_k * w_m - a_m * w_k) ** 2
        w_length += w_k * w_k
        a_off += (radii[tip, r] + radii[origin, r]) ** 2
        w_off += (radii[point, r] + radii[origin, r]) ** 2
    size = 0.0
    for r in range(3):
        size += abs(centers[point, r]) + abs(centers[origin, r]) + abs(centers[tip, r])
    rounding = 32.0 * EPS * size * (1.0 + size)
    bound = np.sqrt(product) + np.sqrt(a_off) * np.sqrt(w_length) + np.sqrt(w_off)
    return bound * ROUNDING + rounding  # type: ignore[no-any-return]


@jit
def _ball(lever: Levers, errors: ErrorSet, d: Array, i: int) -> float:
    """Smaller bound of the two sums, for point i."""
    box = curved_box = ellipsoid = curved_ellipsoid = 0.0
    for j in range(len(d)):
        if lever.moves[j, i] > 0.0:
            box += errors.position[j] * d[j]
            ellipsoid += (errors.half_axes[j] * d[j]) ** 2
            for m in range(len(d)):
                if lever.moves[m, i] > 0.0:
                    D = lever.reach[max(j, m), i]
                    if lever.is_prismatic[j] + lever.is_prismatic[m] > 0.0:
                        D = 1.0
                    curved_box += errors.position[j] * errors.position[m] * D
                    curved_ellipsoid += (errors.half_axes[j] * errors.half_axes[m] * D) ** 2
    first = box + 0.5 * curved_box
    second = np.sqrt(ellipsoid) + 0.5 * np.sqrt(curved_ellipsoid)
    smaller = first if not second < first else second
    return smaller * ROUNDING
