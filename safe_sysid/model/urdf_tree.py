"""A URDF becomes the joints and bodies of a Pinocchio model, or an error that says why not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError

XACRO = '{http://www.ros.org/wiki/xacro}'  # namespace of its elements
MOVING = ('revolute', 'continuous', 'prismatic')


class Frame(NamedTuple):
    """A link of the URDF, fixed in the frame of a joint (-1: the base)."""

    joint: int
    R: Array  # (3, 3)
    p: Array  # (3,) [m]


def parse_urdf(path: Path) -> ElementTree.Element:
    """Root element of a URDF, whatever is in it."""
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise ModelError(f'{path}: cannot be read ({error.strerror})') from error
    except ElementTree.ParseError as error:
        raise ModelError(f'{path}: is not XML ({error})') from error
    if root.tag != 'robot':
        raise ModelError(f'{path}: the root element is <{root.tag}>, a URDF has <robot>')
    if any(element.tag.startswith(XACRO) for element in root.iter()):
        raise ModelError(
            f'{path}: is a xacro that was not expanded; `xacro {path} > arm.urdf` makes a URDF '
            'of it (with the arguments of your arm, such as name:=...)'
        )
    return root


def read_urdf(path: Path) -> ElementTree.Element:
    """Root element of a URDF whose joints are all of a kind that can be modelled."""
    root = parse_urdf(path)
    for joint in root.findall('joint'):
        name, kind = joint.get('name'), joint.get('type')
        if kind not in (*MOVING, 'fixed'):
            raise ModelError(
                f"{path}: joint '{name}' is {kind}; only {', '.join(MOVING)} and fixed joints "
                'can be modelled: replace it by a chain of these, or make it fixed'
            )
        if joint.find('mimic') is not None:
            raise ModelError(
                f"{path}: joint '{name}' mimics another one, which is not modelled: make it "
                'fixed (a gripper held still), or remove the <mimic> element to treat it as free'
            )
    return root


def moving_joints(root: ElementTree.Element) -> dict[str, str]:
    """Name and type of every joint that moves."""
    return {
        str(joint.get('name')): str(joint.get('type'))
        for joint in root.findall('joint')
        if joint.get('type') in MOVING
    }


def build(
    path: Path,
    joints: tuple[str, ...],
    held: Mapping[str, float],
    massless: tuple[str, ...] = (),
) -> pin.Model:
    """Pinocchio model in which only `joints` move; coordinates are angles, not (cos, sin).

    The bodies of `massless` joints may have no mass.
    """
    root = read_urdf(path)
    moving = moving_joints(root)
    _check_names(path, moving, joints, held)
    for joint in root.findall('joint'):
        if joint.get('type') == 'continuous':
            joint.set('type', 'revolute')
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit', effort='0', velocity='0')
            limit.set('lower', '-1e300')
            limit.set('upper', '1e300')
    try:
        whole = pin.buildModelFromXML(ElementTree.tostring(root, encoding='unicode'))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f'{path}: Pinocchio cannot build it: {error}') from error
    model = _reduced(whole, held) if held else whole
    _check_bodies(path, model, massless)
    return model


def _reduced(whole: pin.Model, held: Mapping[str, float]) -> pin.Model:
    """Return the model in which the held joints do not move."""
    position = np.zeros(whole.nq)
    for name, value in held.items():
        position[whole.joints[whole.getJointId(name)].idx_q] = value
    return pin.buildReducedModel(whole, [whole.getJointId(name) for name in held], position)


def frames_of(model: pin.Model) -> dict[str, Frame]:
    """Every link, by name."""
    return {
        frame.name: Frame(
            frame.parentJoint - 1,
            np.array(frame.placement.rotation),
            np.array(frame.placement.translation),
        )
        for frame in model.frames
        if frame.type == pin.FrameType.BODY
    }


def _check_names(
    path: Path, moving: Mapping[str, str], joints: tuple[str, ...], held: Mapping[str, float]
) -> None:
    for name in (*joints, *held):
        if name not in moving:
            raise ModelError(
                f"{path}: no moving joint '{name}'; its moving joints are {list(moving)}"
            )
    for name in moving:
        if name not in joints and name not in held:
            raise ModelError(
                f"{path}: joint '{name}' moves but is not in the settings; list it under "
                '`joints`, or under `held` with the position it is kept at'
            )


def _check_bodies(path: Path, model: pin.Model, massless: tuple[str, ...]) -> None:
    for i in range(1, model.njoints):
        if not model.inertias[i].mass > 0.0 and model.names[i] not in massless:
            raise ModelError(
                f"{path}: what joint '{model.names[i]}' moves has mass "
                f'{model.inertias[i].mass} kg; give its link an <inertial> element with a mass '
                'above 0'
            )
        if not np.isfinite(model.inertias[i].toDynamicParameters()).all():
            raise ModelError(
                f"{path}: the inertia of what joint '{model.names[i]}' moves is not finite"
            )
