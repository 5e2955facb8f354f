"""What can be known of an arm's theta: by any motion, by one recording, and when some is known.

theta is that of `ParameterLayout`: ten per body, then Fc, Fv, Ia and beta of every joint. Fc and
Fv are base parameters of their own: torques of bodies do not change sign with the velocity. An
offset beta can hide: a mass that slides along gravity, with its inertia made up for by an
armature, adds a constant torque and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.identifiability.base_parameters import (
    TOLERANCE,
    BaseParameters,
    base_parameters,
    base_parameters_in_order,
    from_dependence,
)
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.kinematic_tree import KinematicTree
from safe_sysid.identifiability.mechanism_regressor import GRAVITY, stacked_regressor
from safe_sysid.identifiability.parameter_nullspace import exact_nullspace
from safe_sysid.identifiability.undetectable_changes import (
    base_parameters_of,
    preference,
    transfers,
)
from safe_sysid.identifiability.urdf_kinematics import robot_kinematics
from safe_sysid.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class Excitation:
    """Which structural base parameters one recording can tell, and which it can't."""

    structural: int  # number of base parameters of the arm
    excited: BaseParameters  # of beta: columns are structural base parameters
    told: Array  # (structural,) bool: the recording determines this one by itself

    @property
    def missing(self) -> int:
        """How many combinations another motion would show and this one does not."""
        return self.structural - self.excited.count


def structural_base_parameters(model: RobotModel) -> BaseParameters:
    """Return base parameters of theta for every motion of an arm, on snapped geometry."""
    n, layout = model.n, model.layout
    tree = robot_kinematics(model).tree.with_armature()
    nullspace = exact_nullspace(tree)
    bodies = base_parameters_of(nullspace)
    armature = layout.joint_entries('Ia').start
    place = np.array([10 * i + k if k < 10 else armature + i for i in range(n) for k in range(11)])
    friction = np.setdiff1d(np.arange(layout.size), place)
    chosen = np.concatenate([place[bodies.columns], friction])
    W = np.zeros((len(chosen), len(bodies.others)))
    W[: bodies.count] = bodies.regrouping[:, bodies.others]
    structure = from_dependence(chosen, place[bodies.others], W, bodies.decision, np.zeros(0))
    change, offset = _constant_torques(tree, float(np.linalg.norm(model.tree.gravity)))
    hidden = np.zeros((layout.size, change.shape[1]))
    hidden[place], hidden[layout.joint_entries('beta')] = change, -offset
    order = np.concatenate([place[preference(nullspace)], friction])
    return _without_hidden(structure, hidden, order)


def _constant_torques(tree: KinematicTree, gravity: float) -> tuple[Array, Array]:
    """Return changes of bodies and armatures that only add a constant torque, and that torque.

    Felt by no acceleration, so among the undetectable changes without gravity; the postures that
    decide whether its gravity torque is constant are sampled.
    """
    R = transfers(exact_nullspace(tree.without_gravity()))
    n = len(tree.joints)
    samples = 2 * (n + R.shape[1])
    Y = stacked_regressor(tree, Torques.OF_GRAVITY, samples, np.random.default_rng(0))
    torque = (gravity / GRAVITY * Y @ R).reshape(samples, n, -1)
    mean = torque.mean(axis=0)
    varying = np.linalg.qr((torque - mean).reshape(samples * n, -1))[1]
    _, sizes, V = scipy.linalg.svd(varying, lapack_driver='gesvd')
    constant = V[np.sum(sizes > TOLERANCE) :].T
    return R @ constant, mean @ constant


def _without_hidden(structure: BaseParameters, hidden: Array, order: IntArray) -> BaseParameters:
    """Return base parameters where further changes, as columns, are undetectable."""
    seen = structure.regrouping @ hidden
    if np.abs(seen).max(initial=0.0) <= TOLERANCE:
        return structure
    U, sizes, _ = np.linalg.svd(seen)
    kept = U[:, np.sum(sizes > TOLERANCE) :].T @ structure.regrouping
    return base_parameters_in_order(kept, order)


def excitation(structure: BaseParameters, Y: Array, tolerance: float = TOLERANCE) -> Excitation:
    """Return what a stacked regressor tells of structural base parameters."""
    if Y.ndim != 2 or Y.shape[1] != structure.regrouping.shape[1]:
        raise ModelError(
            f'the stacked regressor has shape {Y.shape}; {structure.regrouping.shape[1]} columns '
            'are needed, one per parameter'
        )
    excited = base_parameters(Y[:, structure.columns], tolerance)
    free = np.abs(excited.undetectable)
    told = ~np.any(free > 1e-7 * max(1.0, float(free.max(initial=0.0))), axis=1)
    return Excitation(structure.count, excited, told)


def with_known(
    base: BaseParameters, known: IntArray, order: IntArray, tolerance: float = TOLERANCE
) -> BaseParameters:
    """Return base parameters of the entries that are not known; its columns count these only.

    What is known is not changed, so of the undetectable changes only those remain that leave it
    alone. The ranks are decided in floats: see `decision`.
    """
    unknown = np.setdiff1d(np.arange(base.regrouping.shape[1]), known)
    if not base.count:  # nothing is shown, with or without what is known
        nothing, others = unknown[:0], np.arange(len(unknown))
        return from_dependence(
            nothing, others, np.zeros((0, len(others))), base.decision, np.zeros(0)
        )
    ranks = np.searchsorted(unknown, order[np.isin(order, unknown)])
    return base_parameters_in_order(base.regrouping[:, unknown], ranks, tolerance)
