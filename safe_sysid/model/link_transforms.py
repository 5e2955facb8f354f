"""LinkTransforms: where each link of a URDF is in the one it hangs on, for drawings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array

ORIGIN = np.zeros(3)
TURNING = ('revolute', 'continuous')


class LinkTransform(NamedTuple):
    """Of a link in the frame of its parent."""

    parent: str
    child: str
    position: Array  # (3,) [m]
    quaternion: Array  # (4,) w, x, y, z


class _Joint(NamedTuple):
    name: str
    kind: str
    parent: str
    child: str
    position: Array
    quaternion: Array  # of the joint at 0
    axis: Array
    driver: str  # joint that gives the position: itself, or the one it mimics
    multiplier: float
    offset: float


class LinkTransforms:
    """Of all joints, also those that the loop does not know; these are at 0, as nobody says."""

    def __init__(self, urdf: str) -> None:
        joints = [_joint_of(each) for each in ElementTree.fromstring(urdf).findall('joint')]
        self._moving = [each for each in joints if each.kind in (*TURNING, 'prismatic')]
        still = [each for each in joints if each not in self._moving]
        self.fixed = [LinkTransform(x.parent, x.child, x.position, x.quaternion) for x in still]

    def moving(self, positions: Mapping[str, float]) -> list[LinkTransform]:
        """Of joints that move, at these positions by the names of joints [rad, m]."""
        return [_moved(each, positions.get(each.driver, 0.0)) for each in self._moving]


def _moved(joint: _Joint, position: float) -> LinkTransform:
    q = joint.multiplier * position + joint.offset
    if joint.kind == 'prismatic':
        place = joint.position + _turned(joint.quaternion, q * joint.axis)
        return LinkTransform(joint.parent, joint.child, place, joint.quaternion)
    turn = np.array([np.cos(q / 2), *(np.sin(q / 2) * joint.axis)])
    return LinkTransform(
        joint.parent, joint.child, joint.position, _product(joint.quaternion, turn)
    )


def _joint_of(element: ElementTree.Element) -> _Joint:
    origin, mimic = element.find('origin'), element.find('mimic')
    axis = _numbers(element.find('axis'), 'xyz', np.array([1.0, 0.0, 0.0]))
    name = element.attrib['name']
    told = {} if mimic is None else mimic.attrib
    return _Joint(
        name,
        element.get('type', ''),
        _link(element, 'parent'),
        _link(element, 'child'),
        _numbers(origin, 'xyz', ORIGIN),
        _quaternion(_numbers(origin, 'rpy', ORIGIN)),
        axis / np.linalg.norm(axis) if axis.any() else axis,
        told.get('joint', name),
        float(told.get('multiplier', 1.0)),
        float(told.get('offset', 0.0)),
    )


def _link(joint: ElementTree.Element, role: str) -> str:
    found = joint.find(role)
    return '' if found is None else found.get('link', '')


def _numbers(element: ElementTree.Element | None, name: str, otherwise: Array) -> Array:
    text = None if element is None else element.get(name)
    return otherwise if text is None else np.array([float(x) for x in text.split()])


def _quaternion(rpy: Array) -> Array:
    """Rotation by angles about the fixed axes x, y, z in this order."""
    about = [
        np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
        for angle, axis in zip(rpy, np.eye(3), strict=True)
    ]
    return _product(about[2], _product(about[1], about[0]))


def _product(a: Array, b: Array) -> Array:
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([scalar, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def _turned(quaternion: Array, vector: Array) -> Array:
    across = 2.0 * np.cross(quaternion[1:], vector)
    return np.asarray(vector + quaternion[0] * across + np.cross(quaternion[1:], across))
