"""A pose in which a new arm may begin: free, inside its limits, and light on its joints."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.arm_clearance import clearance, scene_of
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.description.described_arm import static_torques_at
from safe_sysid.model.robot_model import RobotModel

POSES = 2000  # that are looked at
ROOM = 0.3  # [rad or m] to the limits, or that share of the way between them, if that is less
FREE = 0.05  # [m] from everything is enough,
NEARLY = 0.8  # or that share of what the freest pose has
LIGHT = 0.5  # of the torque limits at rest


def first_pose(loaded: RobotModel, obstacles: Obstacles) -> Array:
    """Return 0, or the middle of limits that 0 is not inside, where that does, else another pose.

    It does if nothing is near, and if what the arm holds needs half of its torques at most. Else
    it is the pose that needs least, of those that are nearly as free as any.
    """
    lower, upper = loaded.limits.position_lower, loaded.limits.position_upper
    room = np.minimum(ROOM, ROOM * (upper - lower))
    low, high = np.maximum(lower + room, -np.pi), np.minimum(upper - room, np.pi)
    zero = np.clip(0.0, low, high)
    drawn = np.random.default_rng(3).uniform(low, high, (POSES, len(low)))
    poses = np.round(np.vstack([zero, drawn]), 4)
    scene = scene_of(loaded, obstacles)
    free = np.array([clearance(scene, pose, -np.inf)[0] for pose in poses])
    share = (np.abs(static_torques_at(loaded, poses)) / loaded.limits.torque).max(axis=1)
    if free[0] >= FREE and share[0] <= LIGHT:
        return np.asarray(poses[0] + 0.0)
    most = free.max()
    enough = min(FREE, NEARLY * most if most > 0.0 else most)
    return np.asarray(poses[np.argmin(np.where(free >= enough, share, np.inf))] + 0.0)
