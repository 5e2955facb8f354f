"""Mass matrix and bias torque of a tree of bodies, compiled: H(q) and C(q, qd) qd + g(q).

Everything is written in axes of the base frame, about the origins of the joint frames. Then a body
and all it carries move to the joint below by a shift d alone:

    first moment  h + m d        inertia  I + 2 (h.d) 1 - h d' - d h' + m (d.d 1 - d d')
    moment        N + d x F

Newton and Euler about such an origin, with m c = h and a its acceleration less gravity:

    F = m a + alpha x h + omega x (omega x h)      N = I alpha + omega x I omega + h x a

Body i is one row of a table, whose columns are named below: one array, and no views of it, because
with a tuple of arrays and views of them it took four times as long.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.forward_kinematics import joint_frames_into
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit, part_jit

AXIS, LEVER, FIRST, INERTIA = 0, 3, 6, 9  # joint axis, d, h, (xx, xy, yy, xz, yz, zz)
MASS, OMEGA, ALPHA, LINEAR = 15, 16, 19, 22  # the last: a, less gravity
FORCE, MOMENT, COLUMNS = 25, 28, 31


@jit
def mass_matrix_and_bias(
    tree: Tree, phi: Array, q: Array, qd: Array, H: Array, bias: Array
) -> None:
    """H (n, n) of the rigid bodies phi (n, 10), and C qd + g (n,), written into H and bias."""
    n = len(q)
    R, p, rows = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, COLUMNS))
    joint_frames_into(tree, q, R, p)
    for i in range(n):
        up = tree.parent[i]
        for r in range(3):
            x, y, z = R[i, r, 0], R[i, r, 1], R[i, r, 2]
            rows[i, r] = x * tree.axis[i, 0] + y * tree.axis[i, 1] + z * tree.axis[i, 2]
            rows[i, LEVER + r] = p[i, r] - (p[up, r] if up >= 0 else 0.0)
            rows[i, FIRST + r] = x * phi[i, 1] + y * phi[i, 2] + z * phi[i, 3]
        _turn_inertia(phi, R, i, rows)
        _move(tree, i, qd[i], rows)
        _newton_euler(i, rows)
    for i in range(n - 1, -1, -1):
        joint = FORCE if tree.is_prismatic[i] else MOMENT
        bias[i] = _dot(rows, i, AXIS, joint)
        up = tree.parent[i]
        if up >= 0:
            for r in range(3):
                rows[up, FORCE + r] += rows[i, FORCE + r]
                rows[up, MOMENT + r] += rows[i, MOMENT + r]
            _add_cross(rows, i, LEVER, i, FORCE, up, MOMENT)
    H[:] = 0.0
    for i in range(n - 1, -1, -1):
        _column(tree, i, H, rows)
        if tree.parent[i] >= 0:
            _carry(i, tree.parent[i], rows)


@jit
def _dot(rows: Array, i: int, a: int, b: int) -> float:
    product = rows[i, a] * rows[i, b] + rows[i, a + 1] * rows[i, b + 1]
    return product + rows[i, a + 2] * rows[i, b + 2]  # type: ignore[no-any-return]


@jit
def _add_cross(rows: Array, i: int, a: int, j: int, b: int, k: int, out: int) -> None:
    """Vector `out` of body k += vector a of body i x vector b of body j."""
    x, y, z = rows[i, a], rows[i, a + 1], rows[i, a + 2]
    u, v, w = rows[j, b], rows[j, b + 1], rows[j, b + 2]
    rows[k, out] += y * w - z * v
    rows[k, out + 1] += z * u - x * w
    rows[k, out + 2] += x * v - y * u


@part_jit
def _turn_inertia(phi: Array, R: Array, i: int, rows: Array) -> None:
    """Mass, and the inertia in axes of the base frame: R I R'."""
    rows[i, MASS] = phi[i, 0]
    entry = INERTIA
    for r in range(3):
        a, b, c = R[i, r, 0], R[i, r, 1], R[i, r, 2]
        x = a * phi[i, 4] + b * phi[i, 5] + c * phi[i, 7]
        y = a * phi[i, 5] + b * phi[i, 6] + c * phi[i, 8]
        z = a * phi[i, 7] + b * phi[i, 8] + c * phi[i, 9]
        for s in range(r + 1):
            rows[i, entry] = x * R[i, s, 0] + y * R[i, s, 1] + z * R[i, s, 2]
            entry += 1


