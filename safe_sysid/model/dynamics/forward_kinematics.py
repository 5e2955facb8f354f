"""Where the joint frames of a tree are, in the base frame, and how the last one moves."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import checked_rows, joint_pose
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit


def joint_frames(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """Axes as columns (n, 3, 3) and origins (n, 3) of the joint frames at q (n,)."""
    (row,) = checked_rows(q, model.n, 'q')
    R, p = np.empty((model.n, 3, 3)), np.empty((model.n, 3))
    joint_frames_into(model.tree, row, R, p)
    return R, p


def frames_of_poses(model: RobotModel, poses: Array) -> tuple[Array, Array]:
    """Return the same at each of T poses (T, n): (T, n, 3, 3) and (T, n, 3)."""
    rows = checked_rows(poses, model.n, 'q')
    R, p = np.empty((len(rows), model.n, 3, 3)), np.empty((len(rows), model.n, 3))
    for row, axes, origins in zip(rows, R, p, strict=True):
        joint_frames_into(model.tree, row, axes, origins)
    return R, p


def tip_jacobian(model: RobotModel, q: Array) -> Array:
    """Velocity and angular velocity of the tip joint's frame, axes of the base, (6, n)."""
    return np.asarray(tip_jacobians(model, q[None])[0])


def tip_jacobians(model: RobotModel, poses: Array) -> Array:
    """Return the same at each of T poses (T, n), (T, 6, n)."""
    frames, origins = frames_of_poses(model, poses)
    tip, moving = model.layout.tip, _above(model)
    axes = (frames[:, moving] @ model.tree.axis[moving][:, :, None])[..., 0]
    turned = np.cross(axes, origins[:, [tip]] - origins[:, moving])
    shifts = model.tree.is_prismatic[moving][:, None]
    J = np.zeros((len(frames), 6, model.n))
    J[:, :3, moving] = np.where(shifts, axes, turned).transpose(0, 2, 1)
    J[:, 3:, moving] = np.where(shifts, 0.0, axes).transpose(0, 2, 1)
    return J


def _above(model: RobotModel) -> list[int]:
    """Return the joints that move the tip's frame, from the tip on."""
    moving = [model.layout.tip]
    while (up := int(model.tree.parent[moving[-1]])) >= 0:
        moving.append(up)
    return moving


@jit
def joint_frames_into(tree: Tree, q: Array, R: Array, p: Array) -> None:
    """Rotation and origin of every joint frame, written into R (n, 3, 3) and p (n, 3)."""
    R_joint, p_joint = np.empty((3, 3)), np.empty(3)
    for i in range(len(q)):
        up = tree.parent[i]
        if up < 0:
            joint_pose(tree, i, q[i], R[i], p[i])
            continue
        joint_pose(tree, i, q[i], R_joint, p_joint)
        for r in range(3):
            p[i, r] = p[up, r]
            for c in range(3):
                p[i, r] += R[up, r, c] * p_joint[c]
                R[i, r, c] = (
                    R[up, r, 0] * R_joint[0, c]
                    + R[up, r, 1] * R_joint[1, c]
                    + R[up, r, 2] * R_joint[2, c]
                )
