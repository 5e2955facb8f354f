"""Torque of every motion whose q, qd and qdd lie in intervals: Newton-Euler on intervals.

Encloses H qdd + C qd + g + F for one theta. Where a joint may turn either way, dry friction may
have any value between its two. What is enclosed is an arm whose axes and rotations are those of
the model, taken as exact.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets import interval
from safe_sysid.sets.elementary import cos, sin
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.linalg import cross, dot, matrix_vector, rotation


def torque_enclosure(model: RobotModel, q: Interval, qd: Interval, qdd: Interval) -> Interval:
    """Interval of the joint torques for each of many boxes, (N, n) -> (N, n)."""
    for name, x in (('q', q), ('qd', qd), ('qdd', qdd)):
        if x.ndim != 2 or x.shape[1] != model.n:
            raise BoundError(f'{name} has shape {x.shape}; rows of {model.n} joints are needed')
    tree, poses, forces = model.tree, [], []
    motions: list[tuple[Interval, Interval, Interval]] = []
    rest = Interval.of(np.zeros((q.shape[0], 3)))
    base = (rest, rest, rest - tree.gravity)  # angular velocity and acceleration, acceleration
    for i in range(model.n):
        up = tree.parent[i]
        R, p = _pose(tree, i, q[:, i])
        below = motions[up] if up >= 0 else base
        motions.append(_moved(tree, i, (R, p), below, (qd[:, i], qdd[:, i])))
        poses.append((R, p))
        forces.append(_wrench(model.theta[model.layout.inertial(i)], *motions[i]))
    columns = []
    for i in reversed(range(model.n)):
        f, moment = forces[i]
        columns.append(dot(tree.axis[i], f if tree.is_prismatic[i] else moment))
        up = tree.parent[i]
        if up >= 0:
            R, p = poses[i]
            f = matrix_vector(R, f)
            below_f, below_moment = forces[up]
            forces[up] = (below_f + f, below_moment + matrix_vector(R, moment) + cross(p, f))
    rigid = interval.stack(columns[::-1], axis=-1)
    return rigid + _friction(model.layout.friction(model.theta), qd, qdd)


def _pose(tree: Tree, i: int, q: Interval) -> tuple[Interval, Interval]:
    """Rotation and origin of joint frame i in the frame of the joint below."""
    R0, p0, axis = tree.R_parent_joint[i], tree.p_parent_joint[i], tree.axis[i]
    if tree.is_prismatic[i]:
        slide = matrix_vector(Interval.of(R0), Interval.of(axis))
        shift = interval.stack([q * slide[r] for r in range(3)], axis=-1)
        return Interval.of(np.broadcast_to(R0, (*q.shape, 3, 3))), shift + p0
    return rotation(R0, axis, sin(q), cos(q)), Interval.of(np.broadcast_to(p0, (*q.shape, 3)))


def _moved(
    tree: Tree,
    i: int,
    pose: tuple[Interval, Interval],
    below: tuple[Interval, Interval, Interval],
    rates: tuple[Interval, Interval],
) -> tuple[Interval, Interval, Interval]:
    """Angular velocity and acceleration, and acceleration of the origin, in frame i."""
    (R, p), (omega, alpha, d), axis = pose, below, tree.axis[i]
    back = Interval(np.swapaxes(R.lower, -1, -2), np.swapaxes(R.upper, -1, -2))
    d = matrix_vector(back, d + cross(alpha, p) + cross(omega, cross(omega, p)))
    omega, alpha = matrix_vector(back, omega), matrix_vector(back, alpha)
    speed, push = _along(axis, rates[0]), _along(axis, rates[1])
    if tree.is_prismatic[i]:
        return omega, alpha, d + push + 2.0 * cross(omega, speed)
    return omega + speed, alpha + push + cross(omega, speed), d


def _along(axis: Array, rate: Interval) -> Interval:
    return interval.stack([rate * float(a) for a in axis], axis=-1)


def _wrench(
    phi: Array, omega: Interval, alpha: Interval, d: Interval
) -> tuple[Interval, Interval]:
    """Force and moment about the origin of a body's frame."""
    m, h = float(phi[0]), phi[1:4]
    inertia = np.array(
        [[phi[4], phi[5], phi[7]], [phi[5], phi[6], phi[8]], [phi[7], phi[8], phi[9]]]
    )
    at = Interval.of(np.broadcast_to(h, d.shape))
    force = m * d + cross(alpha, at) + cross(omega, cross(omega, at))
    spin = matrix_vector(inertia, omega)
    return force, cross(at, d) + matrix_vector(inertia, alpha) + cross(omega, spin)


def _friction(parameters: Array, qd: Interval, qdd: Interval) -> Interval:
    Fc, Fv, Ia, beta = parameters
    sign = Interval(np.where(qd.lower > 0.0, 1.0, -1.0), np.where(qd.upper < 0.0, -1.0, 1.0))
    total: Interval = sign * Fc + qd * Fv + qdd * Ia + beta
    return total
