"""RobotModel: joints, bodies, limits and nominal parameters of one arm."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model import inertia
from safe_sysid.model.actuation import Actuation, actuation_of
from safe_sysid.model.collision.capsules import NO_PAIRS, Capsules, capsules_of
from safe_sysid.model.collision.pairs import paired, paired_with_held
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.facts import RobotFacts, facts_path, read_facts, urdf_path
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.model.reference_limits import ReferenceLimits, reference_limits_of
from safe_sysid.model.signal_facts import EffortSignal, SensingFacts
from safe_sysid.model.tree import JointLimits, Tree
from safe_sysid.model.uncertainty import Uncertainty
from safe_sysid.model.urdf_tree import Frame, build, frames_of, moving_joints, read_urdf
from safe_sysid.share import share_directory

if TYPE_CHECKING:
    from safe_sysid.model.payload import Payload


@dataclass(frozen=True, eq=False)
class SensorFacts:
    """What the arm reports about its joints."""

    encoder_resolution: Array  # [rad], 0 if nobody knows
    effort: EffortSignal
    effort_sign: Array  # +1 or -1
    effort_scale: Array  # [N m per unit of effort]
    sensing: SensingFacts = field(default_factory=SensingFacts)

    @property
    def torque_per_unit(self) -> Array:
        """Joint torque of one unit of effort, (n,) [N m], its sign that of the joint axes."""
        return self.effort_sign * self.effort_scale


@dataclass(frozen=True, eq=False)
class RobotModel:
    """One arm: joint i moves body i, with everything that is fixed to it."""

    name: str
    tree: Tree
    layout: ParameterLayout
    theta: Array  # (14 n,) nominal parameters
    limits: JointLimits
    sensors: SensorFacts
    actuation: Actuation
    capsules: Capsules
    frames: dict[str, Frame]
    uncertainty: Uncertainty = field(default_factory=Uncertainty)  # that the arm's file states
    reference: ReferenceLimits | None = None  # of desired motions; None: no drive checks them
    friction: DryFriction = field(default_factory=DryFriction)  # beyond Coulomb's in theta
    gravity_tilt: float | None = None  # [rad] by which gravity of `tree` may be off; None: unknown
    payload: Array | None = None  # (10,) part of theta_e that `with_payload` added; None: none
    settings: Path | None = None  # file of its facts; None: it has none

    @property
    def settings_file(self) -> str:
        """Where facts of the arm are stated, in words for a person."""
        if self.settings is None:
            return f'the YAML file that `safe-sysid new-arm` makes of the URDF of {self.name}'
        folder = share_directory() / 'config' / 'robots'
        is_shipped = self.settings.parent == folder
        return f'config/robots/{self.settings.name}' if is_shipped else str(self.settings)

    @property
    def own_end_effector(self) -> Array:
        """theta_e without a payload, (10,)."""
        whole = self.theta[self.layout.end_effector]
        return whole if self.payload is None else whole - self.payload

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.layout.n

    @staticmethod
    def named(robot: str) -> RobotModel:
        """Return an arm that comes with the package, such as `kinova_gen3`."""
        return RobotModel.from_config(facts_path(robot))

    @staticmethod
    def from_config(config: Path) -> RobotModel:
        """Read an arm from its YAML; its URDF is beside it or in the package's urdf/."""
        facts = read_facts(config)
        return RobotModel.from_files(urdf_path(config, facts), facts, config.stem, config)

    @staticmethod
    def from_files(
        urdf: Path, facts: RobotFacts, name: str, settings: Path | None = None
    ) -> RobotModel:
        """Return an arm from a URDF and the facts a URDF has no place for."""
        massless = () if facts.closed_chain is None else facts.closed_chain.massless
        model = build(urdf, tuple(facts.joints), facts.held, massless)
        names = tuple(model.names[1:])
        frames = frames_of(model)
        tip = _tip(urdf, frames, facts.tip)
        tree, limits = _tree(model, np.array(facts.gravity)), _limits(model, urdf, facts)
        joints = [facts.joints[joint] for joint in names]
        order = [list(facts.joints).index(joint) for joint in names]
        friction = [[j.coulomb, j.viscous, j.armature, j.offset] for j in joints]
        bodies = [model.inertias[i + 1].toDynamicParameters() for i in range(len(names))]
        return RobotModel(
            name=name,
            tree=tree,
            layout=ParameterLayout(names, tip),
            theta=np.concatenate([np.concatenate(bodies), np.array(friction).T.ravel()]),
            limits=limits,
            sensors=SensorFacts(
                np.array([j.encoder_resolution for j in joints]),
                facts.effort,
                np.array([float(j.effort_sign) for j in joints]),
                np.array([j.effort_scale for j in joints]),
                facts.sensing.in_order(order),
            ),
            actuation=actuation_of(facts, names),
            capsules=_capsules(facts, frames, urdf, (tree, limits)),
            frames=frames,
            reference=reference_limits_of(joints),
            uncertainty=facts.uncertainty.in_order(order),
            friction=DryFriction(facts.friction).in_order(order),
            gravity_tilt=facts.gravity_tilt,
            settings=settings,
        )

    def with_payload(self, payload: Payload) -> RobotModel:
        """Return the same arm with a payload fixed to it, its shapes included."""
        link, R_link, p_link = payload.placed_on(self.name)
        if link not in self.frames:
            raise ModelError(
                f"payload {payload.name} is placed on '{link}', which {self.name} has not; its "
                f'links are {sorted(self.frames)}'
            )
        frame = self.frames[link]
        if frame.joint != self.layout.tip:
            raise ModelError(
                f"payload {payload.name} is placed on '{link}', which is not part of the end "
                f"effector that joint '{self.layout.joint_names[self.layout.tip]}' moves"
            )
        R, p = frame.R @ R_link, frame.R @ p_link + frame.p
        theta = self.theta.copy()
        body = inertia.from_mass_com_inertia(
            np.array(payload.mass), np.array(payload.com), payload.inertia
        )
        held_body = inertia.moved(body, R, p)
        theta[self.layout.end_effector] += held_body
        shapes = payload.shapes.values()
        held = Capsules(
            tuple(f'{payload.name}.{name}' for name in payload.shapes),
            np.full(len(shapes), frame.joint),
            np.array([R @ np.array(shape.a) + p for shape in shapes]).reshape(-1, 3),
            np.array([R @ np.array(shape.b) + p for shape in shapes]).reshape(-1, 3),
            np.array([shape.radius for shape in shapes]),
            NO_PAIRS,
        )
        capsules = paired_with_held(self.capsules, held, self.tree, self.limits)
        every = held_body if self.payload is None else self.payload + held_body
        return replace(self, theta=theta, capsules=capsules, payload=every)

    def with_parameters(self, theta: Array) -> RobotModel:
        """Return the same arm with other parameters."""
        if theta.shape != self.theta.shape or not np.isfinite(theta).all():
            raise ModelError(
                f'theta has shape {theta.shape} or is not finite; it has to be {self.theta.shape}'
            )
        return replace(self, theta=theta)

    def pinocchio(self) -> pin.Model:
        """Pinocchio model with these parameters, armature included, friction not."""
        model = pin.Model()
        model.gravity.linear = self.tree.gravity
        for i, name in enumerate(self.layout.joint_names):
            axis = self.tree.axis[i]
            joint = (
                pin.JointModelPrismaticUnaligned(axis)
                if self.tree.is_prismatic[i]
                else pin.JointModelRevoluteUnaligned(axis)
            )
            placement = pin.SE3(self.tree.R_parent_joint[i], self.tree.p_parent_joint[i])
            added = model.addJoint(int(self.tree.parent[i]) + 1, joint, placement, name)
            phi = self.theta[self.layout.inertial(i)]
            body = pin.Inertia.FromDynamicParameters(phi) if phi.any() else pin.Inertia.Zero()
            model.appendBodyToJoint(added, body, pin.SE3.Identity())
        model.armature = self.theta[self.layout.joint_entries('Ia')].copy()
        return model


