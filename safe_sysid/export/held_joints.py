"""Joints that settings hold, in a URDF that is written: fixed, where they are held.

The bodies behind such a joint are part of what the next moving joint moves, so their links may
have lost their inertia to that one. A simulator refuses, or drops, what moves without a mass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import roll_pitch_yaw, rotation_from_rpy

OF_MOTION = ('origin', 'axis', 'limit', 'mimic', 'dynamics', 'safety_controller', 'calibration')


def held_within_bodies(
    root: ElementTree.Element,
    model: RobotModel,
    held: Mapping[str, float],
    bodies: Collection[int],
) -> dict[str, float]:
    """Return the held joints whose links are part of one of these bodies of a model."""
    within = {link for link, frame in model.frames.items() if frame.joint in bodies}
    return {
        name: held[name]
        for joint in root.findall('joint')
        if (name := str(joint.get('name'))) in held and _child(joint) in within
    }


def fix_joints(root: ElementTree.Element, positions: Mapping[str, float]) -> None:
    """Make joints of a URDF fixed ones at their positions [rad or m]."""
    for joint in root.findall('joint'):
        mimic = joint.find('mimic')
        if mimic is not None and mimic.get('joint') in positions:
            joint.remove(mimic)
        if (name := str(joint.get('name'))) not in positions:
            continue
        R, p = _placement(joint, positions[name])
        for kind in OF_MOTION:
            for old in joint.findall(kind):
                joint.remove(old)
        joint.set('type', 'fixed')
        place = {'xyz': _row(p), 'rpy': _row(roll_pitch_yaw(R))}
        joint.insert(0, ElementTree.Element('origin', place))


def _placement(joint: ElementTree.Element, position: float) -> tuple[Array, Array]:
    """Return rotation and origin [m] of the child of a joint, in its parent."""
    R = rotation_from_rpy(_numbers(joint, 'origin', 'rpy', '0 0 0'))
    p = _numbers(joint, 'origin', 'xyz', '0 0 0')
    axis = _numbers(joint, 'axis', 'xyz', '1 0 0')
    axis = axis / np.linalg.norm(axis)
    if joint.get('type') == 'prismatic':
        return R, p + position * (R @ axis)
    return R @ _rotation_about(axis, position), p


def _rotation_about(axis: Array, angle: float) -> Array:
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turned: Array = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return turned


def _child(joint: ElementTree.Element) -> str:
    child = joint.find('child')
    return '' if child is None else str(child.get('link'))


def _numbers(joint: ElementTree.Element, element: str, key: str, default: str) -> Array:
    found = joint.find(element)
    text = default if found is None else found.get(key, default)
    return np.array([float(word) for word in text.split()])


def _row(values: Array) -> str:
    return ' '.join(repr(float(x) + 0.0) for x in values)
