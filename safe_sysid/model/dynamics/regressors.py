"""Torque, Slotine-Li and momentum regressors of a tree of joints, linear in theta.

All four come from one bilinear form: the work of the spatial momentum I(phi) v on a motion s is
linear in the ten parameters phi, s . I(phi) v = b(s, v) phi. With s_k the motion of body i per
unit rate of joint k (all in the frame of body i), v the velocity of the body, a its acceleration
minus gravity, and x the cross product of motions:

    torque, Slotine-Li   b(s, a) + 1/2 b(s x v, v_a) + 1/2 b(s x v_a, v)      W_s  (10)
    momentum             b(s, v)                                              W_m  (11)
    momentum rate        b(dv/dq_k, v) + b(s, gravity),  dv/dq_k = v_k x s_k  W_c  (12)

where a of Slotine-Li carries the symmetric velocity product 1/2 (v x s qd_a + v_a x s qd), so
that C is the Christoffel form and W_s with qd_a = qd is the standard regressor W.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.motion_algebra import bilinear, motion_cross, to_child
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit

CHUNK = 256  # samples; their regressors of a 7-joint arm are 1.4 MB each, which stay in the cache


def standard_regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """W with W theta = H qdd + C qd + g + F, eq. (10); (N, n) -> (N, n, 14 n)."""
    return slotine_li_regressor(model, q, qd, qd, qdd)


def slotine_li_regressor(
    model: RobotModel, q: Array, qd: Array, qd_a: Array, qdd_a: Array
) -> Array:
    """W_s with W_s theta = H qdd_a + C(q, qd) qd_a + g + F; (N, n) or (n,) rows."""
    rows = _checked(model, q=q, qd=qd, qd_a=qd_a, qdd_a=qdd_a)
    W = np.empty((len(rows[0]), model.n, model.layout.size))
    slotine_li_into(model.tree, *rows, W)
    return W if np.ndim(q) == 2 else W[0]


def momentum_regressors(model: RobotModel, q: Array, qd: Array) -> tuple[Array, Array]:
    """W_m with W_m theta = H qd (rigid bodies), eq. (11), and W_c, eq. (12)."""
    rows = _checked(model, q=q, qd=qd)
    W_m = np.empty((len(rows[0]), model.n, model.layout.size))
    W_c = np.empty_like(W_m)
    momentum_into(model.tree, *rows, W_m, W_c)
    return (W_m, W_c) if np.ndim(q) == 2 else (W_m[0], W_c[0])


def momentum_chunks(
    model: RobotModel, q: Array, qd: Array, chunk: int = CHUNK
) -> Iterator[tuple[slice, Array, Array]]:
    """Yield (samples, W_m, W_c) of a long log piece by piece, in two reused buffers."""
    q, qd = _checked(model, q=q, qd=qd)
    W_m = np.empty((min(chunk, len(q)), model.n, model.layout.size))
    W_c = np.empty_like(W_m)
    for start in range(0, len(q), chunk):
        piece = slice(start, min(start + chunk, len(q)))
        size = piece.stop - start
        momentum_into(model.tree, q[piece], qd[piece], W_m[:size], W_c[:size])
        yield piece, W_m[:size], W_c[:size]


def _checked(model: RobotModel, **states: Array) -> list[Array]:
    """Return checked rows of several arrays with as many samples each."""
    rows = [checked_rows(x, model.n, name) for name, x in states.items()]
    for name, x in zip(states, rows, strict=True):
        if len(x) != len(rows[0]):
            raise MeasurementError(f'{name} has {len(x)} samples, q has {len(rows[0])}')
    return rows


def checked_rows(x: Array, n: int, name: str) -> Array:
    """Rows of n finite numbers each, as kernels take them; a single row becomes a batch of one."""
    rows = x if _is_ready(x) else np.require(np.atleast_2d(np.asarray(x)), np.float64, ['C', 'W'])
    if rows.ndim != 2 or rows.shape[1] != n:
        raise MeasurementError(
            f'{name} has shape {np.shape(x)}; rows of {n} entries are needed, one per joint'
        )
    if not np.isfinite(rows).all():
        sample, joint = np.argwhere(~np.isfinite(rows))[0]
        raise MeasurementError(
            f'{name} of joint {joint} is {rows[sample, joint]} in sample {sample}; '
            'measurements have to be finite'
        )
    return rows


def _is_ready(x: Array) -> bool:
    """Whether kernels take an array as it is."""
    return (
        type(x) is np.ndarray
        and x.ndim == 2
        and x.dtype == np.float64
        and x.flags.c_contiguous
        and x.flags.writeable
    )


@jit
def joint_pose(tree: Tree, i: int, q: float, R: Array, p: Array) -> None:
    """Pose of joint frame i in the frame of the joint below it."""
    a = tree.axis[i]
    R0 = tree.R_parent_joint[i]
    if tree.is_prismatic[i]:
        for r in range(3):
            p[r] = tree.p_parent_joint[i, r]
            for c in range(3):
                R[r, c] = R0[r, c]
                p[r] += R0[r, c] * a[c] * q
        return
    s, c = np.sin(q), np.cos(q)
    v = 1.0 - c
    m00, m01, m02 = c + v * a[0] * a[0], v * a[0] * a[1] - s * a[2], v * a[0] * a[2] + s * a[1]
    m10, m11, m12 = v * a[0] * a[1] + s * a[2], c + v * a[1] * a[1], v * a[1] * a[2] - s * a[0]
    m20, m21, m22 = v * a[0] * a[2] - s * a[1], v * a[1] * a[2] + s * a[0], c + v * a[2] * a[2]
    for r in range(3):
        p[r] = tree.p_parent_joint[i, r]
        x, y, z = R0[r, 0], R0[r, 1], R0[r, 2]
        R[r, 0] = x * m00 + y * m10 + z * m20
        R[r, 1] = x * m01 + y * m11 + z * m21
        R[r, 2] = x * m02 + y * m12 + z * m22


@jit
def _add_gravity(tree: Tree, factor: float, motion: Array) -> None:
    for r in range(3):
        motion[r] += factor * tree.gravity[r]


@jit
def momentum_into(tree: Tree, q: Array, qd: Array, W_m: Array, W_c: Array) -> None:
    """Momentum and momentum-rate regressors of every sample, written into W_m and W_c."""
    n = len(tree.parent)
    R, p = np.empty((3, 3)), np.empty(3)
    v, g = np.zeros((n + 1, 6)), np.zeros((n + 1, 6))  # entry 0 is the base, i + 1 body i
    s, dv = np.zeros((n + 1, n, 6)), np.zeros((n + 1, n, 6))  # per body and joint below it
    below = np.zeros((n + 1, n), dtype=np.bool_)
    _add_gravity(tree, 1.0, g[0])
    for t in range(q.shape[0]):
        W_m[t] = 0.0
        W_c[t] = 0.0
        for i in range(n):
            up = tree.parent[i] + 1
            joint_pose(tree, i, q[t, i], R, p)
            to_child(R, p, v[up], v[i + 1])
            to_child(R, p, g[up], g[i + 1])
            for k in range(i):
                below[i + 1, k] = below[up, k]
                if below[up, k]:
                    to_child(R, p, s[up, k], s[i + 1, k])
                    to_child(R, p, dv[up, k], dv[i + 1, k])
            below[i + 1, i] = True
            own = 0 if tree.is_prismatic[i] else 3
            s[i + 1, i] = 0.0
            for r in range(3):
                s[i + 1, i, own + r] = tree.axis[i, r]
                v[i + 1, own + r] += tree.axis[i, r] * qd[t, i]
            motion_cross(v[i + 1], s[i + 1, i], dv[i + 1, i])
            for k in range(i + 1):
                if below[i + 1, k]:
                    bilinear(s[i + 1, k], v[i + 1], W_m[t, k], 10 * i, 1.0)
                    bilinear(dv[i + 1, k], v[i + 1], W_c[t, k], 10 * i, 1.0)
                    bilinear(s[i + 1, k], g[i + 1], W_c[t, k], 10 * i, 1.0)
            W_c[t, i, 10 * n + i] = -np.sign(qd[t, i])
            W_c[t, i, 11 * n + i] = -qd[t, i]
            W_c[t, i, 13 * n + i] = -1.0


@jit
def slotine_li_into(tree: Tree, q: Array, qd: Array, qd_a: Array, qdd_a: Array, W: Array) -> None:
    """Slotine-Li regressor of every sample, written into W."""
    n = len(tree.parent)
    R, p = np.empty((3, 3)), np.empty(3)
    v, va, a = np.zeros((n + 1, 6)), np.zeros((n + 1, 6)), np.zeros((n + 1, 6))
    s, cross = np.zeros((n + 1, n, 6)), np.empty(6)
    below = np.zeros((n + 1, n), dtype=np.bool_)
    _add_gravity(tree, -1.0, a[0])  # lifting the base is the same as gravity
    for t in range(q.shape[0]):
        W[t] = 0.0
        for i in range(n):
            up = tree.parent[i] + 1
            joint_pose(tree, i, q[t, i], R, p)
            to_child(R, p, v[up], v[i + 1])
            to_child(R, p, va[up], va[i + 1])
            to_child(R, p, a[up], a[i + 1])
            for k in range(i):
                below[i + 1, k] = below[up, k]
                if below[up, k]:
                    to_child(R, p, s[up, k], s[i + 1, k])
            below[i + 1, i] = True
            own = 0 if tree.is_prismatic[i] else 3
            s[i + 1, i] = 0.0
            for r in range(3):
                s[i + 1, i, own + r] = tree.axis[i, r]
                v[i + 1, own + r] += tree.axis[i, r] * qd[t, i]
                va[i + 1, own + r] += tree.axis[i, r] * qd_a[t, i]
                a[i + 1, own + r] += tree.axis[i, r] * qdd_a[t, i]
            motion_cross(v[i + 1], s[i + 1, i], cross)
            for r in range(6):
                a[i + 1, r] += 0.5 * qd_a[t, i] * cross[r]
            motion_cross(va[i + 1], s[i + 1, i], cross)
            for r in range(6):
                a[i + 1, r] += 0.5 * qd[t, i] * cross[r]
            for k in range(i + 1):
                if below[i + 1, k]:
                    bilinear(s[i + 1, k], a[i + 1], W[t, k], 10 * i, 1.0)
                    motion_cross(s[i + 1, k], v[i + 1], cross)
                    bilinear(cross, va[i + 1], W[t, k], 10 * i, 0.5)
                    motion_cross(s[i + 1, k], va[i + 1], cross)
                    bilinear(cross, v[i + 1], W[t, k], 10 * i, 0.5)
            W[t, i, 10 * n + i] = np.sign(qd[t, i])
            W[t, i, 11 * n + i] = qd[t, i]
            W[t, i, 12 * n + i] = qdd_a[t, i]
            W[t, i, 13 * n + i] = 1.0
