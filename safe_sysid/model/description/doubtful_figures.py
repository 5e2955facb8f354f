"""Figures of a URDF that look as if nobody had measured them, rule by rule.

Descriptions are written for simulators, and what a simulator needs but nobody knows is filled in.
Such figures are unknown, which is not zero. Every rule has a name; whoever knows better trusts it
(`--trust RULE`) or gives the figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
import math
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.urdf_tree import parents, three_numbers

ROUND = (0.0, 0.001, 0.01, 0.1, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0)
WEAK = 1.2  # times the static torque that a joint has to hold
NO_GRAVITY = 1e-9  # [N m] at most on a joint that gravity does not load
UNEQUAL = 10.0  # ratio of static torques of joints that can't have the same motor
TOO_STRONG, TOO_FAST = 1000.0, 50.0  # [N m], [rad/s]
HALF_TURN = 1e-3  # [rad/s] from pi: somebody wrote a half turn a second
DENSITIES = (100.0, 9000.0)  # [kg/m^3] of mass over hull volume
DEGREES = (25.0, 720.0)  # [rad] to these or less, in whole numbers: somebody wrote degrees
ASIDE = 0.05  # [m] of a centre of mass outside the hull: shapes leave some of a link out
LIGHT, LONG = 1e-3, 0.05  # [kg] of a link longer than that [m]
IMPOSSIBLE = 'inertia-impossible'  # rule of an inertia with which no payload can be found
NONE = 'inertia-none'

RULES = {
    'position-degrees': 'limits of several turns in whole numbers, as degrees are; a URDF has rad',
    'friction-alike': 'the same damping and friction on half of the joints or more',
    'friction-round': 'damping and friction are both round numbers',
    'friction-is-damping': 'friction equals damping, which has another unit',
    'effort-zero': 'an effort of 0 or below',
    'effort-large': f'an effort of {TOO_STRONG:g} or more',
    'effort-alike': 'the same effort on joints that hold very different torques at rest',
    'effort-weak': 'an effort that does not hold the arm up',
    'velocity-zero': 'a velocity of 0 or below',
    'velocity-large': f'a velocity of {TOO_FAST:g} or more',
    'velocity-half-turn': 'a velocity of pi, rounded',
    'velocity-alike': 'a velocity of 10 on every joint',
    'inertia-isotropic': 'the same moment of inertia about all axes',
    IMPOSSIBLE: 'an inertia that no body has',
    NONE: 'a shape without a mass',
    'inertia-light': 'a mass below a gram on a link longer than 5 cm',
    'inertia-density': 'a mass that does not fit the volume',
    'inertia-outside': 'a centre of mass outside the shape',
}
BARRING = ('effort-zero', 'effort-large', 'effort-alike', 'effort-weak',
           'velocity-zero', 'velocity-large', 'velocity-half-turn', 'velocity-alike')  # fmt: skip
NOTHING = ('effort-zero', 'velocity-zero')  # that nobody can trust


class FigureDoubt(NamedTuple):
    """A figure that looks like a placeholder."""

    rule: str
    name: str  # of the joint or link
    value: str

    def __str__(self) -> str:
        return f'{self.name}: {self.value} ({self.rule}: {RULES[self.rule]})'


class LinkShape(NamedTuple):
    """Size of a link, by its surface."""

    length: float = 0.0  # [m]
    volume: float = 0.0  # [m^3] of the convex hull
    faces: Array = np.zeros((0, 4))  # of that, n x + d <= 0 inside; none where it is flat


class JointFigures(NamedTuple):
    """What a URDF says about one joint, nan where it says nothing."""

    name: str
    damping: float
    friction: float
    effort: float
    velocity: float
    lower: float = math.nan  # [rad]; nan of a joint that does not turn, or without end
    upper: float = math.nan


def joint_figures(root: ElementTree.Element, names: Sequence[str]) -> list[JointFigures]:
    """Read the figures of these joints."""
    by_name = {str(joint.get('name')): joint for joint in root.findall('joint')}
    found = []
    for name in names:
        dynamics, limit = (by_name[name].find(tag) for tag in ('dynamics', 'limit'))
        figures = (
            _number(dynamics, 'damping'),
            _number(dynamics, 'friction'),
            _number(limit, 'effort'),
            _number(limit, 'velocity'),
            *_turning(by_name[name]),
        )
        found.append(JointFigures(name, *figures))
    return found


def _turning(joint: ElementTree.Element) -> tuple[float, float]:
    if joint.get('type') != 'revolute':
        return math.nan, math.nan
    lower, upper = (_number(joint.find('limit'), key) for key in ('lower', 'upper'))
    return lower, upper


def position_doubts(joints: Sequence[JointFigures]) -> Iterator[FigureDoubt]:
    """Yield the joints whose limits are degrees in place of radians."""
    for joint in joints:
        stated = [x for x in (joint.lower, joint.upper) if not math.isnan(x)]
        largest = max(map(abs, stated), default=0.0)
        if DEGREES[0] < largest <= DEGREES[1] and all(x == round(x) for x in stated):
            value = f'limits {joint.lower:g} to {joint.upper:g}'
            yield FigureDoubt('position-degrees', joint.name, value)


def friction_doubts(joints: Sequence[JointFigures]) -> Iterator[FigureDoubt]:
    """Yield the joints whose friction nobody measured, once each."""
    pairs = Counter((j.damping, j.friction) for j in joints if _is_stated(j))
    for joint in joints:
        if not _is_stated(joint):
            continue
        value = f'damping {joint.damping:g}, friction {joint.friction:g}'
        if len(joints) > 1 and 2 * pairs[joint.damping, joint.friction] >= len(joints):
            yield FigureDoubt('friction-alike', joint.name, value)
        elif all(math.isnan(x) or x in ROUND for x in (joint.damping, joint.friction)):
            yield FigureDoubt('friction-round', joint.name, value)
        elif joint.damping == joint.friction:
            yield FigureDoubt('friction-is-damping', joint.name, value)


def limit_doubts(joints: Sequence[JointFigures], static: Array) -> Iterator[FigureDoubt]:
    """Yield doubts about effort and velocity; `static` are the largest torques at rest [N m]."""
    efforts = {joint.effort for joint in joints}
    for joint, needed in zip(joints, static, strict=True):
        value = _stated('effort', joint.effort)
        if not joint.effort > 0.0:
            yield FigureDoubt('effort-zero', joint.name, value)
        elif joint.effort >= TOO_STRONG:
            yield FigureDoubt('effort-large', joint.name, value)
        elif joint.effort < WEAK * needed:
            yield FigureDoubt(
                'effort-weak', joint.name, f'{value}, which holds {needed:.3g} N m at rest'
            )
    alike = len(joints) > 2 and len(efforts) == 1
    unequal = [needed for needed in static if needed > NO_GRAVITY]
    if alike and unequal and max(unequal) > UNEQUAL * min(unequal):
        for joint in joints:
            if 0.0 < joint.effort < TOO_STRONG:
                yield FigureDoubt('effort-alike', joint.name, f'effort {joint.effort:g}')
    yield from _velocity_doubts(joints)


def _velocity_doubts(joints: Sequence[JointFigures]) -> Iterator[FigureDoubt]:
    alike = len(joints) > 1 and all(joint.velocity == 10.0 for joint in joints)
    for joint in joints:
        value = _stated('velocity', joint.velocity)
        if not joint.velocity > 0.0:
            yield FigureDoubt('velocity-zero', joint.name, value)
        elif joint.velocity >= TOO_FAST:
            yield FigureDoubt('velocity-large', joint.name, value)
        elif abs(joint.velocity - math.pi) < 2.0 * HALF_TURN:
            yield FigureDoubt('velocity-half-turn', joint.name, value)
        elif alike:
            yield FigureDoubt('velocity-alike', joint.name, value)


def _stated(what: str, value: float) -> str:
    return f'no {what}' if math.isnan(value) else f'{what} {value:g}'


def inertia_doubts(
    root: ElementTree.Element, links: Collection[str], shapes: Mapping[str, LinkShape]
) -> Iterator[FigureDoubt]:
    """Yield doubts about the bodies of links; `shapes` of those that have one, in their frames."""
    yield from (FigureDoubt(NONE, name, 'no inertial') for name in weightless(root, links))
    for link in root.findall('link'):
        name, inertial = str(link.get('name')), link.find('inertial')
        if name not in links or inertial is None:
            continue
        shape = shapes.get(name, LinkShape())
        mass = _number(inertial.find('mass'), 'value')
        yield from _moment_doubts(name, inertial.find('inertia'), mass)
        if shape.length > LONG and mass < LIGHT:
            yield FigureDoubt('inertia-light', name, f'{mass:g} kg, {shape.length:.2f} m')
        elif shape.volume > 0.0 and mass > 0.0:
            density = mass / shape.volume
            if not DENSITIES[0] < density < DENSITIES[1]:
                yield FigureDoubt('inertia-density', name, f'{density:.0f} kg/m^3')
        aside = _outside(inertial.find('origin'), shape)
        if mass > 0.0 and aside > ASIDE:
            yield FigureDoubt('inertia-outside', name, f'centre of mass {aside:.2f} m off')


def weightless(root: ElementTree.Element, links: Collection[str]) -> list[str]:
    """Name those of some links that have a shape and no mass.

    One that is fixed to a link with a mass is part of that: calibrated arms are written so.
    """
    weighed = {link.get('name') for link in root.findall('link[inertial]')}
    above = _fixed_to(root)
    return [
        name
        for link in root.findall('link')
        if (name := str(link.get('name'))) in links
        and any(link.find(shape) is not None for shape in ('visual', 'collision'))
        and weighed.isdisjoint((name, *_upwards(name, above)))
    ]


def _fixed_to(root: ElementTree.Element) -> dict[str, str]:
    """Link that each link is fixed to, of those that are."""
    children = [joint.find('child') for joint in root.findall("joint[@type='fixed']")]
    fixed = {child.get('link') for child in children if child is not None}
    return {link: above for link, above in parents(root).items() if link in fixed}


def _upwards(name: str, above: Mapping[str, str]) -> Iterator[str]:
    while name in above:
        name = above[name]
        yield name


def _moment_doubts(
    name: str, inertia: ElementTree.Element | None, mass: float
) -> Iterator[FigureDoubt]:
    xx, xy, xz, yy, yz, zz = (
        _number(inertia, key) for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    )
    moments = np.nan_to_num(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    principal = np.linalg.eigvalsh(moments)
    if mass > 0.0 and not (principal[0] > 0.0 and principal[2] <= principal[:2].sum()):
        yield FigureDoubt(IMPOSSIBLE, name, f'principal moments {principal.tolist()}')
    elif mass > 0.0 and xx == yy == zz:
        yield FigureDoubt('inertia-isotropic', name, f'moments of {xx:g} kg m^2')


def _outside(origin: ElementTree.Element | None, shape: LinkShape) -> float:
    """How far a centre of mass is outside the hull at least [m], 0 where it is inside."""
    said = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    centre = three_numbers(said, 'origin of an inertia')
    return float((shape.faces[:, :3] @ centre + shape.faces[:, 3]).max(initial=0.0))


def _is_stated(joint: JointFigures) -> bool:
    return any(x > 0.0 for x in (joint.damping, joint.friction))


def _number(element: ElementTree.Element | None, key: str) -> float:
    try:
        return math.nan if element is None else float(element.get(key, 'nan'))
    except ValueError:
        return math.nan
