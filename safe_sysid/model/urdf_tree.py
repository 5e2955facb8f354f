"""A URDF becomes the joints and bodies of a Pinocchio model, or an error that says why not."""

from __future__ import annotations

from collections.abc import Mapping
import math
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model.urdf_figures import (
    check_ends,
    check_figures,
    check_lengths,
    check_limits,
    check_names,
    check_size,
    check_version,
)
from safe_sysid.model.urdf_root import check_tag
from safe_sysid.model.xml_file import xml_root

XACRO = '{http://www.ros.org/wiki/xacro}'  # namespace of its elements
MOVING = ('revolute', 'continuous', 'prismatic')
LIMITED = ('revolute', 'prismatic')  # joints that have limits of position
FREE = ('floating', 'planar')  # joints that can only be held, at 0
AGREES = 1e-4  # [rad or m] of held positions: of joints that mimic each other, and with limits


class Mimic(NamedTuple):
    """A joint is at multiplier times the position of another one, plus an offset."""

    joint: str
    multiplier: float
    offset: float


class Frame(NamedTuple):
    """A link of the URDF, fixed in the frame of a joint (-1: the base)."""

    joint: int
    R: Array  # (3, 3)
    p: Array  # (3,) [m]


def parse_urdf(path: Path) -> ElementTree.Element:
    """Root element of a URDF whose figures are numbers of a machine, whatever else is in it."""
    root = xml_root(path)
    check_tag(path, root)
    if _is_xacro(root):
        raise ModelError(
            f'{path}: is a xacro that was not expanded; `xacro {path} > arm.urdf` makes a URDF '
            'of it (with the arguments of your arm, such as name:=...)'
        )
    check_lengths(path, root)
    check_version(path, root)
    check_size(path, root)
    check_figures(path, root)
    check_names(path, root)
    check_ends(path, root)
    return root


def urdf_text(path: Path) -> str:
    """Return a URDF as it stands in its file; without its comments where that is not in UTF-8."""
    root = parse_urdf(path)
    try:
        return path.read_text(encoding='utf-8')
    except UnicodeDecodeError:
        return ElementTree.tostring(root, encoding='unicode')


def _is_xacro(root: ElementTree.Element) -> bool:
    """Whether elements of xacro are in it, or expressions where links and joints have figures."""
    if any(element.tag.startswith(XACRO) for element in root.iter()):
        return True
    parts = (part for kind in ('link', 'joint') for part in root.findall(kind))
    inner = (element for part in parts for element in part.iter())
    return any('${' in value for element in inner for value in element.attrib.values())


def pinocchio_model(path: Path, root: ElementTree.Element) -> pin.Model:
    """Pinocchio model of what stands in a URDF."""
    check_limits(path, root)
    try:
        return pin.buildModelFromXML(ElementTree.tostring(root, encoding='unicode'))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f'{path}: Pinocchio cannot build it: {error}') from error


def read_urdf(path: Path) -> ElementTree.Element:
    """Root element of a URDF whose joints are all of a known kind."""
    root = parse_urdf(path)
    for joint in root.findall('joint'):
        name, kind = joint.get('name'), joint.get('type')
        if kind not in (*MOVING, *FREE, 'fixed'):
            raise ModelError(
                f"{path}: joint '{name}' is {kind}; only {', '.join(MOVING)} and fixed joints "
                'can be modelled: replace it by a chain of these, or make it fixed'
            )
    _check_tree(path, root)
    return root


def _check_tree(path: Path, root: ElementTree.Element) -> None:
    """Refuse a link below itself, which who walks up from it would never leave."""
    for joint in root.findall('joint'):
        if joint.find('parent') is None or joint.find('child') is None:
            raise ModelError(f"{path}: joint '{joint.get('name')}' has no parent or no child")
    above = parents(root)
    for start in above:
        link, passed = start, {start}
        while link in above:
            link = above[link]
            if link in passed:
                raise ModelError(f"{path}: the links around '{link}' form a circle")
            passed.add(link)


def parents(root: ElementTree.Element) -> dict[str, str]:
    """Link that each link hangs on."""
    return {_end(joint, 'child'): _end(joint, 'parent') for joint in root.findall('joint')}


def _end(joint: ElementTree.Element, kind: str) -> str:
    end = joint.find(kind)
    return '' if end is None else end.get('link', '')


def moving_joints(root: ElementTree.Element) -> dict[str, str]:
    """Name and type of every joint that moves."""
    return {
        str(joint.get('name')): str(joint.get('type'))
        for joint in root.findall('joint')
        if joint.get('type') in MOVING
    }


def finite_number(element: ElementTree.Element, key: str, default: str, of: str) -> float:
    """Attribute of an element as a number; `of` says in an error whose it is."""
    text = element.get(key, default)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"{of}: {key} of <{element.tag}> is '{text}', not a finite number")
    return value


def three_numbers(text: str, of: str) -> Array:
    """Read 'x y z'; `of` says in an error whose it is."""
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError as error:
        raise ModelError(f"{of}: '{text}' should be three numbers") from error
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ModelError(f"{of}: '{text}' should be three finite numbers")
    return values


def mimics(root: ElementTree.Element, source: Path) -> dict[str, Mimic]:
    """Joints that mimic another one, by name."""
    found = {
        (name := str(joint.get('name'))): Mimic(
            str(mimic.get('joint')),
            finite_number(mimic, 'multiplier', '1', f"{source}: joint '{name}'"),
            finite_number(mimic, 'offset', '0', f"{source}: joint '{name}'"),
        )
        for joint in root.findall('joint')
        if (mimic := joint.find('mimic')) is not None
    }
    for start in found:
        name, passed = start, set[str]()
        while name in found:
            if name in passed:
                raise ModelError(
                    f"{source}: joint '{start}' mimics '{found[start].joint}', and in the end "
                    'itself; of such a circle nothing follows'
                )
            passed.add(name)
            name = found[name].joint
    return found


