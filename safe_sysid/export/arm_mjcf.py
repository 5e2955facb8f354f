"""A calibrated arm as MJCF: bodies, joints with friction and armature, capsules and motors."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.output_file import write_text


def write_mjcf(model: RobotModel, target: Path) -> None:
    """Write the arm for MuJoCo, which has no place for a constant torque offset."""
    root = ElementTree.Element('mujoco', {'model': model.name})
    ElementTree.SubElement(root, 'compiler', {'angle': 'radian', 'autolimits': 'false'})
    ElementTree.SubElement(root, 'option', {'gravity': _row(model.tree.gravity)})
    bodies = [ElementTree.SubElement(root, 'worldbody')]  # the base, then body i at i + 1
    _add_capsules(bodies[0], model, -1)
    for i in range(model.n):
        bodies.append(_body(bodies[int(model.tree.parent[i]) + 1], model, i))
    motors = ElementTree.SubElement(root, 'actuator')
    for name, limit in zip(model.layout.joint_names, model.limits.torque, strict=True):
        values = {'name': name, 'joint': name, 'ctrllimited': 'true'}
        values['ctrlrange'] = f'{-limit:.12g} {limit:.12g}'
        ElementTree.SubElement(motors, 'motor', values)
    ElementTree.indent(root)
    write_text(target, ElementTree.tostring(root, encoding='unicode') + '\n')


def _body(parent: ElementTree.Element, model: RobotModel, i: int) -> ElementTree.Element:
    name, tree, limits = model.layout.joint_names[i], model.tree, model.limits
    phi = model.theta[model.layout.inertial(i)]
    if not inertia.is_consistent(phi):
        raise BoundError(f'the body that {name} moves can not exist: {phi.tolist()}')
    values = {'name': f'{name}_body', 'pos': _row(tree.p_parent_joint[i])}
    body = ElementTree.SubElement(
        parent, 'body', {**values, 'quat': _row(quaternion(tree.R_parent_joint[i]))}
    )
    mass, com, about_com = inertia.mass_com_inertia(phi)
    entries = about_com[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    inertial = {'pos': _row(com), 'mass': f'{float(mass):.12g}', 'fullinertia': _row(entries)}
    ElementTree.SubElement(body, 'inertial', inertial)
    Fc, Fv, Ia, _ = model.layout.friction(model.theta)[:, i]
    joint = {
        'name': name,
        'type': 'slide' if tree.is_prismatic[i] else 'hinge',
        'axis': _row(tree.axis[i]),
        'frictionloss': f'{Fc:.12g}',
        'damping': f'{Fv:.12g}',
        'armature': f'{Ia:.12g}',
        'limited': 'false',
    }
    if np.isfinite([limits.position_lower[i], limits.position_upper[i]]).all():
        joint['limited'] = 'true'
        joint['range'] = f'{limits.position_lower[i]:.12g} {limits.position_upper[i]:.12g}'
    ElementTree.SubElement(body, 'joint', joint)
    _add_capsules(body, model, i)
    return body


def _add_capsules(body: ElementTree.Element, model: RobotModel, joint: int) -> None:
    """Shapes to look at; they weigh nothing and touch nothing."""
    capsules = model.capsules
    for k in np.flatnonzero(capsules.joint == joint):
        a, b = capsules.a[k], capsules.b[k]
        values = {'name': capsules.names[k], 'size': f'{capsules.radius[k]:.12g}', 'mass': '0'}
        values |= {'contype': '0', 'conaffinity': '0'}
        if np.allclose(a, b):
            values |= {'type': 'sphere', 'pos': _row(a)}
        else:
            values |= {'type': 'capsule', 'fromto': _row(np.concatenate([a, b]))}
        ElementTree.SubElement(body, 'geom', values)


def quaternion(R: Array) -> Array:
    """Return unit quaternion (w, x, y, z) of a rotation matrix."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0.0, R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0.0, 0.0, R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [0.0, 0.0, 0.0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    # the eigenvector of the largest eigenvalue: exact for a rotation, nearest for almost one
    _, vectors = np.linalg.eigh(np.triu(K) + np.triu(K, 1).T)
    q: Array = vectors[:, -1]
    return q if q[0] >= 0.0 else -q


def _row(values: Array) -> str:
    return ' '.join(f'{x:.12g}' for x in values)
