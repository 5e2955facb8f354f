"""Read a URDF into a KinematicTree, with exact angles in place of rounded ones (1.5708).

Pinocchio reads the file, after 1.5708 and its like were replaced in it. Bodies that are fixed to
each other are one link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.identifiability.exact_geometry import (
    STEP,
    TOLERANCE,
    WORTH_TELLING,
    ExactPlacement,
    Snap,
    exact_angle,
    exact_direction,
    exact_length,
    exact_rotation,
    rotation,
)
from safe_sysid.identifiability.kinematic_tree import (
    FREE,
    PLANAR,
    SPHERICAL,
    TRANSLATION,
    Joint,
    KinematicTree,
    Screw,
)
from safe_sysid.identifiability.mechanism_file import Mechanism
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.urdf_tree import parse_urdf, pinocchio_model

DOWN = np.array([0.0, 0.0, -1.0])
SHORT = 1e-5  # of the size of the arm: a shorter offset is zero
DOUBTFUL = 3e-3  # [rad] from a multiple of 15 degrees: 1.57 may be meant as a right angle
KNOWN_KINDS = ('revolute', 'continuous', 'prismatic', 'planar', 'floating', 'fixed')
WHOLE = (PLANAR, SPHERICAL, TRANSLATION, FREE)


@dataclass(frozen=True)
class Kinematics:
    """A tree, and how it differs from the numbers it was made of."""

    tree: KinematicTree
    base: str  # name of the link that does not move
    snapped: tuple[Snap, ...]
    doubts: tuple[str, ...] = ()  # angles near a multiple of 15 degrees that were left alone
    mechanism: Mechanism | None = None  # where rows of a file were read in place of a URDF

    def with_rotors(self, tree: KinematicTree, ratio: Fraction) -> KinematicTree:
        """Return the tree, on whatever base it is now, with a symmetric rotor at each joint."""
        if self.mechanism is not None:
            return self.mechanism.with_rotors(tree, ratio)
        return tree.with_symmetric_rotors(ratio)


def urdf_kinematics(path: Path, gravity: Array = DOWN) -> Kinematics:
    """Kinematics of a URDF; gravity is a direction in the frame of its base."""
    root = parse_urdf(path)
    snapped = _snap_file(path, root)
    model = pinocchio_model(path, root)
    if model.njoints == 1:
        raise ModelError(f'{path}: no joint moves, so there is nothing to identify')
    bodies = [f for f in model.frames if f.type == pin.FrameType.BODY]
    base = next(frame.name for frame in bodies if frame.parentJoint == 0)
    tree, more = tree_of(model, gravity)
    return Kinematics(tree, base, (*snapped, *more), _doubts(path, root))


def robot_kinematics(model: RobotModel) -> Kinematics:
    """Kinematics of an arm with settings, with its own gravity."""
    tree, snapped = tree_of(model.pinocchio(), model.tree.gravity)
    links: dict[int, str] = {}
    for name, frame in model.frames.items():
        links.setdefault(frame.joint, name)
    joints = tuple(
        replace(joint, link=links.get(i, joint.link)) for i, joint in enumerate(tree.joints)
    )
    return Kinematics(replace(tree, joints=joints), links.get(-1, 'base'), snapped)


def tree_of(model: pin.Model, gravity: Array) -> tuple[KinematicTree, tuple[Snap, ...]]:
    """Tree of a Pinocchio model; a gravity of zero length is none."""
    offsets = [
        np.linalg.norm(model.jointPlacements[i].translation) for i in range(1, model.njoints)
    ]
    present = [float(size) for size in offsets if size > 0.0]
    short = SHORT * sum(present) / max(len(present), 1)
    snapped: list[Snap] = []
    joints = []
    for i in range(1, model.njoints):
        placement = _placement(model, i, short, snapped)
        name, link = model.names[i], _link_name(model, i)
        joints.append(Joint(name, link, model.parents[i] - 1, placement, _screws(model, i)))
    down = exact_direction(gravity) if np.any(gravity) else None
    if down is not None:
        unit = gravity / np.linalg.norm(gravity)
        _note(snapped, 'gravity', 'direction', unit, rotation(down)[:, 2])
    return KinematicTree(tuple(joints), down), tuple(snapped)


def _placement(model: pin.Model, i: int, short: float, snapped: list[Snap]) -> ExactPlacement:
    given = model.jointPlacements[i]
    turns = exact_rotation(given.rotation)
    x, y, z = (exact_length(float(value), short) for value in given.translation)
    apart = float(np.linalg.norm(pin.log3(rotation(turns).T @ given.rotation)))
    if apart > WORTH_TELLING:
        snapped.append(
            Snap(f"joint '{model.names[i]}', angle to a placement without error", apart, 0)
        )
    meant = np.array([x, y, z], dtype=float)
    _note(snapped, f"joint '{model.names[i]}'", 'offset', np.array(given.translation), meant)
    return ExactPlacement(turns, (x, y, z))


def _note(snapped: list[Snap], owner: str, what: str, given: Array, meant: Array) -> None:
    for axis, a, b in zip('xyz', given, meant, strict=True):
        if abs(a - b) > WORTH_TELLING:
            snapped.append(Snap(f'{owner}, {what} {axis}', float(a), float(b)))


def _link_name(model: pin.Model, i: int) -> str:
    """Name of the link that the joint moves, of those fixed to each other the first."""
    bodies = (f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == i)
    return next(bodies, str(model.names[i]))


def _screws(model: pin.Model, i: int) -> tuple[Screw, ...]:
    """Freedoms of a joint, which must not depend on its position."""
    joint, data = model.joints[i], model.joints[i].createData()
    motions = []
    for step in (0.0, 0.3, -0.7):
        joint.calc(data, pin.integrate(model, pin.neutral(model), np.full(model.nv, step)))
        motions.append(np.asarray(data.S).reshape(6, -1))
    if any(not np.allclose(S, motions[0], rtol=0, atol=1e-12) for S in motions):
        raise ModelError(
            f"joint '{model.names[i]}' ({joint.shortname()}) has axes that depend on its "
            'position; replace it by joints of one freedom with massless links between them'
        )
    screws = tuple(_screw(model.names[i], column) for column in motions[0].T)
    for whole in WHOLE:  # axes of these are written as constants
        if len(whole) == len(screws) and np.allclose(_motions(whole), motions[0], atol=1e-12):
            return whole
    return screws


def _motions(screws: tuple[Screw, ...]) -> Array:
    columns = []
    for screw in screws:
        u = rotation(screw.direction)[:, 2]
        columns.append(np.concatenate([float(screw.linear) * u, float(screw.angular) * u]))
    motions: Array = np.array(columns).T
    return motions


def _screw(name: str, motion: Array) -> Screw:
    linear, angular = motion[:3], motion[3:]
    turning = float(np.linalg.norm(angular))
    axis = angular / turning if turning else linear / np.linalg.norm(linear)
    slide = float(linear @ axis)
    if np.abs(linear - slide * axis).max() > 1e-12:
        raise ModelError(f"joint '{name}': its axis does not pass through its origin")
    return Screw(exact_length(slide, 0.0), exact_length(turning, 0.0), exact_direction(axis))


def _snap_file(path: Path, root: ElementTree.Element) -> list[Snap]:
    """Replace angles and axes in the elements of a URDF by what was meant."""
    snapped: list[Snap] = []
    for joint in root.findall('joint'):
        name, kind = str(joint.get('name')), joint.get('type')
        owner = f"joint '{name}'"
        if kind not in KNOWN_KINDS:
            raise ModelError(f'{path}: {owner} is {kind}; known are {", ".join(KNOWN_KINDS)}')
        if joint.find('mimic') is not None:
            raise ModelError(
                f'{path}: {owner} mimics another one, which is a closed chain; make it fixed, or '
                'remove its <mimic> element to treat it as free'
            )
        origin, axis = joint.find('origin'), joint.find('axis')
        if origin is not None and origin.get('rpy') is not None:
            _snap_angles(path, owner, origin, snapped)
        if axis is not None and kind not in ('fixed', 'floating'):
            _snap_axis(path, owner, axis, snapped)
    return snapped


def _snap_angles(path: Path, owner: str, origin: ElementTree.Element, snapped: list[Snap]) -> None:
    meant = []
    for what, given in zip(
        ('roll', 'pitch', 'yaw'), _three(path, owner, origin, 'rpy'), strict=True
    ):
        angle = exact_angle(given)
        radians = given if angle.tan_half else angle.steps * STEP
        if abs(radians - given) > WORTH_TELLING:
            snapped.append(Snap(f'{owner}, {what}', given, radians))
        meant.append(repr(radians))
    origin.set('rpy', ' '.join(meant))


def _doubts(path: Path, root: ElementTree.Element) -> tuple[str, ...]:
    """Angles that may be rounded more coarsely than TOLERANCE, or be calibrated."""
    found = []
    for joint in root.findall('joint'):
        origin = joint.find('origin')
        if origin is None:
            continue
        owner = f"joint '{joint.get('name')}'"
        angles = _three(path, owner, origin, 'rpy')
        for what, angle in zip(('roll', 'pitch', 'yaw'), angles, strict=True):
            apart = abs(angle - round(angle / STEP) * STEP)
            if TOLERANCE < apart < DOUBTFUL:
                found.append(f'{owner}, {what} {angle:.6g}')
    return tuple(found)


def _snap_axis(path: Path, owner: str, axis: ElementTree.Element, snapped: list[Snap]) -> None:
    given = np.array(_three(path, owner, axis, 'xyz'))
    if not np.any(given):
        raise ModelError(f'{path}: {owner} has the axis 0 0 0')
    unit = given / np.linalg.norm(given)
    meant = rotation(exact_direction(unit, TOLERANCE))[:, 2]
    _note(snapped, owner, 'axis', unit, meant)
    axis.set('xyz', ' '.join(repr(float(x)) for x in meant))


def _three(path: Path, owner: str, element: ElementTree.Element, key: str) -> list[float]:
    text = element.get(key, '0 0 0')
    try:
        x, y, z = (float(word) for word in text.split())
    except ValueError as error:
        raise ModelError(
            f"{path}: {owner} has {key} '{text}'; three numbers are needed"
        ) from error
    return [x, y, z]
