"""`safe-sysid observability`: what can be known of an arm, as a table, as JSON or as a page."""

from __future__ import annotations

import argparse
from dataclasses import replace
import json
from pathlib import Path

import numpy as np

from safe_sysid.calibrate.closed_chain_identifiability import loop_sentences
from safe_sysid.cli.output import print_to_error
from safe_sysid.errors import ConfigError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.facts import facts_path, read_facts
from safe_sysid.model.identifiability.arm import with_known
from safe_sysid.model.identifiability.base_parameters import BaseParameters
from safe_sysid.model.identifiability.exact_geometry import exact_direction
from safe_sysid.model.identifiability.joint_conditions import Torques
from safe_sysid.model.identifiability.kinematic_tree import FREE, KinematicTree
from safe_sysid.model.identifiability.links import Dimensions, LinkParameters, Observability
from safe_sysid.model.identifiability.parameter_classes import ParameterClass, classes_of
from safe_sysid.model.identifiability.parameter_nullspace import (
    JointNullspace,
    ParameterNullspace,
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.model.identifiability.undetectable_changes import base_parameters_of, preference
from safe_sysid.model.identifiability.urdf_kinematics import (
    DOWN,
    Kinematics,
    robot_kinematics,
    urdf_kinematics,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report import identifiability_page as observability_page
from safe_sysid.report import identifiability_text as observability_text
from safe_sysid.share import robot_names

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


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid observability`."""
    with print_to_error():
        answer = examine(options)
    if options.json:
        print(json.dumps(observability_text.as_plain(answer), ensure_ascii=False))
    elif options.html:
        print(observability_page.page(answer))
    else:
        print(observability_text.as_text(answer))
    return 0


def examine(options: argparse.Namespace) -> Observability:
    """What the command line asks about."""
    _check(options)
    kinematics = _kinematics(options)
    tree = _tree(kinematics, options)
    torques = Torques.OF_GRAVITY if options.static else Torques.OF_MOTION
    if options.tolerance is None:
        nullspace = exact_nullspace(tree, torques)
    else:
        nullspace = floating_nullspace(tree, torques, options.tolerance)
    known = _known(tree, options.known)
    notes = list(_notes(nullspace))
    if known:
        notes.append(f'Known: {", ".join(options.known)}.')
    if kinematics.doubts:
        notes.append(DOUBT.format('; '.join(kinematics.doubts)))
    notes += _loops(options.urdf)
    answer = of_structure(nullspace, options.urdf, known)
    return replace(answer, snapped=kinematics.snapped, notes=tuple(notes))


def _loops(name: str) -> tuple[str, ...]:
    """What is different where a robot that comes with the package has loops."""
    if name not in robot_names() or read_facts(facts_path(name)).closed_chain is None:
        return ()
    return loop_sentences(ClosedChain.named(name))


def of_structure(
    nullspace: ParameterNullspace, name: str, known: frozenset[int] = frozenset()
) -> Observability:
    """Observability of an open chain, with the parameters of some links known."""
    base, entries = base_parameters_of(nullspace), _entries(nullspace)
    classes = [joint.classes for joint in nullspace.joints]
    if known:
        taken = [k for k, (i, place, _) in enumerate(entries) if i in known and place < 10]
        base = with_known(base, np.array(taken, dtype=np.int64), preference(nullspace))
        entries = [entry for k, entry in enumerate(entries) if k not in set(taken)]
        classes = _classes(nullspace, base, entries)
    links = tuple(
        LinkParameters(i + 1, joint.link, joint.name, group.labels, kinds, _dimensions(group))
        for i, (joint, group, kinds) in enumerate(
            zip(nullspace.tree.joints, nullspace.joints, classes, strict=True)
        )
    )
    named = tuple((i + 1, label) for i, _, label in entries)
    return Observability(name, nullspace.tree, links, base, named, (), _notes(nullspace))


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
    """What the result assumes, and how sure it is."""
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


def _check(options: argparse.Namespace) -> None:
    if options.gravity is not None and not np.any(options.gravity):
        raise ConfigError('gravity 0 0 0 has no direction; use --no-gravity where nothing falls')
    if options.tolerance is not None and not 0.0 < options.tolerance < 1.0:
        raise ConfigError(f'the tolerance is {options.tolerance}; between 0 and 1 is allowed')


def _kinematics(options: argparse.Namespace) -> Kinematics:
    path = Path(options.urdf)
    if path.suffix == '.urdf' or path.exists():
        gravity = DOWN if options.gravity is None else np.array(options.gravity)
        return urdf_kinematics(path, gravity)
    found = robot_kinematics(RobotModel.named(options.urdf))
    if options.gravity is None:
        return found
    turned = replace(found.tree, gravity=exact_direction(np.array(options.gravity)))
    return replace(found, tree=turned)


def _tree(kinematics: Kinematics, options: argparse.Namespace) -> KinematicTree:
    tree = kinematics.tree
    if options.floating:
        tree = tree.on_floating_base(kinematics.base)
    if options.no_gravity:
        tree = tree.without_gravity()
    if options.rotors is not None:
        tree = tree.with_symmetric_rotors(options.rotors)
    return tree.with_armature() if options.armature else tree


def _known(tree: KinematicTree, names: list[str]) -> frozenset[int]:
    links = [joint.link for joint in tree.joints]
    for name in names:
        if name not in links:
            raise ConfigError(f"no link '{name}' that moves; those that do are {links}")
    return frozenset(links.index(name) for name in names)