def _capsules(
    facts: RobotFacts, frames: dict[str, Frame], urdf: Path, joints: tuple[Tree, JointLimits]
) -> Capsules:
    capsules, names = capsules_of(facts.collision, frames, urdf), list(facts.collision.shapes)
    out = [(names.index(i), names.index(j)) for i, j in facts.collision.housings_apart]
    return paired(capsules, *joints, out)


def _tree(model: pin.Model, gravity: Array) -> Tree:
    n = model.njoints - 1
    motion = [np.asarray(model.joints[i + 1].createData().S).reshape(6) for i in range(n)]
    prismatic = np.array([bool(np.any(s[:3])) for s in motion])
    axis = np.array([s[:3] if np.any(s[:3]) else s[3:] for s in motion]).reshape(n, 3)
    placements = [model.jointPlacements[i + 1] for i in range(n)]
    return Tree(
        np.array([model.parents[i + 1] - 1 for i in range(n)], dtype=np.int64),
        np.array([placement.rotation for placement in placements]).reshape(n, 3, 3),
        np.array([placement.translation for placement in placements]).reshape(n, 3),
        axis / np.linalg.norm(axis, axis=1, keepdims=True),
        prismatic,
        gravity.astype(float),
    )


def _tip(urdf: Path, frames: dict[str, Frame], link: str) -> int:
    if link not in frames:
        raise ModelError(f"{urdf}: no link '{link}' for the tip; its links are {list(frames)}")
    if frames[link].joint < 0:
        raise ModelError(f"{urdf}: the tip '{link}' is fixed to the base, no joint moves it")
    return frames[link].joint


def _limits(model: pin.Model, urdf: Path, facts: RobotFacts) -> JointLimits:
    kinds = moving_joints(read_urdf(urdf))
    continuous = np.array([kinds[name] == 'continuous' for name in model.names[1:]])
    joints = [facts.joints[name] for name in model.names[1:]]
    return JointLimits(
        position_lower=np.where(continuous, -np.inf, model.lowerPositionLimit),
        position_upper=np.where(continuous, np.inf, model.upperPositionLimit),
        velocity=np.array(model.velocityLimit),
        acceleration=np.array([j.acceleration_limit for j in joints]),
        torque=np.array([j.torque_limit for j in joints]),
        is_continuous=continuous,
    )