def build(
    path: Path,
    joints: tuple[str, ...],
    held: Mapping[str, float],
    massless: tuple[str, ...] = (),
) -> pin.Model:
    """Pinocchio model in which only `joints` move; coordinates are angles, not (cos, sin).

    The bodies of `massless` joints may have no mass.
    """
    model = whole_model(path, joints, held).holding(held)
    _check_bodies(path, model, massless)
    return model


class WholeModel(NamedTuple):
    """Everything that a URDF lets move, some of which is to be held."""

    model: pin.Model
    fixed: frozenset[str]  # joints of more than one freedom, which are held at 0

    def holding(self, held: Mapping[str, float]) -> pin.Model:
        """Return the model in which some joints do not move."""
        still = {name: value for name, value in held.items() if name not in self.fixed}
        return _reduced(self.model, still) if still else self.model


def whole_model(path: Path, joints: tuple[str, ...], held: Mapping[str, float]) -> WholeModel:
    """Pinocchio model of a URDF, of whose moving joints all are either modelled or held."""
    root = read_urdf(path)
    _check_names(path, root, joints, held)
    free = {str(x.get('name')) for x in root.findall('joint') if x.get('type') in FREE}
    for joint in root.findall('joint'):
        for mimic in joint.findall('mimic'):
            joint.remove(mimic)
        if joint.get('name') in free:
            joint.set('type', 'fixed')
        if joint.get('type') == 'continuous':
            joint.set('type', 'revolute')
            limit = joint.find('limit')
            if limit is None:
                limit = ElementTree.SubElement(joint, 'limit', effort='0', velocity='0')
            limit.set('lower', '-1e300')
            limit.set('upper', '1e300')
    return WholeModel(pinocchio_model(path, root), frozenset(free))


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
    path: Path, root: ElementTree.Element, joints: tuple[str, ...], held: Mapping[str, float]
) -> None:
    moving = moving_joints(root)
    kinds = {str(x.get('name')): x.get('type') for x in root.findall('joint')}
    free = {name: kind for name, kind in kinds.items() if kind in FREE}
    for name in (*joints, *held):
        if name in held and kinds.get(name) == 'fixed':
            raise ModelError(f"{path}: joint '{name}' is fixed; take it out of `held`")
        if name not in moving and name not in free:
            raise ModelError(
                f"{path}: no moving joint '{name}'; its moving joints are {list(moving)}"
            )
    for name, kind in free.items():
        if held.get(name) != 0.0:
            raise ModelError(
                f"{path}: joint '{name}' is {kind}; only {', '.join(MOVING)} and fixed joints can "
                f'be modelled: list it under `held` at 0 to keep it where it is'
            )
    for name in moving:
        if name not in joints and name not in held:
            raise ModelError(
                f"{path}: joint '{name}' moves but is not in the settings; list it under "
                '`joints`, or under `held` with the position it is kept at'
            )
    mimicking = mimics(root, path)
    _check_mimics(path, mimicking, joints, held)
    for joint in root.findall('joint'):
        name = str(joint.get('name'))
        if name in held and name not in mimicking:
            limits = position_limits(joint, path)
            refuse_beyond_limits(f'{path}: {name} is to be held', held[name], limits)


def position_limits(joint: ElementTree.Element, source: Path) -> tuple[float, float]:
    """Lower and upper limit [rad or m]; equal ones say that a joint does not move."""
    if joint.get('type') not in LIMITED:
        return -math.inf, math.inf
    limit = joint.find('limit')
    if limit is None:
        return 0.0, 0.0
    of = f"{source}: joint '{joint.get('name')}'"
    lower, upper = (finite_number(limit, end, '0', of) for end in ('lower', 'upper'))
    if lower > upper:
        raise ModelError(
            f'{of} is limited to {lower:g} to {upper:g}; the lower one has to be below the '
            'upper one'
        )
    return lower, upper


def refuse_beyond_limits(said: str, value: float, limits: tuple[float, float]) -> None:
    """Refuse a position at which a joint is to be kept, and cannot be."""
    lower, upper = limits
    if lower < upper and not lower - AGREES <= value <= upper + AGREES:
        raise ModelError(
            f'{said} at {value:g}; its limits are {lower:g} to {upper:g} (rad; m where it slides)'
        )


def _check_mimics(
    path: Path,
    mimicking: Mapping[str, Mimic],
    joints: tuple[str, ...],
    held: Mapping[str, float],
) -> None:
    """Refuse joints that mimic another one unless both are held, at positions that agree."""
    for name, mimic in mimicking.items():
        if name in joints or mimic.joint in joints:
            raise ModelError(
                f"{path}: joint '{name}' mimics another one, '{mimic.joint}', which is not "
                'modelled: hold both (`held`, for a gripper held still; `safe-sysid new-arm` '
                'writes such settings), or remove the <mimic> element to treat it as free'
            )
        if name in held and mimic.joint in held:
            follows = mimic.multiplier * held[mimic.joint] + mimic.offset
            if abs(follows - held[name]) > AGREES:
                raise ModelError(
                    f"{path}: joint '{name}' is held at {held[name]:g}, but mimics "
                    f"'{mimic.joint}', with which it would be at {follows:g}"
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