@jit
def _turned(rows: Array, i: int, a: int) -> tuple[float, float, float]:
    """Inertia times vector a of the same body."""
    x, y, z = rows[i, a], rows[i, a + 1], rows[i, a + 2]
    xx, xy, yy = rows[i, INERTIA], rows[i, INERTIA + 1], rows[i, INERTIA + 2]
    xz, yz, zz = rows[i, INERTIA + 3], rows[i, INERTIA + 4], rows[i, INERTIA + 5]
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@jit
def _move(tree: Tree, i: int, rate: float, rows: Array) -> None:
    """Angular velocity and the accelerations of one body when no joint accelerates."""
    up = tree.parent[i]
    if up < 0:
        for r in range(3):
            rows[i, OMEGA + r], rows[i, ALPHA + r] = 0.0, 0.0
            rows[i, LINEAR + r] = -tree.gravity[r]
    else:
        along = square = 0.0
        for r in range(3):
            rows[i, OMEGA + r], rows[i, ALPHA + r] = rows[up, OMEGA + r], rows[up, ALPHA + r]
            along += rows[up, OMEGA + r] * rows[i, LEVER + r]
            square += rows[up, OMEGA + r] * rows[up, OMEGA + r]
        for r in range(3):
            inward = rows[up, OMEGA + r] * along - rows[i, LEVER + r] * square
            rows[i, LINEAR + r] = rows[up, LINEAR + r] + inward
        _add_cross(rows, up, ALPHA, i, LEVER, i, LINEAR)
    x, y, z = rows[i, OMEGA], rows[i, OMEGA + 1], rows[i, OMEGA + 2]
    u, v, w = rate * rows[i, AXIS], rate * rows[i, AXIS + 1], rate * rows[i, AXIS + 2]
    changed, factor = (LINEAR, 2.0) if tree.is_prismatic[i] else (ALPHA, 1.0)
    rows[i, changed] += factor * (y * w - z * v)
    rows[i, changed + 1] += factor * (z * u - x * w)
    rows[i, changed + 2] += factor * (x * v - y * u)
    if not tree.is_prismatic[i]:
        rows[i, OMEGA] += u
        rows[i, OMEGA + 1] += v
        rows[i, OMEGA + 2] += w


@part_jit
def _newton_euler(i: int, rows: Array) -> None:
    """Force and moment that move one body as `_move` says."""
    along, square = _dot(rows, i, OMEGA, FIRST), _dot(rows, i, OMEGA, OMEGA)
    for r in range(3):
        inward = rows[i, OMEGA + r] * along - rows[i, FIRST + r] * square
        rows[i, FORCE + r] = rows[i, MASS] * rows[i, LINEAR + r] + inward
    _add_cross(rows, i, ALPHA, i, FIRST, i, FORCE)
    u, v, w = _turned(rows, i, ALPHA)
    a, b, c = _turned(rows, i, OMEGA)
    x, y, z = rows[i, OMEGA], rows[i, OMEGA + 1], rows[i, OMEGA + 2]
    rows[i, MOMENT] = u + y * c - z * b
    rows[i, MOMENT + 1] = v + z * a - x * c
    rows[i, MOMENT + 2] = w + x * b - y * a
    _add_cross(rows, i, FIRST, i, LINEAR, i, MOMENT)


@part_jit
def _column(tree: Tree, i: int, H: Array, rows: Array) -> None:
    """Column of H: torques that give joint i the acceleration 1 and no other one any."""
    a, b, c = rows[i, AXIS], rows[i, AXIS + 1], rows[i, AXIS + 2]
    x, y, z = rows[i, FIRST], rows[i, FIRST + 1], rows[i, FIRST + 2]
    if tree.is_prismatic[i]:
        m = rows[i, MASS]
        F0, F1, F2 = m * a, m * b, m * c
        N0, N1, N2 = y * c - z * b, z * a - x * c, x * b - y * a
    else:
        F0, F1, F2 = b * z - c * y, c * x - a * z, a * y - b * x
        N0, N1, N2 = _turned(rows, i, AXIS)
    j = i
    while j >= 0:
        a, b, c = rows[j, AXIS], rows[j, AXIS + 1], rows[j, AXIS + 2]
        if tree.is_prismatic[j]:
            H[i, j] = a * F0 + b * F1 + c * F2
        else:
            H[i, j] = a * N0 + b * N1 + c * N2
        H[j, i] = H[i, j]
        x, y, z = rows[j, LEVER], rows[j, LEVER + 1], rows[j, LEVER + 2]
        N0 += y * F2 - z * F1
        N1 += z * F0 - x * F2
        N2 += x * F1 - y * F0
        j = tree.parent[j]


@part_jit
def _carry(i: int, up: int, rows: Array) -> None:
    """Body `up` takes over body i and all that it carries."""
    m = rows[i, MASS]
    diagonal = 2.0 * _dot(rows, i, FIRST, LEVER) + m * _dot(rows, i, LEVER, LEVER)
    entry = INERTIA
    for r in range(3):
        h, d = rows[i, FIRST + r], rows[i, LEVER + r]
        for s in range(r + 1):
            shift = h * rows[i, LEVER + s] + d * (rows[i, FIRST + s] + m * rows[i, LEVER + s])
            rows[up, entry] += rows[i, entry] - shift
            if s == r:
                rows[up, entry] += diagonal
            entry += 1
    for r in range(3):
        rows[up, FIRST + r] += rows[i, FIRST + r] + m * rows[i, LEVER + r]
    rows[up, MASS] += m
