"""What can be known of an arm's theta: by any motion, by one recording, and when some is known.

theta is that of `ParameterLayout`: ten per body, then Fc, Fv, Ia and beta of every joint. Friction
and offsets are base parameters of their own: torques of bodies don't change sign with the velocity
as Fc and Fv do, and what is constant like beta also has an inertia that is felt in motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.base_parameters import (
    TOLERANCE,
    BaseParameters,
    base_parameters,
    base_parameters_in_order,
    from_dependence,
)
from safe_sysid.model.parameter_nullspace import exact_nullspace
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.undetectable_changes import base_parameters_of
from safe_sysid.model.urdf_kinematics import robot_kinematics


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
    """Base parameters of theta that hold for every motion of an arm, on snapped geometry."""
    n, layout = model.n, model.layout
    nullspace = exact_nullspace(robot_kinematics(model).tree.with_armature())
    bodies = base_parameters_of(nullspace)
    armature = 10 * n + 2 * n
    place = np.array(
        [
            layout.inertial(i).start + k if k < 10 else armature + i
            for i in range(n)
            for k in range(11)
        ]
    )
    friction = np.setdiff1d(np.arange(layout.size), place)
    chosen = np.concatenate([place[bodies.columns], friction])
    others = place[bodies.others]
    W = np.zeros((len(chosen), len(others)))
    W[: bodies.count] = bodies.regrouping[:, bodies.others]
    return from_dependence(chosen, others, W, bodies.decision, np.zeros(0))


def excitation(structure: BaseParameters, Y: Array, tolerance: float = TOLERANCE) -> Excitation:
    """What a stacked regressor tells of structural base parameters."""
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
    """Base parameters of the entries that are not known; its columns count these only.

    What is known is not changed, so of the undetectable changes only those remain that leave it
    alone. The ranks are decided in floats: see `decision`.
    """
    unknown = np.setdiff1d(np.arange(base.regrouping.shape[1]), known)
    ranks = np.searchsorted(unknown, order[np.isin(order, unknown)])
    return base_parameters_in_order(base.regrouping[:, unknown], ranks, tolerance)
