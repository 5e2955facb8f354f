"""The links that the last joint moves: up to `tip` the arm's own, beyond it what is mounted."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.model.urdf_tree import parents


def bodies_up_to(tip: str, root: ElementTree.Element, model: RobotModel) -> dict[str, Array]:
    """Ten parameters of each link from the last joint to `tip`, in the frame of the joint."""
    above, bodies = parents(root), _bodies(root, model)
    own, link = {}, tip
    while link in bodies:
        own[link] = bodies[link]
        link = above.get(link, '')
    return own


def bodies_beyond(tip: str, root: ElementTree.Element, model: RobotModel) -> dict[str, Array]:
    """Return the same of all others that the last joint moves and that have an inertia."""
    own = bodies_up_to(tip, root, model)
    return {
        name: body for name, body in _bodies(root, model).items() if name not in own and body.any()
    }


def _bodies(root: ElementTree.Element, model: RobotModel) -> dict[str, Array]:
    bodies = {}
    for link in root.findall('link'):
        name, element = str(link.get('name')), link.find('inertial')
        if name in model.frames and model.frames[name].joint == model.layout.tip:
            frame = model.frames[name]
            body = np.zeros(10) if element is None else _body(element)
            bodies[name] = inertia.moved(body, frame.R, frame.p)
    return bodies


def _body(element: ElementTree.Element) -> Array:
    """Ten parameters of an <inertial> element, in the frame of its link."""
    mass, origin, moments = (element.find(name) for name in ('mass', 'origin', 'inertia'))
    if mass is None or moments is None:
        return np.zeros(10)
    R, p = np.eye(3), np.zeros(3)
    if origin is not None:
        p = np.array([float(x) for x in origin.get('xyz', '0 0 0').split()])
        R = rotation_from_rpy(np.array([float(x) for x in origin.get('rpy', '0 0 0').split()]))
    names = ('ixx', 'ixy', 'iyy', 'ixz', 'iyz', 'izz')
    entries = np.array([float(moments.get(name, '0')) for name in names])
    about_com = inertia.from_mass_com_inertia(
        np.array(float(mass.get('value', '0'))), np.zeros(3), inertia.symmetric(entries)
    )
    return inertia.moved(about_com, R, p)
