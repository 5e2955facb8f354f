"""Dynamics of trees by Newton's and Euler's laws in the base frame; shares no code with `model`.

Every vector is written in the frame of the base: no spatial algebra, no regressors, no frames of
links but for placing them. The mass matrix is the answer of the same recursion to unit
accelerations. Friction is Coulomb's with sticking: where a joint stands still, its dry friction is
the one in [-Fc, Fc] that lets it stand, if there is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.sets.compiled import jit

SWEEPS = 400  # of the friction of joints that stand still
SETTLED = 1e-13  # share of the largest force, change of a sweep that ends them


class Mechanism(NamedTuple):
    """Joints, parents before children, and everything that is needed to move them."""

    parent: IntArray  # (n,) -1: the base
    turn: Array  # (n, 3, 3) joint frame at q = 0 in the frame of its parent
    place: Array  # (n, 3) [m]
    axis: Array  # (n, 3) unit vectors in the joint frame
    slides: AnyArray  # (n,) bool: prismatic
    gravity: Array  # (3,) [m/s^2]
    body: Array  # (n, 10) m, m c, Ixx Ixy Iyy Ixz Iyz Izz about the joint frame
    dry: Array  # (n,) Coulomb friction [N m]
    viscous: Array  # (n,) [N m s/rad]
    rotor: Array  # (n,) [kg m^2]
    offset: Array  # (n,) [N m]

    @property
    def theta(self) -> Array:
        """All parameters in the order of docs/notation.md."""
        rest = (self.dry, self.viscous, self.rotor, self.offset)
        return np.concatenate([self.body.ravel(), *rest])


class Pose(NamedTuple):
    """Where the bodies are, in the axes of the base."""

    R: Array  # (n, 3, 3) joint frames
    p: Array  # (n, 3) [m] their origins
    z: Array  # (n, 3) axes
    d: Array  # (n, 3) [m] from the origin of the parent
    first: Array  # (n, 3) m c
    second: Array  # (n, 3, 3) about the origin of the joint frame


@jit
def posed(m: Mechanism, q: Array) -> Pose:
    """Return the bodies at q."""
    n = len(q)
    R, second = np.empty((2, n, 3, 3))
    p, z, d, first = np.empty((4, n, 3))
    still, half, own = np.empty((3, 3)), np.empty((3, 3)), np.eye(3)
    for i in range(n):
        up = m.parent[i]
        if up < 0:
            still[:], d[i], p[i] = m.turn[i], m.place[i], 0.0
        else:
            _multiply(R[up], m.turn[i], still)
            _apply(R[up], m.place[i], d[i])
            p[i] = p[up]
        _apply(still, m.axis[i], z[i])
        if m.slides[i]:
            R[i] = still
            for k in range(3):
                d[i, k] += z[i, k] * q[i]
        else:
            _rotation(m.axis[i], q[i], own)
            _multiply(still, own, R[i])
        for k in range(3):
            p[i, k] += d[i, k]
        b = m.body[i]
        _apply(R[i], b[1:4], first[i])
        own[0, 0], own[0, 1], own[0, 2] = b[4], b[5], b[7]
        own[1, 0], own[1, 1], own[1, 2] = b[5], b[6], b[8]
        own[2, 0], own[2, 1], own[2, 2] = b[7], b[8], b[9]
        _multiply(R[i], own, half)
        for r in range(3):
            for c in range(3):
                second[i, r, c] = (
                    half[r, 0] * R[i, c, 0] + half[r, 1] * R[i, c, 1] + half[r, 2] * R[i, c, 2]
                )
    return Pose(R, p, z, d, first, second)


@jit
def _multiply(a: Array, b: Array, out: Array) -> None:
    for r in range(3):
        for c in range(3):
            out[r, c] = a[r, 0] * b[0, c] + a[r, 1] * b[1, c] + a[r, 2] * b[2, c]


@jit
def _apply(a: Array, x: Array, out: Array) -> None:
    for r in range(3):
        out[r] = a[r, 0] * x[0] + a[r, 1] * x[1] + a[r, 2] * x[2]


@jit
def _add_cross(a: Array, b: Array, out: Array) -> None:
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@jit
def _rotation(axis: Array, angle: float, out: Array) -> None:
    """Rotation about a unit vector, by Rodrigues' formula."""
    x, y, z = axis[0], axis[1], axis[2]
    c, s = np.cos(angle), np.sin(angle)
    u = 1.0 - c
    out[0, 0], out[0, 1], out[0, 2] = c + x * x * u, x * y * u - z * s, x * z * u + y * s
    out[1, 0], out[1, 1], out[1, 2] = y * x * u + z * s, c + y * y * u, y * z * u - x * s
    out[2, 0], out[2, 1], out[2, 2] = z * x * u - y * s, z * y * u + x * s, c + z * z * u


