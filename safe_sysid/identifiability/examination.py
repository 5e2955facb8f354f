"""What can be known of an arm: the structure of its open chain under what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from safe_sysid.config import PositiveShare, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.identifiability.arm import with_known
from safe_sysid.identifiability.base_parameters import BaseParameters
from safe_sysid.identifiability.exact_geometry import exact_direction
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.kinematic_tree import FREE, KinematicTree
from safe_sysid.identifiability.links import Dimensions, Identifiability, LinkParameters
from safe_sysid.identifiability.mechanism_file import mechanism_named
from safe_sysid.identifiability.parameter_classes import ParameterClass, classes_of
from safe_sysid.identifiability.parameter_nullspace import (
    JointNullspace,
    ParameterNullspace,
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.identifiability.undetectable_changes import base_parameters_of, preference
from safe_sysid.identifiability.urdf_kinematics import (
    DOWN,
    Kinematics,
    robot_kinematics,
    urdf_kinematics,
)
from safe_sysid.input_file import is_there
from safe_sysid.model.facts import is_settings, settings_of_robot
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import mechanism_names

OPEN_CHAINS = (
    'The result is structural and holds for open chains only: a loop of links, or a tip that is '
    'held, changes what can be known, and a URDF does not tell.'
)
FRICTION = {
    Torques.OF_MOTION: 'Friction and offsets of the torque are not in the table. In motion they '
    'can be told apart from it, but for an offset of a joint that slides and has an armature.',
    Torques.OF_GRAVITY: 'Friction and offsets of the torque are not in the table; at rest an '
    'offset can hide behind a torque of gravity that is constant.',
}
FLOATING = 'So are the six forces and torques on the free base; zero, where nothing touches it.'
DOUBT = (
    'Near a multiple of 15 degrees, but read as written: {}. If the multiple is meant, write more '
    'digits: fewer combinations may be left.'
)
NEARLY = (
    'The geometry is close to one with fewer base parameters: floats alone would have counted '
    'fewer. Noise will hide the difference.'
)

SHORTEST, LONGEST = 1e-6, 1e6  # of what says the direction of gravity


@dataclass(frozen=True)
class Question(Settings):
    """What is asked of an arm: on which base, from which torques, with which motors and links."""

    torques: Torques = Torques.OF_MOTION
    is_floating: bool = False  # the base moves freely
    is_weightless: bool = False  # nothing falls, whatever `gravity` says
    gravity: tuple[float, ...] | None = None  # direction in the frame of the base; None: the arm's
    rotors: Fraction | None = None  # speed of symmetric rotors on the axes, of that of the joints
    has_armature: bool = False  # each joint has a reflected inertia
    known: tuple[str, ...] = ()  # links
    tolerance: PositiveShare | None = None  # of ranks in floats; None: decided without rounding

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gravity is None:
            return
        if not np.any(self.gravity):
            raise ConfigError(
                'gravity 0 0 0 has no direction; use --no-gravity where nothing falls'
            )
        if not SHORTEST <= np.linalg.norm(self.gravity) <= LONGEST:
            raise ConfigError(
                f'gravity {self.gravity} has to be from {SHORTEST:g} to {LONGEST:g} long'
            )


def examine(name: str, question: Question) -> Identifiability:
    """Decide what is identifiable of a URDF, a robot or a mechanism, as an open chain.

    A robot is a name of the package, or a file of settings (YAML).
    """
    kinematics = _kinematics(name, question.gravity)
    tree = _tree(kinematics, question)
    if question.tolerance is None:
        nullspace = exact_nullspace(tree, question.torques)
    else:
        nullspace = floating_nullspace(tree, question.torques, question.tolerance)
    known = _known(tree, question.known)
    notes = list(_notes(nullspace))
    if known:
        notes.append(f'Known: {", ".join(question.known)}.')
    if kinematics.doubts:
        notes.append(DOUBT.format('; '.join(kinematics.doubts)))
    answer = of_structure(nullspace, name, known)
    return replace(answer, snapped=kinematics.snapped, notes=tuple(notes))


def of_structure(
    nullspace: ParameterNullspace, name: str, known: frozenset[int] = frozenset()
) -> Identifiability:
    """Decide the identifiability of an open chain, the parameters of some links known."""
    base, entries = base_parameters_of(nullspace), _entries(nullspace)
    classes = [joint.classes for joint in nullspace.joints]
    if known:
        taken = [k for k, (i, place, _) in enumerate(entries) if i in known and place < 10]
        entries = [entry for k, entry in enumerate(entries) if k not in set(taken)]
        if not entries:
            raise ConfigError(
                'all links that move are known: no parameter is left that torques could show'
            )
        base = with_known(base, np.array(taken, dtype=np.int64), preference(nullspace))
        classes = _classes(nullspace, base, entries)
    links = tuple(
        LinkParameters(i + 1, joint.link, joint.name, group.labels, kinds, _dimensions(group))
        for i, (joint, group, kinds) in enumerate(
            zip(nullspace.tree.joints, nullspace.joints, classes, strict=True)
        )
    )
    named = tuple((i + 1, label) for i, _, label in entries)
    return Identifiability(name, nullspace.tree, links, base, named, (), _notes(nullspace))


def _entries(nullspace: ParameterNullspace) -> list[tuple[int, int, str]]:
    """Joint, place in its group and label of every parameter."""
    return [
        (i, place, label)
        for i, joint in enumerate(nullspace.joints)
        for place, label in enumerate(joint.labels)
    ]


def _classes(
    nullspace: ParameterNullspace, base: BaseParameters, entries: list[tuple[int, int, str]]
) -> list[tuple[ParameterClass, ...]]:
    """Classes joint by joint, where some parameters are known."""
    found = {entry[:2]: kind for entry, kind in zip(entries, classes_of(base), strict=True)}
    return [
        tuple(found.get((i, place), ParameterClass.KNOWN) for place in range(len(joint.labels)))
        for i, joint in enumerate(nullspace.joints)
    ]


def _dimensions(joint: JointNullspace) -> Dimensions:
    return Dimensions(joint.velocity_dimension, joint.energy_dimension, joint.transfer_dimension)


def _notes(nullspace: ParameterNullspace) -> tuple[str, ...]:
    """Return what the result assumes, and how sure it is."""
    tree, where = nullspace.tree, nullspace.torques.value
    falls = 'no gravity' if tree.gravity is None else 'gravity'
    how = (
        'Ranks were decided without rounding, modulo two primes that agree; the same steps in '
        f'floats: {nullspace.decision}.'
        if nullspace.is_exact
        else f'Ranks were decided in floats: {nullspace.decision}.'
    )
    notes = [f'Torques of all joints are measured {where}, with {falls}.']
    if any(joint.screws == FREE for joint in tree.joints):
        notes.append(FLOATING)
    notes += [OPEN_CHAINS, FRICTION[nullspace.torques], how]
    if nullspace.decision.smallest_accepted < nullspace.decision.tolerance:
        notes.append(NEARLY)
    return tuple(notes)


def _kinematics(name: str, gravity: tuple[float, ...] | None) -> Kinematics:
    path = Path(name)
    if not is_settings(path) and (path.suffix == '.urdf' or is_there(path)):
        return urdf_kinematics(path, DOWN if gravity is None else np.array(gravity))
    if name in mechanism_names():
        mechanism = mechanism_named(name)
        found = Kinematics(mechanism.tree, 'base', (), mechanism=mechanism)
    else:
        found = robot_kinematics(RobotModel.from_config(settings_of_robot(name)))
    if gravity is None:
        return found
    return replace(found, tree=replace(found.tree, gravity=exact_direction(np.array(gravity))))


def _tree(kinematics: Kinematics, question: Question) -> KinematicTree:
    tree = kinematics.tree
    if question.is_floating:
        tree = tree.on_floating_base(kinematics.base)
    if question.is_weightless:
        tree = tree.without_gravity()
    if question.rotors is not None:
        tree = kinematics.with_rotors(tree, question.rotors)
    return tree.with_armature() if question.has_armature else tree


def _known(tree: KinematicTree, names: tuple[str, ...]) -> frozenset[int]:
    links = [joint.link for joint in tree.joints]
    for name in names:
        if name not in links:
            raise ConfigError(f"no link '{name}' that moves; those that do are {links}")
    return frozenset(links.index(name) for name in names)
