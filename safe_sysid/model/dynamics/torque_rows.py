"""Rows of the torque regressor at many samples and their adjoint, written for an optimiser.

With s_k = (u, s) the motion of body b per unit rate of joint k, (d, alpha) its classical
acceleration minus gravity and omega its angular velocity, all in the frame of b,

    mass    u . d
    m c     u x alpha + omega x (omega x u) + d x s
    I       sigma(alpha, s) + sigma(omega, s x omega),   sigma(w, s) . I = w . I s

are the ten entries of joint k. A weighted sum of entries is the torque of fictitious bodies, one
for each (k, b), so its derivatives are a closed form per body; the recursion that carries motions
from body to body is then run backwards. Friction is diagonal, with tanh(qd / smooth) for its sign.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.model.dynamics.motion_algebra import motion_cross, to_child
from safe_sysid.model.dynamics.regressors import joint_pose
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import inline_jit, jit


class RowLayout(NamedTuple):
    """Where the entries of theta go: column of each in the rows of one joint, -1 if nowhere."""

    column: IntArray  # (n, 14 n)
    smooth: float  # [rad/s] width of the change of sign of Coulomb friction


class _Bodies(NamedTuple):
    """All bodies in one sample; entry 0 is the base, b + 1 body b."""

    R: Array  # (n, 3, 3) pose of a joint frame in the one below
    p: Array  # (n, 3)
    v: Array  # (n + 1, 6)
    a: Array  # (n + 1, 6) minus gravity
    s: Array  # (n + 1, n, 6)
    below: Array  # (n + 1, n) 1 where the joint moves the body


@jit
def torque_rows_into(tree: Tree, layout: RowLayout, states: Array, Y: Array) -> None:
    """Rows of every joint, Y (n, N, columns), at states (3, N, n); other entries stay 0."""
    n = len(tree.parent)
    bodies, ten = _empty(n), np.empty(10)
    for t in range(states.shape[1]):
        _move(tree, states[:, t], bodies)
        for b in range(n):
            for k in range(b + 1):
                if bodies.below[b + 1, k]:
                    _entries(bodies, b, k, ten)
                    for c in range(10):
                        to = layout.column[k, 10 * b + c]
                        if to >= 0:
                            Y[k, t, to] = ten[c]
        for k in range(n):
            qd, qdd = states[1, t, k], states[2, t, k]
            own = (np.tanh(qd / layout.smooth), qd, qdd, 1.0)
            for c in range(4):
                to = layout.column[k, (10 + c) * n + k]
                if to >= 0:
                    Y[k, t, to] = own[c]


@jit
def torque_pullback_into(
    tree: Tree, layout: RowLayout, states: Array, weights: Array, slopes: Array
) -> None:
    """Add the derivatives of sum(weights * Y) in q, qd, qdd to slopes (3, N, n)."""
    n = len(tree.parent)
    bodies, work = _empty(n), np.zeros((n, 10 * n))
    back, counts = np.empty((n + 1, n + 2, 6)), _counted(layout.column)
    for t in range(states.shape[1]):
        _move(tree, states[:, t], bodies)
        for k in range(n):
            for i in range(10 * k, 10 * n):
                at = layout.column[k, i]
                work[k, i] = weights[k, t, at] if at >= 0 else 0.0
        _pull(tree, bodies, states[:, t], (work, counts), back, slopes[:, t])
        for k in range(n):
            at = layout.column[k, 10 * n + k]
            if at >= 0:
                sign = np.tanh(states[1, t, k] / layout.smooth)
                slopes[1, t, k] += weights[k, t, at] * (1.0 - sign * sign) / layout.smooth
            at = layout.column[k, 11 * n + k]
            if at >= 0:
                slopes[1, t, k] += weights[k, t, at]
            at = layout.column[k, 12 * n + k]
            if at >= 0:
                slopes[2, t, k] += weights[k, t, at]


@jit
def nominal_torque_into(
    tree: Tree, theta: Array, smooth: float, states: Array, tau: Array
) -> None:
    """Torque (N, n) of parameters theta."""
    n = len(tree.parent)
    bodies, f = _empty(n), np.empty(6)
    for t in range(states.shape[1]):
        _move(tree, states[:, t], bodies)
        for k in range(n):
            qd, qdd = states[1, t, k], states[2, t, k]
            tau[t, k] = theta[10 * n + k] * np.tanh(qd / smooth) + theta[11 * n + k] * qd
            tau[t, k] += theta[12 * n + k] * qdd + theta[13 * n + k]
        for b in range(n):
            _wrench(theta[10 * b : 10 * b + 10], bodies.v[b + 1], bodies.a[b + 1], f)
            for k in range(b + 1):
                if bodies.below[b + 1, k]:
                    for r in range(6):
                        tau[t, k] += bodies.s[b + 1, k, r] * f[r]


@jit
def torque_slopes_into(
    tree: Tree, theta: Array, smooth: float, states: Array, joints: IntArray, slopes: Array
) -> None:
    """Write derivatives of the torque of joint joints[t] in sample t to slopes (3, N, n)."""
    n = len(tree.parent)
    bodies, work = _empty(n), np.zeros((n, 10 * n))
    back, counts = np.empty((n + 1, n + 2, 6)), np.ones(n, dtype=np.bool_)
    for t in range(states.shape[1]):
        slopes[:, t] = 0.0
        k = joints[t]
        _move(tree, states[:, t], bodies)
        work[:] = 0.0
        for i in range(10 * k, 10 * n):
            work[k, i] = theta[i]
        _pull(tree, bodies, states[:, t], (work, counts), back, slopes[:, t])
        sign = np.tanh(states[1, t, k] / smooth)
        slopes[1, t, k] += theta[10 * n + k] * (1.0 - sign * sign) / smooth + theta[11 * n + k]
        slopes[2, t, k] += theta[12 * n + k]


@jit
def _empty(n: int) -> _Bodies:
    return _Bodies(
        np.empty((n, 3, 3)),
        np.empty((n, 3)),
        np.zeros((n + 1, 6)),
        np.zeros((n + 1, 6)),
        np.zeros((n + 1, n, 6)),
        np.zeros((n + 1, n), dtype=np.int64),
    )


@jit
def _move(tree: Tree, state: Array, bodies: _Bodies) -> None:
    """Motions of all bodies; state (3, n) has q, qd, qdd."""
    n, cross = len(tree.parent), np.empty(6)
    v, a, s, below = bodies.v, bodies.a, bodies.s, bodies.below
    for r in range(3):
        a[0, r] = -tree.gravity[r]  # lifting the base is the same as gravity
    for i in range(n):
        up = tree.parent[i] + 1
        R, p = bodies.R[i], bodies.p[i]
        joint_pose(tree, i, state[0, i], R, p)
        to_child(R, p, v[up], v[i + 1])
        to_child(R, p, a[up], a[i + 1])
        for k in range(i):
            below[i + 1, k] = below[up, k]
            if below[up, k]:
                to_child(R, p, s[up, k], s[i + 1, k])
        below[i + 1, i] = 1
        own = 0 if tree.is_prismatic[i] else 3
        for r in range(3):
            s[i + 1, i, own + r] = tree.axis[i, r]
            v[i + 1, own + r] += tree.axis[i, r] * state[1, i]
            a[i + 1, own + r] += tree.axis[i, r] * state[2, i]
        motion_cross(v[i + 1], s[i + 1, i], cross)
        for r in range(6):
            a[i + 1, r] += cross[r] * state[1, i]


@inline_jit
def _entries(bodies: _Bodies, b: int, k: int, ten: Array) -> None:
    """Ten entries of the row of joint k for body b."""
    v, a, m = bodies.v[b + 1], bodies.a[b + 1], bodies.s[b + 1, k]
    ox, oy, oz = v[3], v[4], v[5]
    ax, ay, az = a[3], a[4], a[5]
    dx = a[0] + oy * v[2] - oz * v[1]
    dy = a[1] + oz * v[0] - ox * v[2]
    dz = a[2] + ox * v[1] - oy * v[0]
    ux, uy, uz, sx, sy, sz = m[0], m[1], m[2], m[3], m[4], m[5]
    ou, oo = ox * ux + oy * uy + oz * uz, ox * ox + oy * oy + oz * oz
    ten[0] = ux * dx + uy * dy + uz * dz
    ten[1] = uy * az - uz * ay + ox * ou - ux * oo + dy * sz - dz * sy
    ten[2] = uz * ax - ux * az + oy * ou - uy * oo + dz * sx - dx * sz
    ten[3] = ux * ay - uy * ax + oz * ou - uz * oo + dx * sy - dy * sx
    wx, wy, wz = sy * oz - sz * oy, sz * ox - sx * oz, sx * oy - sy * ox
    ten[4] = ax * sx + ox * wx
    ten[5] = ax * sy + ay * sx + ox * wy + oy * wx
    ten[6] = ay * sy + oy * wy
    ten[7] = ax * sz + az * sx + ox * wz + oz * wx
    ten[8] = ay * sz + az * sy + oy * wz + oz * wy
    ten[9] = az * sz + oz * wz


@inline_jit
def _wrench(phi: Array, v: Array, a: Array, f: Array) -> None:
    """Force and moment about the origin that give a body its motion."""
    ox, oy, oz = v[3], v[4], v[5]
    dx = a[0] + oy * v[2] - oz * v[1]
    dy = a[1] + oz * v[0] - ox * v[2]
    dz = a[2] + ox * v[1] - oy * v[0]
    m, hx, hy, hz = phi[0], phi[1], phi[2], phi[3]
    oh, oo = ox * hx + oy * hy + oz * hz, ox * ox + oy * oy + oz * oz
    f[0] = m * dx + a[4] * hz - a[5] * hy + ox * oh - hx * oo
    f[1] = m * dy + a[5] * hx - a[3] * hz + oy * oh - hy * oo
    f[2] = m * dz + a[3] * hy - a[4] * hx + oz * oh - hz * oo
    lx = phi[4] * ox + phi[5] * oy + phi[7] * oz
    ly = phi[5] * ox + phi[6] * oy + phi[8] * oz
    lz = phi[7] * ox + phi[8] * oy + phi[9] * oz
    f[3] = hy * dz - hz * dy + phi[4] * a[3] + phi[5] * a[4] + phi[7] * a[5] + oy * lz - oz * ly
    f[4] = hz * dx - hx * dz + phi[5] * a[3] + phi[6] * a[4] + phi[8] * a[5] + oz * lx - ox * lz
    f[5] = hx * dy - hy * dx + phi[7] * a[3] + phi[8] * a[4] + phi[9] * a[5] + ox * ly - oy * lx


@jit
def _counted(column: IntArray) -> AnyArray:
    """Which bodies have a column, (n,)."""
    n = len(column)
    counts = np.zeros(n, dtype=np.bool_)
    for b in range(n):
        for k in range(b + 1):
            for c in range(10 * b, 10 * b + 10):
                counts[b] |= column[k, c] >= 0
    return counts


@jit
def _pull(
    tree: Tree,
    bodies: _Bodies,
    state: Array,
    weighted: tuple[Array, AnyArray],
    back: Array,
    slopes: Array,
) -> None:
    """Pull one sample back; `back[b]` has derivatives in s_0 ... s_(n-1), v, a of a body.

    `weighted` has the weights (n, 10 n), and which bodies have any.
    """
    n, cross, other = len(tree.parent), np.empty(6), np.empty(6)
    weights, counts = weighted
    back[:] = 0.0
    for i in range(n - 1, -1, -1):
        for k in range(i + 1):
            if counts[i] and bodies.below[i + 1, k]:
                _pull_pair(bodies, i, k, weights[k, 10 * i : 10 * i + 10], cross, back[i + 1])
        own, v, a = bodies.s[i + 1, i], bodies.v[i + 1], bodies.a[i + 1]
        of_v, of_a = back[i + 1, n], back[i + 1, n + 1]
        qd = state[1, i]
        motion_cross(v, own, cross)
        motion_cross(cross, own, other)
        in_q = in_qd = in_qdd = 0.0
        for r in range(6):
            in_qdd += own[r] * of_a[r]
            in_qd += cross[r] * of_a[r]
            in_q -= other[r] * qd * of_a[r]
        _cross_transposed(own, of_a, other)
        for r in range(6):
            of_v[r] -= qd * other[r]
            in_qd += own[r] * of_v[r]
        in_q += _dot_cross(of_v, v, own) + _dot_cross(of_a, a, own)
        up = tree.parent[i] + 1
        for k in range(i):
            if bodies.below[up, k]:
                in_q += _dot_cross(back[i + 1, k], bodies.s[i + 1, k], own)
                _add_to_parent(bodies.R[i], bodies.p[i], back[i + 1, k], back[up, k])
        _add_to_parent(bodies.R[i], bodies.p[i], of_v, back[up, n])
        _add_to_parent(bodies.R[i], bodies.p[i], of_a, back[up, n + 1])
        slopes[0, i] += in_q
        slopes[1, i] += in_qd
        slopes[2, i] += in_qdd


@inline_jit
def _pull_pair(bodies: _Bodies, b: int, k: int, w: Array, f: Array, back: Array) -> None:
    """Add derivatives of the torque of joint k by a body with parameters w to `back`."""
    n = bodies.below.shape[1]
    v, a, m = bodies.v[b + 1], bodies.a[b + 1], bodies.s[b + 1, k]
    ox, oy, oz = v[3], v[4], v[5]
    ux, uy, uz, sx, sy, sz = m[0], m[1], m[2], m[3], m[4], m[5]
    h0, hx, hy, hz = w[0], w[1], w[2], w[3]
    _wrench(w, v, a, f)
    for r in range(6):
        back[k, r] += f[r]
    dx = h0 * ux + sy * hz - sz * hy  # in the classical acceleration
    dy = h0 * uy + sz * hx - sx * hz
    dz = h0 * uz + sx * hy - sy * hx
    of_v, of_a = back[n], back[n + 1]
    of_a[0] += dx
    of_a[1] += dy
    of_a[2] += dz
    of_a[3] += hy * uz - hz * uy + w[4] * sx + w[5] * sy + w[7] * sz
    of_a[4] += hz * ux - hx * uz + w[5] * sx + w[6] * sy + w[8] * sz
    of_a[5] += hx * uy - hy * ux + w[7] * sx + w[8] * sy + w[9] * sz
    of_v[0] += dy * oz - dz * oy
    of_v[1] += dz * ox - dx * oz
    of_v[2] += dx * oy - dy * ox
    oh, ou = ox * hx + oy * hy + oz * hz, ox * ux + oy * uy + oz * uz
    uh = ux * hx + uy * hy + uz * hz
    wx, wy, wz = sy * oz - sz * oy, sz * ox - sx * oz, sx * oy - sy * ox
    lx = w[4] * ox + w[5] * oy + w[7] * oz
    ly = w[5] * ox + w[6] * oy + w[8] * oz
    lz = w[7] * ox + w[8] * oy + w[9] * oz
    of_v[3] += ux * oh + hx * ou - 2.0 * ox * uh + v[1] * dz - v[2] * dy
    of_v[3] += w[4] * wx + w[5] * wy + w[7] * wz + ly * sz - lz * sy
    of_v[4] += uy * oh + hy * ou - 2.0 * oy * uh + v[2] * dx - v[0] * dz
    of_v[4] += w[5] * wx + w[6] * wy + w[8] * wz + lz * sx - lx * sz
    of_v[5] += uz * oh + hz * ou - 2.0 * oz * uh + v[0] * dy - v[1] * dx
    of_v[5] += w[7] * wx + w[8] * wy + w[9] * wz + lx * sy - ly * sx


@inline_jit
def _dot_cross(out: Array, a: Array, b: Array) -> float:
    """out . (a x b)."""
    linear = out[0] * (a[4] * b[2] - a[5] * b[1] + a[1] * b[5] - a[2] * b[4])
    linear += out[1] * (a[5] * b[0] - a[3] * b[2] + a[2] * b[3] - a[0] * b[5])
    linear += out[2] * (a[3] * b[1] - a[4] * b[0] + a[0] * b[4] - a[1] * b[3])
    angular = out[3] * (a[4] * b[5] - a[5] * b[4]) + out[4] * (a[5] * b[3] - a[3] * b[5])
    value: float = linear + angular + out[5] * (a[3] * b[4] - a[4] * b[3])
    return value


@inline_jit
def _cross_transposed(a: Array, h: Array, out: Array) -> None:
    """out with (a x b) . h = b . out for every motion b."""
    out[0] = h[1] * a[5] - h[2] * a[4]
    out[1] = h[2] * a[3] - h[0] * a[5]
    out[2] = h[0] * a[4] - h[1] * a[3]
    out[3] = h[1] * a[2] - h[2] * a[1] + h[4] * a[5] - h[5] * a[4]
    out[4] = h[2] * a[0] - h[0] * a[2] + h[5] * a[3] - h[3] * a[5]
    out[5] = h[0] * a[1] - h[1] * a[0] + h[3] * a[4] - h[4] * a[3]


@inline_jit
def _add_to_parent(R: Array, p: Array, h: Array, out: Array) -> None:
    """Add to `out` what `to_child` transposed makes of h."""
    x = R[0, 0] * h[0] + R[0, 1] * h[1] + R[0, 2] * h[2]
    y = R[1, 0] * h[0] + R[1, 1] * h[1] + R[1, 2] * h[2]
    z = R[2, 0] * h[0] + R[2, 1] * h[1] + R[2, 2] * h[2]
    out[0] += x
    out[1] += y
    out[2] += z
    out[3] += R[0, 0] * h[3] + R[0, 1] * h[4] + R[0, 2] * h[5] + p[1] * z - p[2] * y
    out[4] += R[1, 0] * h[3] + R[1, 1] * h[4] + R[1, 2] * h[5] + p[2] * x - p[0] * z
    out[5] += R[2, 0] * h[3] + R[2, 1] * h[4] + R[2, 2] * h[5] + p[0] * y - p[1] * x
