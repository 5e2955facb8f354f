"""Which joints of a URDF an arm moves, and where the others are held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.model.urdf_tree import (
    FREE,
    MOVING,
    Mimic,
    finite_number,
    mimics,
    position_limits,
    refuse_beyond_limits,
    three_numbers,
)


class DescribedJoint(NamedTuple):
    """A joint as a URDF has it."""

    name: str
    kind: str
    parent: str
    child: str
    lower: float  # [rad or m], -inf and inf where there is no limit
    upper: float
    origin: tuple[float, float, float]  # [m] in the parent's frame


@dataclass(frozen=True)
class ChosenChain:
    """The joints that move, base first, those that are held, and what was decided on the way."""

    joints: tuple[str, ...]
    held: dict[str, float]  # [rad or m]
    body: str  # link that the last joint moves
    tip: str  # link fixed to it with which the arm ends: the one named, or the same
    remarks: tuple[str, ...]


def chosen_chain(
    root: ElementTree.Element,
    source: Path,
    tip: str | None,
    base: str | None,
    hold: Mapping[str, float],
) -> ChosenChain:
    """Joints from `base` (default: the root) to `tip` (default: the only end) move."""
    joints = described_joints(root, source)
    above, following = _above(joints, source), mimics(root, source)
    end = tip or _only_end(joints, above, following, source)
    links = {str(link.get('name')) for link in root.findall('link')}
    for option, link in (('--tip', end), ('--base', base)):
        if link is not None and link not in links:
            raise ModelError(f"{source}: no link '{link}' for {option}; links are {sorted(links)}")
    path = list(_path(above, end, base, source))
    moving = [joint for joint in reversed(path) if joint.kind != 'fixed']
    _check_moving(moving, following, source)
    held, remarks = _held(joints, {joint.name for joint in moving}, following, hold, source)
    body = moving[-1].child
    names = tuple(joint.name for joint in moving)
    return ChosenChain(names, held, body, tip or body, tuple(remarks))


def described_joints(root: ElementTree.Element, source: Path) -> dict[str, DescribedJoint]:
    """Every joint of a URDF by name, soft limits as limits where those are (`soft_limits`)."""
    found = {}
    for joint in root.findall('joint'):
        name, kind = str(joint.get('name')), str(joint.get('type'))
        ends = [joint.find(end) for end in ('parent', 'child')]
        if any(end is None for end in ends):
            raise ModelError(f"{source}: joint '{name}' has no parent or no child")
        parent, child = (str(end.get('link')) for end in ends if end is not None)
        lower, upper = position_limits(joint, source)
        origin = joint.find('origin')
        text = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
        x, y, z = three_numbers(text, f"{source}: joint '{name}'").tolist()
        found[name] = DescribedJoint(name, kind, parent, child, lower, upper, (x, y, z))
    return found


def with_soft_limits(root: ElementTree.Element, source: Path) -> list[str]:
    """Put soft limits in the place of the hard ones they are inside of; says what it did."""
    said = []
    for joint in root.findall('joint'):
        soft, limit = joint.find('safety_controller'), joint.find('limit')
        if soft is None or limit is None or joint.get('type') not in ('revolute', 'prismatic'):
            continue
        if 'soft_lower_limit' not in soft.attrib or 'soft_upper_limit' not in soft.attrib:
            continue
        name = joint.get('name')
        of = f"{source}: joint '{name}'"
        low, high = (
            finite_number(soft, f'soft_{end}_limit', '', of) for end in ('lower', 'upper')
        )
        lower, upper = (finite_number(limit, end, '0', of) for end in ('lower', 'upper'))
        if lower <= low < high <= upper:
            if (low, high) != (lower, upper):
                limit.set('lower', repr(low))
                limit.set('upper', repr(high))
                said.append(
                    f'{name}: soft limits {low:g} to {high:g} instead of {lower:g} to {upper:g}'
                )
        else:
            said.append(
                f'{name}: its soft limits {low:g} to {high:g} are not inside {lower:g} to '
                f'{upper:g}, and do not count'
            )
    return said


def _above(joints: Mapping[str, DescribedJoint], source: Path) -> dict[str, DescribedJoint]:
    """Return the joint above every link; a link has one, and none is above itself."""
    above: dict[str, DescribedJoint] = {}
    for joint in joints.values():
        if joint.child in above:
            raise ModelError(
                f"{source}: link '{joint.child}' is the child of '{above[joint.child].name}' and "
                f"of '{joint.name}'; a URDF is a tree"
            )
        above[joint.child] = joint
    for start in above:
        link, steps = start, 0
        while link in above:
            link, steps = above[link].parent, steps + 1
            if steps > len(above):
                raise ModelError(f"{source}: the links around '{start}' form a circle")
    return above


def _path(
    above: Mapping[str, DescribedJoint], end: str, base: str | None, source: Path
) -> Iterator[DescribedJoint]:
    """Joints from a link down to another, that of the tip first."""
    link = end
    while link in above and link != base:
        yield above[link]
        link = above[link].parent
    if base is not None and link != base:
        raise ModelError(f"{source}: '{base}' (--base) is not on the way from '{link}' to '{end}'")


def _only_end(
    joints: Mapping[str, DescribedJoint],
    above: Mapping[str, DescribedJoint],
    mimicking: Mapping[str, Mimic],
    source: Path,
) -> str:
    """Return the link that the only chain of moving joints ends with."""
    free = [x for x in joints.values() if x.kind in MOVING and x.name not in mimicking]
    chains = {
        joint.child: [x.name for x in _path(above, joint.child, None, source) if x in free]
        for joint in free
    }
    inner = {name for names in chains.values() for name in names[1:]}
    ends = {link: names for link, names in chains.items() if names[0] not in inner}
    if not ends:
        raise ModelError(f'{source}: no joint moves')
    if len(ends) > 1:
        listed = ', '.join(f'{link} ({len(names)} joints)' for link, names in ends.items())
        raise ModelError(
            f'{source}: several chains of joints end at {listed}; name the last link of the arm '
            'with --tip (joints behind it are held)'
        )
    return next(iter(ends))


def _check_moving(
    moving: list[DescribedJoint], mimicking: Mapping[str, Mimic], source: Path
) -> None:
    if not moving:
        raise ModelError(f'{source}: no joint moves between base and tip')
    for joint in moving:
        if joint.kind in FREE:
            raise ModelError(
                f"{source}: joint '{joint.name}' between base and tip is {joint.kind}; only "
                f'{", ".join(MOVING)} joints can be modelled: begin above it with --base '
                f'{joint.child}'
            )
        if joint.name in mimicking:
            raise ModelError(
                f"{source}: joint '{joint.name}' between base and tip mimics "
                f"'{mimicking[joint.name].joint}', which is not modelled: end before it with --tip"
            )
        if joint.lower == joint.upper:
            raise ModelError(
                f"{source}: joint '{joint.name}' has no limits, or equal ones; write the limits "
                'of the joint into the URDF, make it continuous, or make it fixed'
            )
    by_name = {joint.name: joint for joint in moving}
    for name, mimic in mimicking.items():
        if mimic.joint in by_name:
            way = f'end before it with --tip {by_name[mimic.joint].parent}'
            if mimic.joint == moving[0].name:
                way = 'make it fixed, or take out its <mimic> if it has a motor of its own'
            raise ModelError(
                f"{source}: joint '{name}' mimics '{mimic.joint}', which the arm would move; that "
                f'is not modelled: {way}'
            )


def _held(
    joints: Mapping[str, DescribedJoint],
    moving: set[str],
    mimicking: Mapping[str, Mimic],
    hold: Mapping[str, float],
    source: Path,
) -> tuple[dict[str, float], list[str]]:
    """Where every other joint is, and sentences on what nobody asked for."""
    for name in hold:
        if name not in joints or name in moving or joints[name].kind == 'fixed':
            others = [
                x.name for x in joints.values() if x.kind != 'fixed' and x.name not in moving
            ]
            raise ModelError(
                f"{source}: '{name}' (--hold) is no joint that can be held; those are {others}"
            )
        limits = joints[name].lower, joints[name].upper
        refuse_beyond_limits(f'{source}: {name} (--hold) is to be held', hold[name], limits)
    held: dict[str, float] = {}
    remarks: list[str] = []
    for name, joint in joints.items():
        if name in moving or joint.kind == 'fixed':
            continue
        if joint.kind in FREE:
            held[name] = 0.0
            remarks.append(f'{name} is {joint.kind}: taken as fixed at 0')
        elif name in mimicking:
            held[name] = _mimicked(name, joints, mimicking, hold, source)
        else:
            held[name] = _kept(joint, hold)
            if name not in hold and held[name] != 0.0:
                remarks.append(
                    f'{name} is held at {held[name]:g}: 0 is outside its limits; --hold '
                    f'{name}=VALUE says otherwise'
                )
    return held, remarks


def _kept(joint: DescribedJoint, hold: Mapping[str, float]) -> float:
    return hold.get(joint.name, min(max(0.0, joint.lower), joint.upper))


def _mimicked(
    name: str,
    joints: Mapping[str, DescribedJoint],
    mimicking: Mapping[str, Mimic],
    hold: Mapping[str, float],
    source: Path,
) -> float:
    """Position of a joint that mimics another one, which may mimic a third."""
    chain = [name]
    while chain[-1] in mimicking and chain[-1] not in hold:
        after = mimicking[chain[-1]].joint
        if after in chain or after not in joints:
            raise ModelError(
                f"{source}: joint '{name}' mimics '{after}', of which nothing follows"
            )
        chain.append(after)
    value = _kept(joints[chain[-1]], hold)
    for each in reversed(chain[:-1]):
        value = mimicking[each].multiplier * value + mimicking[each].offset
    return value
