"""Spatial motions and forces (linear, angular) of SX, and bodies by their ten parameters.

As `dynamics/motion_algebra.py`, which is compiled: A(v) is the matrix with A(v) phi =
I(phi) v, the momentum of a body that moves with v; so s . A(v) phi is the work b(s, v) phi there.
"""

from __future__ import annotations

from typing import Any

from safe_sysid.model.symbolic.library import casadi as cs

SX = Any  # casadi.SX, which has no types


def motion_cross(a: SX, b: SX) -> SX:
    """Return a x b of two motions."""
    linear = cs.cross(a[3:], b[:3]) + cs.cross(a[:3], b[3:])
    return cs.vertcat(linear, cs.cross(a[3:], b[3:]))


def force_cross(v: SX, f: SX) -> SX:
    """Return v x* f, how a force or momentum changes that moves along with v."""
    turning = cs.cross(v[:3], f[:3]) + cs.cross(v[3:], f[3:])
    return cs.vertcat(cs.cross(v[3:], f[:3]), turning)


def to_child(R: SX, p: SX, v: SX) -> SX:
    """Return a motion of the frame below in a frame with pose (R, p) in it."""
    return cs.vertcat(cs.mtimes(R.T, v[:3] + cs.cross(v[3:], p)), cs.mtimes(R.T, v[3:]))


def to_parent(R: SX, p: SX, f: SX) -> SX:
    """Return a force of a frame with pose (R, p) in the frame below."""
    force = cs.mtimes(R, f[:3])
    return cs.vertcat(force, cs.mtimes(R, f[3:]) + cs.cross(p, force))


def momentum_matrix(v: SX) -> SX:
    """Return A(v), (6, 10)."""
    linear = cs.horzcat(v[:3], cs.skew(v[3:]), cs.SX(3, 6))
    return cs.vertcat(linear, cs.horzcat(cs.SX(3, 1), -cs.skew(v[:3]), _rotational_columns(v[3:])))


def force_matrix(d: SX, alpha: SX, products: SX) -> SX:
    """Return Y (6, 10) with Y phi the force that a body takes.

    d is the acceleration of its frame's origin minus gravity, alpha the angular acceleration,
    `products` the symmetric matrix omega omega', or of two velocities (omega omega_a' +
    omega_a omega') / 2.
    """
    linear = cs.skew(alpha) + products - cs.trace(products) * cs.SX.eye(3)
    turning = _rotational_columns(alpha) + _gyroscopic_columns(products)
    return cs.vertcat(
        cs.horzcat(d, linear, cs.SX(3, 6)), cs.horzcat(cs.SX(3, 1), -cs.skew(d), turning)
    )


def _rotational_columns(w: SX) -> SX:
    """Return L (3, 6) with L (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w."""
    L = cs.SX(3, 6)
    L[0, 0], L[0, 1], L[0, 3] = w[0], w[1], w[2]
    L[1, 1], L[1, 2], L[1, 4] = w[0], w[1], w[2]
    L[2, 3], L[2, 4], L[2, 5] = w[0], w[1], w[2]
    return L


def _gyroscopic_columns(w: SX) -> SX:
    """Return the same for omega x I omega, from the products of omega."""
    xx, xy, yy, xz, yz, zz = w[0, 0], w[0, 1], w[1, 1], w[0, 2], w[1, 2], w[2, 2]
    return cs.blockcat(
        [
            [0, -xz, -yz, xy, yy - zz, yz],
            [xz, yz, 0, zz - xx, -xy, -xz],
            [-xy, xx - yy, xy, -yz, xz, 0],
        ]
    )


def momentum(phi: SX, v: SX) -> SX:
    """Return I(phi) v."""
    h = phi[1:4]
    return cs.vertcat(
        phi[0] * v[:3] + cs.cross(v[3:], h),
        cs.mtimes(rotational(phi), v[3:]) + cs.cross(h, v[:3]),
    )


def rotational(phi: SX) -> SX:
    """Return the inertia about the origin of the frame, (3, 3)."""
    xx, xy, yy, xz, yz, zz = cs.vertsplit(phi[4:])
    return cs.vertcat(cs.horzcat(xx, xy, xz), cs.horzcat(xy, yy, yz), cs.horzcat(xz, yz, zz))


def moved(R: SX, p: SX, phi: SX) -> SX:
    """Return the ten parameters of a body in a frame in which its frame has pose (R, p)."""
    mass, h = phi[0], cs.mtimes(R, phi[1:4])
    turned = cs.mtimes(R, cs.mtimes(rotational(phi), R.T))
    P, H = cs.skew(p), cs.skew(h)
    PH = cs.mtimes(P, H)
    about = turned - PH - PH.T - mass * cs.mtimes(P, P)
    entries = (about[0, 0], about[0, 1], about[1, 1], about[0, 2], about[1, 2], about[2, 2])
    return cs.vertcat(mass, h + mass * p, *entries)