@jit
def rigid_torque(
    m: Mechanism, at: Pose, qd: Array, qdd: Array, gravity: float, torque: Array
) -> None:
    """Torque that the bodies need, without friction and rotors; gravity times a factor."""
    n = len(qd)
    w, dw, a, F, N = np.zeros((5, n, 3))
    spin, way = np.empty(3), np.empty(3)
    for i in range(n):
        up = m.parent[i]
        if up < 0:
            for k in range(3):
                a[i, k] = -gravity * m.gravity[k]
        else:
            w[i], dw[i], a[i] = w[up], dw[up], a[up]
            _add_cross(dw[up], at.d[i], a[i])
            way[:] = 0.0
            _add_cross(w[up], at.d[i], way)
            _add_cross(w[up], way, a[i])
        spin[:] = 0.0
        _add_cross(w[i], at.z[i], spin)
        for k in range(3):
            if m.slides[i]:
                a[i, k] += 2.0 * spin[k] * qd[i] + at.z[i, k] * qdd[i]
            else:
                dw[i, k] += spin[k] * qd[i] + at.z[i, k] * qdd[i]
                w[i, k] += at.z[i, k] * qd[i]
        _body_force(m.body[i, 0], at.first[i], at.second[i], w[i], dw[i], a[i], F[i], N[i])
    for i in range(n - 1, -1, -1):
        moved = F[i] if m.slides[i] else N[i]
        torque[i] = at.z[i, 0] * moved[0] + at.z[i, 1] * moved[1] + at.z[i, 2] * moved[2]
        up = m.parent[i]
        if up >= 0:
            for k in range(3):
                F[up, k] += F[i, k]
                N[up, k] += N[i, k]
            _add_cross(at.d[i], F[i], N[up])


@jit
def _body_force(
    mass: float, first: Array, second: Array, w: Array, dw: Array, a: Array, F: Array, N: Array
) -> None:
    """Force and moment about the joint frame that a body needs to move so."""
    spin, way = np.empty(3), np.zeros(3)
    _apply(second, w, spin)
    _apply(second, dw, N)
    _add_cross(w, spin, N)
    _add_cross(first, a, N)
    _add_cross(w, first, way)
    for k in range(3):
        F[k] = mass * a[k]
    _add_cross(dw, first, F)
    _add_cross(w, way, F)


@jit
def mass_matrix(m: Mechanism, at: Pose) -> Array:
    """H with the rotors on its diagonal."""
    n = len(m.parent)
    H, rest, unit = np.empty((n, n)), np.zeros(n), np.zeros(n)
    for j in range(n):
        unit[j] = 1.0
        rigid_torque(m, at, rest, unit, 0.0, H[j])
        unit[j] = 0.0
    for i in range(n):
        for j in range(i):
            H[i, j] = H[j, i] = 0.5 * (H[i, j] + H[j, i])
        H[i, i] += m.rotor[i]
    return H


@jit
def drive_torque(m: Mechanism, q: Array, qd: Array, qdd: Array) -> Array:
    """Torque of the drives along a motion, dry friction against it (none at rest)."""
    torque = np.empty(len(q))
    rigid_torque(m, posed(m, q), qd, qdd, 1.0, torque)
    return torque + m.rotor * qdd + m.viscous * qd + m.offset + m.dry * np.sign(qd)


@jit
def acceleration(m: Mechanism, q: Array, qd: Array, drive: Array, sense: Array) -> Array:
    """Acceleration while joints slip in their sense (+1, -1) or stick (0)."""
    at = posed(m, q)
    H, force = mass_matrix(m, at), np.empty(len(q))
    rigid_torque(m, at, qd, np.zeros(len(q)), 1.0, force)
    force = drive - force - m.viscous * qd - m.offset - m.dry * sense
    for j in range(len(q)):
        if sense[j] == 0.0:  # the friction of one that sticks is whatever keeps it there
            H[j, :] = 0.0
            H[:, j] = 0.0
            H[j, j] = 1.0
            force[j] = 0.0
    return np.linalg.solve(H, force)


@jit
def dry_friction_at_rest(
    m: Mechanism, q: Array, qd: Array, drive: Array, sense: Array, resting: AnyArray
) -> Array:
    """Dry friction of all joints; of those at rest, the least that keeps them so, within Fc.

    The friction of joints at rest is the f in [-Fc, Fc] with f = Fc sign(qdd) where qdd is not 0:
    the answer to a convex problem, found by going from joint to joint.
    """
    n, at = len(q), posed(m, q)
    inverse, force = np.linalg.inv(mass_matrix(m, at)), np.empty(n)
    rigid_torque(m, at, qd, np.zeros(n), 1.0, force)
    force = drive - force - m.viscous * qd - m.offset
    f = m.dry * sense
    for _ in range(SWEEPS):
        change = 0.0
        for j in range(n):
            if resting[j]:
                qdd = np.dot(inverse[j], force - f)
                new = min(max(f[j] + qdd / inverse[j, j], -m.dry[j]), m.dry[j])
                change = max(change, abs(new - f[j]))
                f[j] = new
        if change <= SETTLED * (1.0 + np.abs(force).max()):
            break
    return f
