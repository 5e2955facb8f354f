"""Which of many poses to measure, so that the geometry of an arm is known best (D-optimal).

The information of a pose is J' J, J how the measurement follows all numbers of the geometry, in
units of its noise. Poses are taken one by one, each the one that adds most to the logarithm of
the determinant on what all candidates together can show.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.kinematic_fit import Marker, chain_to, pose_derivatives
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.errors import MeasurementError
from safe_sysid.model.robot_model import RobotModel

SHOWN = 1e-8  # of the largest singular value: what candidates show
FAINT = 1e-6  # of the mean information of a pose: known before the first one


def informative_poses(
    model: RobotModel, q: Array, count: int, marker: Marker, noise: PoseNoise
) -> IntArray:
    """Return indices (count,) into candidates q (N, n), the most informative first."""
    if not 0 < count <= len(q):
        raise MeasurementError(f'{count} poses out of {len(q)}; 1 to {len(q)} can be chosen')
    J = _slopes(model, q, marker, noise)
    shown = _shown_directions(J)
    J = J @ shown
    information = FAINT * np.sum(J**2) / len(q) / shown.shape[1] * np.eye(shown.shape[1])
    chosen: list[int] = []
    left = np.ones(len(q), dtype=bool)
    for _ in range(count):
        covariance = np.linalg.inv(information)
        gain = np.linalg.slogdet(np.eye(J.shape[1]) + J @ covariance @ np.swapaxes(J, 1, 2))[1]
        best = int(np.argmax(np.where(left, gain, -np.inf)))
        chosen.append(best)
        left[best] = False
        information = information + J[best].T @ J[best]
    return np.array(chosen, dtype=np.int64)


def _slopes(model: RobotModel, q: Array, marker: Marker, noise: PoseNoise) -> Array:
    """How poses measured at q (N, n) follow m numbers of the geometry, over noise, (N, 6, m)."""
    _, _, moves, turns = pose_derivatives(model, q, marker, chain_to(model.tree, model.layout.tip))
    return np.concatenate([moves / noise.position, turns / noise.rotation], axis=1)


def _shown_directions(J: Array) -> Array:
    """Orthonormal columns: combinations of the numbers that some candidate shows."""
    _, singular, Vt = np.linalg.svd(J.reshape(-1, J.shape[2]), full_matrices=False)
    shown: Array = Vt[singular > SHOWN * singular[0]].T
    return shown
