"""Mechanisms drawn at random, as the URDF a user would hand over, or read from one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.falsification.dynamics import Mechanism, mass_matrix, posed
from safe_sysid.model.facts import CollisionFacts, JointFacts, RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import EffortSignal

FAR = 1e4  # [rad or m] of limits that mean nothing


def random_mechanism(rng: np.random.Generator, n: int, dry: float, viscous: float) -> Mechanism:
    """Return a chain, or with one chance in four a tree; joints slide with one chance in four.

    Friction scales with what the joint feels: `viscous` is a rate [1/s], `dry` a share of what
    accelerates the joint by 10 rad/s^2.
    """
    parent = np.arange(-1, n - 1)
    if rng.random() < 0.25:
        for i in range(1, n):  # depth first, as a parser reads them
            while parent[i] > 0 and rng.random() < 0.4:
                parent[i] = parent[parent[i]]
    axis = rng.normal(size=(n, 3))
    if rng.random() < 0.5:  # as on arms that are built: along an axis of the frame
        axis = np.eye(3)[rng.integers(3, size=n)]
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    mechanism = Mechanism(
        parent.astype(np.int64),
        np.array([turn_of(rng.uniform(-np.pi, np.pi, size=3)) for _ in range(n)]),
        rng.normal(scale=0.2, size=(n, 3)),
        axis,
        rng.random(n) < 0.25,
        np.array([0.0, 0.0, -9.81]) if rng.random() < 0.7 else rng.normal(scale=6.0, size=3),
        np.array([_random_body(rng, 0.85**i) for i in range(n)]),
        np.zeros(n),
        np.zeros(n),
        rng.uniform(0.0, 0.5) * rng.uniform(0.02, 1.0, size=n),
        rng.normal(scale=0.3, size=n),
    )
    felt = np.diag(mass_matrix(mechanism, posed(mechanism, np.zeros(n))))
    draw = rng.uniform(0.2, 1.0, size=(2, n))
    return mechanism._replace(dry=10.0 * dry * felt * draw[0], viscous=viscous * felt * draw[1])


def _random_body(rng: np.random.Generator, size: float) -> Array:
    """Parameters of a cloud of point masses."""
    masses = size * rng.uniform(0.05, 0.8, size=6)
    points = size * rng.normal(scale=0.12, size=(6, 3))
    return moments(masses.sum(), masses @ points / masses.sum(), _spread(masses, points))


def _spread(masses: Array, points: Array) -> Array:
    """Inertia of point masses about their centre."""
    c = points - masses @ points / masses.sum()
    squares = np.einsum('k,ki,ki->', masses, c, c)
    inertia: Array = squares * np.eye(3) - np.einsum('k,ki,kj->ij', masses, c, c)
    return inertia


def moments(mass: float, com: Array, inertia: Array) -> Array:
    """Ten parameters about the origin of a body of that inertia about its centre of mass."""
    about = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    six = [about[0, 0], about[0, 1], about[1, 1], about[0, 2], about[1, 2], about[2, 2]]
    return np.array([mass, *(mass * com), *six])


def turn_of(rpy: Array) -> Array:
    """Rotation of roll, pitch and yaw about fixed axes, as in a URDF."""
    (a, b, c), (sa, sb, sc) = np.cos(rpy), np.sin(rpy)
    x = np.array([[1.0, 0.0, 0.0], [0.0, a, -sa], [0.0, sa, a]])
    y = np.array([[b, 0.0, sb], [0.0, 1.0, 0.0], [-sb, 0.0, b]])
    z = np.array([[c, -sc, 0.0], [sc, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(z @ y @ x)


def rpy_of(R: Array) -> Array:
    """Roll, pitch and yaw of a rotation."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def model_of(mechanism: Mechanism, tip: int, turning: Mapping[int, str]) -> RobotModel:
    """Return what the package makes of a mechanism that is handed over as URDF and settings.

    `turning` names joints that are not revolute or prismatic but continuous.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / 'arm.urdf'
        path.write_text(_urdf(mechanism, turning), encoding='utf-8')
        return RobotModel.from_files(path, _facts(mechanism, tip, str(path)), 'random')


def _facts(m: Mechanism, tip: int, urdf: str) -> RobotFacts:
    joints = {
        f'joint_{i:02d}': JointFacts(
            coulomb=float(m.dry[i]),
            viscous=float(m.viscous[i]),
            armature=float(m.rotor[i]),
            offset=float(m.offset[i]),
            torque_limit=1e3,
            acceleration_limit=1e3,
            encoder_resolution=0.0,
            effort_sign=1,
            effort_scale=1.0,
        )
        for i in range(len(m.parent))
    }
    x, y, z = (float(each) for each in m.gravity)
    effort = EffortSignal('torque', gravity_included=True)
    nothing = CollisionFacts({}, ())
    return RobotFacts(urdf, (x, y, z), f'link_{tip:02d}', effort, joints, {}, nothing)


def _urdf(m: Mechanism, turning: Mapping[int, str]) -> str:
    root = ElementTree.Element('robot', name='random')
    ElementTree.SubElement(root, 'link', name='base')
    for i, b in enumerate(m.body):
        link = ElementTree.SubElement(root, 'link', name=f'link_{i:02d}')
        _inertial(ElementTree.SubElement(link, 'inertial'), b)
        kind = turning.get(i, 'prismatic' if m.slides[i] else 'revolute')
        joint = ElementTree.SubElement(root, 'joint', name=f'joint_{i:02d}', type=kind)
        up = int(m.parent[i])
        ElementTree.SubElement(
            joint, 'origin', xyz=_text(m.place[i]), rpy=_text(rpy_of(m.turn[i]))
        )
        ElementTree.SubElement(joint, 'parent', link='base' if up < 0 else f'link_{up:02d}')
        ElementTree.SubElement(joint, 'child', link=f'link_{i:02d}')
        ElementTree.SubElement(joint, 'axis', xyz=_text(m.axis[i]))
        limits = {'lower': f'{-FAR}', 'upper': f'{FAR}', 'effort': '1000', 'velocity': '100'}
        ElementTree.SubElement(joint, 'limit', limits)
    return ElementTree.tostring(root, encoding='unicode')


def _inertial(element: ElementTree.Element, b: Array) -> None:
    mass, com = b[0], b[1:4] / b[0]
    about = np.array([[b[4], b[5], b[7]], [b[5], b[6], b[8]], [b[7], b[8], b[9]]])
    about = about - mass * (com @ com * np.eye(3) - np.outer(com, com))
    ElementTree.SubElement(element, 'origin', xyz=_text(com), rpy='0 0 0')
    ElementTree.SubElement(element, 'mass', value=repr(float(mass)))
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    rows, columns = np.triu_indices(3)
    entries = {
        name: repr(float(about[r, c])) for name, r, c in zip(names, rows, columns, strict=True)
    }
    ElementTree.SubElement(element, 'inertia', entries)


def _text(values: Array) -> str:
    return ' '.join(repr(float(x)) for x in values)


class Description:
    """A URDF read without any library for it: links, joints, and what is fixed to what."""

    def __init__(self, path: Path, moving: tuple[str, ...]) -> None:
        root = ElementTree.parse(path).getroot()
        self.links = {str(link.get('name')): link for link in root.findall('link')}
        self._joints = {
            joint.find('child').get('link'): joint  # type: ignore[union-attr]
            for joint in root.findall('joint')
        }
        self.moving = moving

    def placed(self, link: str) -> tuple[int, Array, Array]:
        """Return the joint that carries a link (-1: none), and the link in its frame."""
        R, p = np.eye(3), np.zeros(3)
        while link in self._joints:
            joint = self._joints[link]
            if joint.get('name') in self.moving:
                return self.moving.index(str(joint.get('name'))), R, p
            turn, place = origin(joint)
            R, p = turn @ R, turn @ p + place
            link = str(joint.find('parent').get('link'))  # type: ignore[union-attr]
        return -1, R, p

    def mechanism(self, gravity: Array, friction: Array) -> Mechanism:
        """Return the same as numbers; rows of friction are Fc, Fv, Ia, beta."""
        n = len(self.moving)
        joints = {str(joint.get('name')): joint for joint in self._joints.values()}
        parent, turn, place = np.zeros(n, np.int64), np.zeros((n, 3, 3)), np.zeros((n, 3))
        axis, slides = np.zeros((n, 3)), np.zeros(n, bool)
        for i, name in enumerate(self.moving):
            joint = joints[name]
            up, R, p = self.placed(str(joint.find('parent').get('link')))  # type: ignore[union-attr]
            own, way = origin(joint)
            parent[i], turn[i], place[i] = up, R @ own, R @ way + p
            axis[i] = numbers(joint.find('axis'), 'xyz', '1 0 0')
            slides[i] = joint.get('type') == 'prismatic'
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        return Mechanism(
            parent, turn, place, axis, slides, gravity, self._bodies(n), *friction.copy()
        )

    def _bodies(self, n: int) -> Array:
        bodies = np.zeros((n, 10))
        for name, link in self.links.items():
            joint, R, p = self.placed(name)
            inertial = link.find('inertial')
            if joint < 0 or inertial is None:
                continue
            turn, com = origin(inertial)
            entry = inertial.find('inertia')
            ixx, ixy, ixz, iyy, iyz, izz = (
                float(entry.get(key))  # type: ignore[union-attr, arg-type]
                for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
            )
            about = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
            mass = float(inertial.find('mass').get('value'))  # type: ignore[union-attr, arg-type]
            turned = R @ turn
            bodies[joint] += moments(mass, R @ com + p, turned @ about @ turned.T)
        return bodies


def origin(element: ElementTree.Element) -> tuple[Array, Array]:
    """Rotation and place of an element's origin."""
    entry = element.find('origin')
    return turn_of(numbers(entry, 'rpy', '0 0 0')), numbers(entry, 'xyz', '0 0 0')


def numbers(element: ElementTree.Element | None, key: str, usual: str) -> Array:
    """Numbers of an attribute."""
    text = usual if element is None else element.get(key, usual)
    return np.array([float(x) for x in text.split()])
