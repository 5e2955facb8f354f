"""Torque that gravity may have beside the one of the model, as its direction is not known exactly.

Gravity turned by an angle changes by a vector of at most 2 sin(angle / 2) |g|. Whatever the pose,
mass m_k of a body with first moment h_k about the origin of its joint frame has a lever of at most
D_jk + |h_k| / m_k about the axis of joint j, where D_jk adds up what lies between the two origins:
offsets of joint frames and the strokes of prismatic joints.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel


def tilt_torque(model: RobotModel, largest: Array, angle: float) -> Array:
    """Most that a tilt does to every joint (n,) [N m]; `largest` bounds |theta|."""
    if angle == 0.0:
        return np.zeros(model.n)
    bodies = largest[: 10 * model.n].reshape(-1, 10)
    mass, first = bodies[:, 0], np.linalg.norm(bodies[:, 1:4], axis=1)
    moment = np.zeros(model.n)
    for body in range(model.n):
        joint, way = body, 0.0
        while joint >= 0:
            if model.tree.is_prismatic[joint]:
                moment[joint] += mass[body]
                way += _stroke(model, joint)
            else:
                moment[joint] += mass[body] * way + first[body]
            way += float(np.linalg.norm(model.tree.p_parent_joint[joint]))
            joint = int(model.tree.parent[joint])
    change = 2.0 * np.sin(0.5 * angle) * np.linalg.norm(model.tree.gravity)
    return np.asarray(change * moment * (1.0 + 1e-12))


def _stroke(model: RobotModel, joint: int) -> float:
    """Most by which a prismatic joint moves its link [m]."""
    ends = model.limits.position_lower[joint], model.limits.position_upper[joint]
    if not np.isfinite(ends).all():
        raise ConfigError(
            f'{model.layout.joint_names[joint]} of {model.name} slides without position limits, '
            'so nothing bounds what a tilt of gravity does: state its limits, or gravity_tilt: 0.0'
        )
    return float(np.abs(ends).max())
