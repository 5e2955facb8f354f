"""A calibrated arm as URDF: the file it came with, with other inertias, friction and geometry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, ModelError
from safe_sysid.export.held_joints import fix_joints, held_within_bodies
from safe_sysid.export.urdf_file import with_comments, write_urdf
from safe_sysid.identify.last_body import bodies_beyond
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw
from safe_sysid.model.urdf_tree import read_urdf

NOTHING: Mapping[str, Array] = MappingProxyType({})
AXES = ('xx', 'xy', 'yy', 'xz', 'yz', 'zz')  # entries in the order of the ten parameters


def write_dynamics(
    model: RobotModel,
    held: Mapping[str, float],
    source: Path,
    target: Path,
    mounted: Mapping[str, Array] = NOTHING,
) -> dict[str, float]:
    """Write the URDF with the inertial and friction parameters of the model.

    A body is what one joint moves. Its whole inertia goes to the link right behind the joint; the
    links fixed to that one keep their shapes and lose their <inertial>, which it contains, except
    those that are `mounted` on the last one (by name, in the frame of its joint). Joints within a
    body become fixed where they are `held`; those that are still to be held are returned.
    """
    root = with_comments(source)
    behind = {
        str(joint.get('name')): _attribute(joint, 'child', 'link')
        for joint in root.findall('joint')
        if joint.get('name') in model.layout.joint_names
    }
    body = {link: frame.joint for link, frame in model.frames.items() if frame.joint >= 0}
    for link in root.findall('link'):
        name = str(link.get('name'))
        if name not in body or name in mounted:
            continue
        joint = model.layout.joint_names[body[name]]
        for old in link.findall('inertial'):
            link.remove(old)
        phi = model.theta[model.layout.inertial(body[name])]
        if body[name] == model.layout.tip:
            phi = phi - sum(mounted.values(), np.zeros(10))
        if behind[joint] == name and phi.any():  # some bodies only split a ball joint
            link.insert(0, _inertial(phi, joint))
    friction = model.layout.friction(model.theta)
    for element in root.findall('joint'):
        if element.get('name') in behind:
            i = model.layout.joint_names.index(str(element.get('name')))
            for old in element.findall('dynamics'):
                element.remove(old)
            values = {'damping': f'{friction[1, i]:.12g}', 'friction': f'{friction[0, i]:.12g}'}
            ElementTree.SubElement(element, 'dynamics', values)
    fixed = held_within_bodies(root, model, held, range(model.n))
    fix_joints(root, fixed)
    write_urdf(root, source, target)
    return {name: held[name] for name in held if name not in fixed}


def mounted_beyond(tip: str, model: RobotModel, source: Path) -> dict[str, Array] | None:
    """Return the links beyond `tip` with their inertia, as described, or None.

    None: the last body of the model is none without them, so nobody can tell them from the arm.
    """
    mounted = bodies_beyond(tip, read_urdf(source), model)
    own = model.theta[model.layout.end_effector] - sum(mounted.values(), np.zeros(10))
    return mounted if not mounted or inertia.is_consistent(own) else None


def write_geometry(model: RobotModel, source: Path, target: Path) -> None:
    """Write the URDF with the joint origins and axes of the model."""
    root = with_comments(source)
    for joint in root.findall('joint'):
        name = str(joint.get('name'))
        if name not in model.layout.joint_names:
            continue
        i = model.layout.joint_names.index(name)
        below = model.frames[_attribute(joint, 'parent', 'link')]
        R = below.R.T @ model.tree.R_parent_joint[i]
        p = below.R.T @ (model.tree.p_parent_joint[i] - below.p)
        for kind in ('origin', 'axis'):
            for old in joint.findall(kind):
                joint.remove(old)
        ElementTree.SubElement(joint, 'origin', {'xyz': _row(p), 'rpy': _row(roll_pitch_yaw(R))})
        ElementTree.SubElement(joint, 'axis', {'xyz': _row(model.tree.axis[i])})
    write_urdf(root, source, target)


def _inertial(phi: Array, joint: str) -> ElementTree.Element:
    if not inertia.is_consistent(phi):
        raise BoundError(f'the body that {joint} moves can not exist: {phi.tolist()}')
    mass, com, about_com = inertia.mass_com_inertia(phi)
    element = ElementTree.Element('inertial')
    ElementTree.SubElement(element, 'origin', {'xyz': _row(com), 'rpy': '0 0 0'})
    ElementTree.SubElement(element, 'mass', {'value': f'{float(mass):.12g}'})
    entries = inertia.symmetric_entries(about_com)
    values = {f'i{axes}': f'{x:.12g}' for axes, x in zip(AXES, entries, strict=True)}
    ElementTree.SubElement(element, 'inertia', values)
    return element


def _attribute(joint: ElementTree.Element, element: str, attribute: str) -> str:
    found = joint.find(element)
    if found is None or found.get(attribute) is None:
        raise ModelError(f"joint '{joint.get('name')}' has no <{element} {attribute}=...>")
    return str(found.get(attribute))


def _row(values: Array) -> str:
    return ' '.join(f'{x:.12g}' for x in values)
