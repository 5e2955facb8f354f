"""A pose in which a new arm may begin: free, inside its limits, and light on its joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.arm_clearance import clearance, scene_of
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.description.described_arm import static_torques_at
from safe_sysid.model.robot_model import RobotModel

POSES = 2000  # that are looked at, with each room
ROOMS = (0.3, 0.1, 0.03)  # [rad or m] to the limits, or that share of the way between them, if
# that is less; a smaller one where with those before it the arm is in contact at every pose
FREE = 0.05  # [m] from everything is enough,
NEARLY = 0.8  # or that share of what the freest pose has
LIGHT = 0.5  # of the torque limits at rest


class FirstPose(NamedTuple):
    """Where a new arm begins, and how far from anything it is there."""

    position: Array  # (n,) [rad or m]
    clearance: float  # [m], 0 or less in contact

    @property
    def surroundings(self) -> str:
        """Say what is near."""
        if self.clearance >= FREE:
            return 'where nothing is near and joints need little torque'
        if self.clearance > 0.0:
            return f'where {1e3 * self.clearance:.2g} mm are free'
        return 'IN CONTACT, as all poses that were looked at'


def first_pose(loaded: RobotModel, obstacles: Obstacles) -> FirstPose:
    """Return 0, or the middle of limits that 0 is not inside, where that does, else another pose.

    It does if nothing is near, and if what the arm holds needs half of its torques at most. Else
    it is the pose that needs least, of those that are nearly as free as any.
    """
    found = [_pose_with(ROOMS[0], loaded, obstacles)]
    for room in ROOMS[1:]:
        if found[-1].clearance > 0.0:
            break
        found.append(_pose_with(room, loaded, obstacles))
    return found[-1] if found[-1].clearance > 0.0 else found[0]


def _pose_with(room: float, loaded: RobotModel, obstacles: Obstacles) -> FirstPose:
    """Return the best pose that keeps some room to the limits."""
    lower, upper = loaded.limits.position_lower, loaded.limits.position_upper
    kept = np.minimum(room, room * (upper - lower))
    low, high = np.maximum(lower + kept, -np.pi), np.minimum(upper - kept, np.pi)
    zero = np.clip(0.0, low, high)
    drawn = np.random.default_rng(3).uniform(low, high, (POSES, len(low)))
    poses = np.round(np.vstack([zero, drawn]), 4)
    scene = scene_of(loaded, obstacles)
    free = np.array([clearance(scene, pose, -np.inf)[0] for pose in poses])
    share = (np.abs(static_torques_at(loaded, poses)) / loaded.limits.torque).max(axis=1)
    if free[0] >= FREE and share[0] <= LIGHT:
        return FirstPose(poses[0] + 0.0, float(free[0]))
    most = free.max()
    enough = min(FREE, NEARLY * most if most > 0.0 else most)
    best = int(np.argmin(np.where(free >= enough, share, np.inf)))
    return FirstPose(poses[best] + 0.0, float(free[best]))
