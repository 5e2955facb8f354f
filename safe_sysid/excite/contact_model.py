"""What is known of the shape of an arm: capsules to prove with, meshes as a second opinion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.errors import ModelError
from safe_sysid.excite.design_problem import DesignProblem
from safe_sysid.excite.observed_columns import random_states
from safe_sysid.model.arm import Arm
from safe_sysid.model.collision.meshes import CollisionMeshes, has_meshes
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.trajectory.motion_basis import Motion

MESH_POSES = 50  # random poses; meshes that overlap in all of them are joined there
CHECK_RATE = 1000.0  # [Hz] of the poses in which meshes are measured


@dataclass(frozen=True, eq=False)
class ContactModel:
    """Shapes of an arm, and what is missing in them, known before a motion is searched for."""

    missing: tuple[str, ...]  # why no motion at all can be proven free of contact
    notes: tuple[str, ...]  # what the second opinion cannot say
    meshes: CollisionMeshes | None

    @staticmethod
    def of(arm: Arm, problem: DesignProblem, floor: float | None) -> ContactModel:
        """Check the capsules of an arm, and read the meshes of its URDF if it has any."""
        missing = (
            *_without_capsules(problem.model),
            *(
                f'{pair} overlap in every pose, so nothing is said about them'
                for pair in problem.contacts.left_out
            ),
        )
        if not has_meshes(arm.urdf):
            return ContactModel(missing, (), None)
        try:
            meshes = CollisionMeshes.of(
                arm.urdf, arm.facts, arm.model, problem.model, floor, arm.package_paths
            )
        except ModelError as error:
            return ContactModel(missing, (f'meshes are not looked at: {error}',), None)
        poses = random_states(problem.model.limits, np.random.default_rng(0), MESH_POSES)[0]
        always: AnyArray = np.all(meshes.distances(poses) < 0.0, axis=0)
        joined = [name for name, out in zip(meshes.names, always, strict=True) if out]
        notes = tuple(f'meshes: {name} overlap in every pose, not looked at' for name in joined)
        return ContactModel(missing, notes, meshes.without(always))

    def too_near(self, motion: Motion, required: float) -> tuple[str, ...]:
        """Name the meshes that come nearer than a distance [m], at 1 kHz."""
        if self.meshes is None:
            return ()
        times = np.arange(0.0, motion.basis.duration, 1.0 / CHECK_RATE)
        gaps = self.meshes.distances(motion.states(times)[0])
        return tuple(
            f'meshes: {self.meshes.names[pair]} come within {1e3 * gaps[:, pair].min():.1f} mm '
            f'at {np.argmin(gaps[:, pair]) / CHECK_RATE:.3f} s'
            for pair in np.flatnonzero(gaps.min(axis=0) < required)
        )


def _without_capsules(model: RobotModel) -> tuple[str, ...]:
    """Return a sentence when a joint moves something that no capsule contains."""
    bare = [
        name
        for joint, name in enumerate(model.layout.joint_names)
        if joint not in model.capsules.joint
    ]
    if len(bare) == model.n:
        return (
            f'{model.name} has no collision capsules, so nothing is proven about contact; '
            'describe them in its settings (--config), see docs/robots.md',
        )
    if bare:
        return (
            f'no capsule contains what {", ".join(bare)} of {model.name} moves, so nothing is '
            'proven about its contacts; add capsules to its settings',
        )
    return ()
