"""Stacked regressor of a `KinematicTree` at random states, by Pinocchio: what sampling can say.

The numerical counterpart of `parameter_nullspace`, which knows nothing of its recursion: the rank
of these rows is the number of base parameters, and their nullspace the undetectable changes.
Sampling is evidence, not proof.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.identifiability.exact_geometry import ExactPlacement, rotation
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.kinematic_tree import (
    FREE,
    PLANAR,
    SPHERICAL,
    TRANSLATION,
    Armature,
    GeneralRotor,
    Joint,
    KinematicTree,
    SymmetricRotor,
)
from safe_sysid.identifiability.rotor_conditions import SYMMETRIC

GRAVITY = 9.81  # [m/s^2]
WHOLE = {
    SPHERICAL: pin.JointModelSpherical,
    TRANSLATION: pin.JointModelTranslation,
    PLANAR: pin.JointModelPlanar,
    FREE: pin.JointModelFreeFlyer,
}


def stacked_regressor(
    tree: KinematicTree, torques: Torques, samples: int, rng: np.random.Generator
) -> Array:
    """Rows Y with Y theta = tau, theta as in `parameter_nullspace`, at random states."""
    model, rates = _bodies(tree)
    data = model.createData()
    rows = []
    for _ in range(samples):
        q, v, a = _state(model, rates, rng)
        if torques is Torques.OF_GRAVITY:
            v, a = 0 * v, 0 * a
        whole = pin.computeJointTorqueRegressor(model, data, q, v, a)
        Y = rates.T @ whole.reshape(model.nv, -1)  # a single row comes without its axis
        rows.append(_columns(tree, Y, np.linalg.pinv(rates) @ a))
    return np.vstack(rows)


def _bodies(tree: KinematicTree) -> tuple[pin.Model, Array]:
    """Model with links first and rotors after them, and its velocities per joint velocity."""
    model = pin.Model()
    direction = np.zeros(3) if tree.gravity is None else rotation(tree.gravity)[:, 2]
    model.gravity.linear = GRAVITY * direction
    for joint in tree.joints:
        _add(model, joint.parent, _joint_model(joint), joint.placement, joint.name)
    links = model.nv
    columns = [np.eye(links)]
    for i, joint in enumerate(tree.joints):
        if isinstance(joint.rotor, (SymmetricRotor, GeneralRotor)):
            _add(model, joint.parent, pin.JointModelRZ(), joint.rotor.placement, f'{i}.rotor')
            row = np.zeros((1, links))
            row[0, model.joints[i + 1].idx_v] = float(joint.rotor.ratio)
            columns.append(row)
    return model, np.vstack(columns)


def _add(
    model: pin.Model, parent: int, joint: pin.JointModel, placement: ExactPlacement, name: str
) -> None:
    pose = pin.SE3(rotation(placement.turns), np.array(placement.position, dtype=float))
    model.addJoint(parent + 1, joint, pose, name)


def _joint_model(joint: Joint) -> pin.JointModel:
    if joint.screws in WHOLE:
        return WHOLE[joint.screws]()
    if len(joint.screws) != 1:
        raise ModelError(f"Pinocchio has no joint with the freedoms of '{joint.name}'")
    (screw,) = joint.screws
    axis = rotation(screw.direction)[:, 2]
    if not screw.angular:
        return pin.JointModelPrismaticUnaligned(axis)
    if not screw.linear:
        return pin.JointModelRevoluteUnaligned(axis)
    return pin.JointModelHelicalUnaligned(axis, float(screw.linear / screw.angular))


def _state(model: pin.Model, rates: Array, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Random state in which rotors turn with their joints."""
    links = rates.shape[1]
    v, a = rates @ rng.normal(size=links), rates @ rng.normal(size=links)
    moved = rates @ rng.uniform(-2.0, 2.0, size=links)
    return pin.integrate(model, pin.neutral(model), moved), v, a


def _columns(tree: KinematicTree, Y: Array, qdd: Array) -> Array:
    """Columns of links and rotors, sorted into the groups of the joints."""
    groups = []
    spinning = len(tree.joints)
    first = 0  # coordinate of the joint
    for i, joint in enumerate(tree.joints):
        groups.append(Y[:, 10 * i : 10 * i + 10])
        if isinstance(joint.rotor, Armature):
            column = np.zeros((len(Y), 1))
            column[first] = qdd[first]
            groups.append(column)
        elif joint.rotor is not None:
            own = Y[:, 10 * spinning : 10 * spinning + 10]
            groups.append(own if isinstance(joint.rotor, GeneralRotor) else own @ SYMMETRIC)
            spinning += 1
        first += len(joint.screws)
    return np.hstack(groups)
