"""Figures and names of a URDF: numbers of a size that a machine can have, and plain words.

They are looked at before anything is computed of them: an axis without a length makes a model of
nan, and the library that reads URDFs reports the rest in words of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
import math
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.input_file import listed, name_trouble, shortened

SHORTEST_AXIS, LONGEST_AXIS = 1e-6, 1e6  # an axis is a unit vector up to its rounding
WITHOUT_AXIS = ('fixed', 'floating')
LIMITED = ('revolute', 'prismatic')  # joints that have to have a <limit>
WORLD = 'universe'  # what Pinocchio calls the base, as if it were a joint
MOST_JOINTS = 100  # that move
NAMES = ('name', 'link', 'joint')  # attributes
VERSIONS = ('1.0', '1.1', '1.2')  # of URDF


INERTIAL = {'mass': ('value',), 'inertia': ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')}


class Figures(NamedTuple):
    """Attributes of the elements at a place, the size of each in numbers, and the largest."""

    place: str  # below a link or a joint
    keys: tuple[str, ...]
    size: int
    largest: float


LENGTH, ANGLE = 1e6, 1e6  # [m], [rad]
MASS, INERTIA = 1e6, 1e9  # [kg], [kg m^2]
NO_LIMIT = 1e20  # what is written where there is none
SHAPES = (
    Figures('geometry/box', ('size',), 3, LENGTH),
    Figures('geometry/cylinder', ('radius', 'length'), 1, LENGTH),
    Figures('geometry/sphere', ('radius',), 1, LENGTH),
    Figures('geometry/mesh', ('scale',), 3, LENGTH),
    Figures('origin', ('xyz',), 3, LENGTH),
    Figures('origin', ('rpy',), 3, ANGLE),
)
OF_LINKS = (
    Figures('inertial/mass', INERTIAL['mass'], 1, MASS),
    Figures('inertial/inertia', INERTIAL['inertia'], 1, INERTIA),
    Figures('inertial/origin', ('xyz',), 3, LENGTH),
    Figures('inertial/origin', ('rpy',), 3, ANGLE),
    *(x._replace(place=f'{of}/{x.place}') for of in ('visual', 'collision') for x in SHAPES),
)
OF_JOINTS = (
    Figures('origin', ('xyz',), 3, LENGTH),
    Figures('origin', ('rpy',), 3, ANGLE),
    Figures('limit', ('lower', 'upper', 'effort', 'velocity'), 1, NO_LIMIT),
    Figures('dynamics', ('damping', 'friction'), 1, NO_LIMIT),
)


def check_figures(path: Path, root: ElementTree.Element) -> None:
    """Refuse numbers that are none, that are not finite, or that no machine has."""
    for kind, figures in (('link', OF_LINKS), ('joint', OF_JOINTS)):
        for part in root.findall(kind):
            of = f"{path}: {kind} '{part.get('name')}'"
            for figure in figures:
                for element in part.findall(figure.place):
                    _check(element, figure, of)
    for joint in root.findall('joint'):
        if joint.get('type') not in WITHOUT_AXIS:
            _check_axis(path, joint)
    for link in root.findall('link'):
        _check_inertial(f"{path}: link '{link.get('name')}'", link.find('inertial'))


def check_lengths(path: Path, root: ElementTree.Element) -> None:
    """Refuse names that nobody could read, before anything is said of what they name."""
    for element in root.iter():
        for key in NAMES:
            if trouble := name_trouble(element.get(key, '')):
                raise ModelError(f'{path}: {key} of <{shortened(element.tag)}>: {trouble}')


def check_version(path: Path, root: ElementTree.Element) -> None:
    """Refuse a version of URDF that the library which builds models does not read."""
    version = root.get('version')
    if version is not None and version not in VERSIONS:
        raise ModelError(
            f"{path}: <robot> has version '{shortened(version)}', of which nothing is known; "
            f'{", ".join(VERSIONS)} are read, and a URDF without a version is taken as '
            f'{VERSIONS[0]}'
        )


def check_names(path: Path, root: ElementTree.Element) -> None:
    """Refuse names that are missing, that stand twice, or that end lines of what is written."""
    if not root.get('name'):
        raise ModelError(f'{path}: <robot> has no name')
    for kind in ('link', 'joint'):
        names = Counter(str(part.get('name')) for part in root.findall(kind))
        if twice := [name for name, count in names.items() if count > 1]:
            raise ModelError(f"{path}: more than one {kind} is called '{twice[0]}'")
        if kind == 'joint' and WORLD in names:
            raise ModelError(
                f"{path}: a joint is called '{WORLD}', as nothing but the base may be"
            )
        for part in root.findall(kind):
            name = part.get('name', '')
            if not name:
                raise ModelError(f'{path}: a <{kind}> has no name')
            if not name.isprintable():
                raise ModelError(
                    f'{path}: the name of a {kind} is {name!r}; only characters that can be '
                    'printed are allowed, no line breaks among them'
                )


def check_ends(path: Path, root: ElementTree.Element) -> None:
    """Refuse a joint to or from a link that is not there, and a link that hangs on two joints."""
    links = [link.get('name', '') for link in root.findall('link')]
    above: dict[str, str] = {}
    for joint in root.findall('joint'):
        name = joint.get('name', '')
        for kind in ('parent', 'child'):
            end = joint.find(kind)
            link = None if end is None else end.get('link')
            if link is not None and link not in links:
                raise ModelError(
                    f"{path}: the {kind} of joint '{name}' is link '{link}', which is not there; "
                    f'links are {listed(links)}'
                )
            if kind == 'child' and link is not None and above.setdefault(link, name) != name:
                raise ModelError(
                    f"{path}: link '{link}' is the child of joints '{above[link]}' and '{name}'; "
                    'a URDF is a tree, in which every link hangs on one joint'
                )


def check_limits(path: Path, root: ElementTree.Element) -> None:
    """Refuse a joint whose limits are not there, and a robot without links."""
    if root.find('link') is None:
        raise ModelError(f'{path}: has no <link>')
    below = {child.get('link') for child in root.findall('joint/child')}
    roots = [name for x in root.findall('link') if (name := x.get('name')) not in below]
    if len(roots) > 1:
        raise ModelError(
            f"{path}: links '{roots[0]}' and '{roots[1]}' both hang on nothing; a URDF is one tree"
        )
    for joint in root.findall('joint'):
        limit, of = joint.find('limit'), f"{path}: joint '{joint.get('name')}'"
        if limit is None and joint.get('type') in LIMITED:
            raise ModelError(f'{of} is {joint.get("type")} and has no <limit>')
        for key in () if limit is None else ('effort', 'velocity'):
            if limit is not None and limit.get(key) is None:
                raise ModelError(
                    f'{of}: its <limit> has no {key}; write it there, or let `safe-sysid new-arm` '
                    f'do so (of a joint that the arm moves: --{key} {joint.get("name")}=VALUE)'
                )
        if limit is not None and joint.get('type') in LIMITED:
            lower, upper = (float(limit.get(key, '0')) for key in ('lower', 'upper'))
            if lower > upper:
                raise ModelError(f'{of} is limited to {lower:g} to {upper:g}; they are exchanged')


def check_size(path: Path, root: ElementTree.Element) -> None:
    """Refuse joints of a number that no machine has."""
    moving = sum(joint.get('type') not in WITHOUT_AXIS for joint in root.findall('joint'))
    if moving > MOST_JOINTS:
        raise ModelError(f'{path}: {moving} joints move; {MOST_JOINTS} may')


def _check(element: ElementTree.Element, figure: Figures, of: str) -> None:
    for key in figure.keys:
        text = element.get(key)
        if text is None:
            continue
        values = list(_numbers(text))
        wanted = 'a number' if figure.size == 1 else f'{figure.size} numbers'
        if len(values) != figure.size or not all(map(math.isfinite, values)):
            raise ModelError(
                f"{of}: {key} of <{element.tag}> is '{shortened(text)}', it has to be {wanted}"
            )
        if max(map(abs, values)) > figure.largest:
            raise ModelError(
                f"{of}: {key} of <{element.tag}> is '{text}', more than {figure.largest:g}"
            )


def _check_inertial(of: str, inertial: ElementTree.Element | None) -> None:
    """Refuse a body of which a figure is missing: readers leave out all of its inertia."""
    if inertial is None:
        return
    missing, stated = [], False
    for tag, keys in INERTIAL.items():
        element = inertial.find(tag)
        figures = [None if element is None else element.get(key) for key in keys]
        stated = stated or any(text is not None and float(text) for text in figures)
        missing += [
            f'<{tag}> has no {key}'
            for key, text in zip(keys, figures, strict=True)
            if text is None
        ]
    if missing and stated:
        raise ModelError(
            f'{of}: its {missing[0]}; a body needs its mass and all six of '
            f'{", ".join(INERTIAL["inertia"])}, 0 where there is none'
        )


def _check_axis(path: Path, joint: ElementTree.Element) -> None:
    axis = joint.find('axis')
    if axis is None:
        return  # the x axis
    text = axis.get('xyz', '0 0 0')
    values = list(_numbers(text))
    length = math.hypot(*values) if all(map(math.isfinite, values)) else math.nan
    if len(values) != 3 or not SHORTEST_AXIS <= length <= LONGEST_AXIS:
        raise ModelError(
            f"{path}: the axis of joint '{joint.get('name')}' is '{text}', it has to be three "
            f'numbers with a length from {SHORTEST_AXIS:g} to {LONGEST_AXIS:g}'
        )


def _numbers(text: str) -> Iterator[float]:
    """Numbers in a text, nan for a word that is none."""
    for word in text.split():
        try:
            yield float(word) if word.isascii() and '_' not in word else math.nan
        except ValueError:
            yield math.nan
