"""Distances of the capsules of an arm from a box, as MuJoCo has them."""

import mujoco
import numpy as np

from safe_sysid.model.dynamics.forward_kinematics import joint_frames

FAR = 5.0  # [m]


class MujocoDistances:
    """Capsules of an arm that move, each on a body that can be put anywhere, and a box."""

    def __init__(self, model, half_sizes):
        self.model = model
        capsules = model.capsules
        self.moving = np.flatnonzero(capsules.joint >= 0)
        half = 0.5 * np.linalg.norm(capsules.b - capsules.a, axis=1)
        bodies = ''.join(
            f'<body mocap="true"><geom type="capsule" size="{capsules.radius[c]} '
            f'{max(half[c], 1e-6)}"/></body>'
            for c in self.moving
        )
        box = ' '.join(map(str, half_sizes))
        self._world = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody>{bodies}<body mocap="true"><geom type="box" size="{box}"/></body>'
            '</worldbody></mujoco>'
        )
        self._data = mujoco.MjData(self._world)

    def at(self, q, center):
        """Distance of every capsule, by name, with the arm at q and the box at a place."""
        capsules, data = self.model.capsules, self._data
        R, p = joint_frames(self.model, q)
        for i, c in enumerate(self.moving):
            j = capsules.joint[c]
            ends = [R[j] @ end[c] + p[j] for end in (capsules.a, capsules.b)]
            data.mocap_pos[i] = 0.5 * (ends[0] + ends[1])
            mujoco.mju_quatZ2Vec(data.mocap_quat[i], ends[1] - ends[0])
        data.mocap_pos[-1] = center
        mujoco.mj_kinematics(self._world, data)
        last = self._world.ngeom - 1
        names = [capsules.names[c] for c in self.moving]
        return {
            name: mujoco.mj_geomDistance(self._world, data, i, last, FAR, None)
            for i, name in enumerate(names)
        }
