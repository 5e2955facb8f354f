"""Columns of the torque regressor for the tip's body, and how they move with the motion.

Everything is in the frame of the body. With s_k the motion of the body per unit rate of joint k,
v_j and A_j its velocity and acceleration (minus gravity) as if it was fixed to the frame that
joint j turns against, and x the cross product of motions,

    v = sum s_k qd_k,  a = sum s_k qdd_k + v_k x s_k qd_k - gravity,
    W_k = b(s_k, a) + b(s_k x v, v)                         (theta_e columns of W, eq. (10))

`tip_pullback` is the adjoint of `torque_rows` with the columns of this body alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.motion_algebra import bilinear, motion_cross, to_child
from safe_sysid.model.dynamics.regressors import checked_rows, joint_pose
from safe_sysid.model.dynamics.torque_rows import RowLayout, torque_pullback_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit


class _Motions(NamedTuple):
    """Motions of the tip's body in one sample; entry i belongs to the i-th joint of the path."""

    s: Array  # (P, 6)
    before: Array  # (P + 1, 6) velocity v_j, the last one is v
    acceleration: Array  # (P + 1, 6) A_j, the last one is a


def tip_path(model: RobotModel) -> IntArray:
    """Joints that move the tip, from the base."""
    return path_to(model.tree, model.layout.tip)


def path_to(tree: Tree, body: int) -> IntArray:
    """Joints that move a body, from the base."""
    path = [body]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return np.array(path[::-1], dtype=np.int64)


def tip_regressor(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """W_e, the theta_e columns of the standard regressor; (N, n) -> (N, n, 10)."""
    states = checked_states(model, q, qd, qdd)
    W_e = np.zeros((states.shape[1], model.n, 10))
    _tip_regressor_into(model.tree, tip_path(model), states, W_e)
    return W_e


def tip_pullback(model: RobotModel, q: Array, qd: Array, qdd: Array, weights: Array) -> Array:
    """Return derivatives of sum(weights * W_e) in q, qd, qdd; (N, n, 10) -> (3, N, n)."""
    states = checked_states(model, q, qd, qdd)
    weights = np.ascontiguousarray(weights, dtype=float)
    if weights.shape != (states.shape[1], model.n, 10):
        raise MeasurementError(
            f'weights have shape {weights.shape}; one per entry of W_e is needed, '
            f'{(states.shape[1], model.n, 10)}'
        )
    column = np.full((model.n, model.layout.size), -1)
    column[:, model.layout.end_effector] = np.arange(10)
    slopes, by_joint = np.zeros_like(states), np.ascontiguousarray(weights.swapaxes(0, 1))
    torque_pullback_into(model.tree, RowLayout(column, 1.0), states, by_joint, slopes)
    return slopes


def checked_states(model: RobotModel, q: Array, qd: Array, qdd: Array) -> Array:
    """Return checked states, (3, N, n)."""
    rows = [checked_rows(x, model.n, name) for x, name in ((q, 'q'), (qd, 'qd'), (qdd, 'qdd'))]
    if len({len(x) for x in rows}) > 1:
        raise MeasurementError(f'q, qd, qdd have {[len(x) for x in rows]} samples')
    return np.stack(rows)


@jit
def _tip_regressor_into(tree: Tree, path: IntArray, states: Array, W_e: Array) -> None:
    motions = _empty(len(path))
    cross = np.empty(6)
    for t in range(states.shape[1]):
        _set_motions(tree, path, states[:, t], motions)
        v, a = motions.before[-1], motions.acceleration[-1]
        for i in range(len(path)):
            bilinear(motions.s[i], a, W_e[t, path[i]], 0, 1.0)
            motion_cross(motions.s[i], v, cross)
            bilinear(cross, v, W_e[t, path[i]], 0, 1.0)


@jit
def _empty(joints: int) -> _Motions:
    return _Motions(np.zeros((joints, 6)), np.zeros((joints + 1, 6)), np.zeros((joints + 1, 6)))


@jit
def _set_motions(tree: Tree, path: IntArray, state: Array, motions: _Motions) -> None:
    """Motions of one sample; state (3, n) has q, qd, qdd."""
    R, p = np.empty((3, 3)), np.empty(3)
    R_tip, p_tip, axis = np.eye(3), np.zeros(3), np.zeros(6)  # pose of the tip in frame i
    for i in range(len(path) - 1, -1, -1):
        j = path[i]
        own = 0 if tree.is_prismatic[j] else 3
        axis[:] = 0.0
        for r in range(3):
            axis[own + r] = tree.axis[j, r]
        to_child(R_tip, p_tip, axis, motions.s[i])
        joint_pose(tree, j, state[0, j], R, p)
        _compose(R, p, R_tip, p_tip)
    v, a, cross = motions.before, motions.acceleration, axis
    v[0] = 0.0
    for r in range(3):
        a[0, r], a[0, r + 3] = 0.0, 0.0
        for c in range(3):
            a[0, r] -= R_tip[c, r] * tree.gravity[c]
    for i in range(len(path)):
        j = path[i]
        motion_cross(v[i], motions.s[i], cross)
        for r in range(6):
            v[i + 1, r] = v[i, r] + motions.s[i, r] * state[1, j]
            a[i + 1, r] = a[i, r] + motions.s[i, r] * state[2, j] + cross[r] * state[1, j]


@jit
def _compose(R: Array, p: Array, R_tip: Array, p_tip: Array) -> None:
    """Pose of the tip seen from one frame further down, whose next frame has the pose (R, p)."""
    R_old, p_old = R_tip.copy(), p_tip.copy()
    for r in range(3):
        p_tip[r] = p[r]
        for c in range(3):
            p_tip[r] += R[r, c] * p_old[c]
            R_tip[r, c] = R[r, 0] * R_old[0, c] + R[r, 1] * R_old[1, c] + R[r, 2] * R_old[2, c]
