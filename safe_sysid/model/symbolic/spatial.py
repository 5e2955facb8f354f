"""Spatial motions and forces (linear, angular) of SX, and bodies by their ten parameters.

As `dynamics/motion_algebra.py`, which is compiled: A(v) is the matrix with A(v) phi =
I(phi) v, the momentum of a body that moves with v; so s . A(v) phi is the work b(s, v) phi there.
"""

from __future__ import annotations

from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.rotation import Rotation


def motion_cross(a: SX, b: SX) -> SX:
    """Return a x b of two motions."""
    linear = cs.cross(a[3:], b[:3]) + cs.cross(a[:3], b[3:])
    return cs.vertcat(linear, cs.cross(a[3:], b[3:]))


def to_child(R: Rotation, p: SX, v: SX) -> SX:
    """Return a motion of the frame below in a frame with pose (R, p) in it."""
    return cs.vertcat(R.down(v[:3] + cs.cross(v[3:], p)), R.down(v[3:]))


def to_parent(R: Rotation, p: SX, f: SX) -> SX:
    """Return a force of a frame with pose (R, p) in the frame below."""
    force = R.up(f[:3])
    return cs.vertcat(force, R.up(f[3:]) + cs.cross(p, force))


def momentum_matrix(v: SX) -> SX:
    """Return A(v), (6, 10)."""
    linear = cs.horzcat(v[:3], cs.skew(v[3:]), cs.SX(3, 6))
    return cs.vertcat(linear, cs.horzcat(cs.SX(3, 1), -cs.skew(v[:3]), _rotational_columns(v[3:])))


def field(alpha: SX, products: SX) -> SX:
    """Return B (3, 3): a point r of a body accelerates with d + B r, as seen from the base.

    d is the acceleration of the origin of the body's frame minus gravity, alpha the angular
    acceleration, `products` the symmetric matrix omega omega', or of two velocities
    (omega omega_a' + omega_a omega') / 2.
    """
    xx, xy, yy, xz, yz, zz = _entries(products)
    x, y, z = cs.vertsplit(alpha)
    return cs.blockcat(
        [[-(yy + zz), xy - z, xz + y], [xy + z, -(xx + zz), yz - x], [xz - y, yz + x, -(xx + yy)]]
    )


def force_matrix(d: SX, alpha: SX, products: SX) -> SX:
    """Return Y (6, 10) with Y phi the force that a body takes; arguments as of `field`."""
    turning = _rotational_columns(alpha) + _gyroscopic_columns(products)
    return cs.vertcat(
        cs.horzcat(d, field(alpha, products), cs.SX(3, 6)),
        cs.horzcat(cs.SX(3, 1), -cs.skew(d), turning),
    )


def force(phi: SX, d: SX, alpha: SX, products: SX) -> SX:
    """Return Y phi in fewer operations than with Y."""
    h, B = phi[1:4], field(alpha, products)
    Ixx, Ixy, Iyy, Ixz, Iyz, Izz = cs.vertsplit(phi[4:])
    xx, xy, yy, xz, yz, zz = _entries(products)
    x, y, z = cs.vertsplit(alpha)
    turning = cs.vertcat(
        Ixx * x + (Izz - Iyy) * yz - Ixy * B[2, 0] + Ixz * B[1, 0] + Iyz * (yy - zz),
        Iyy * y + (Ixx - Izz) * xz - Iyz * B[0, 1] + Ixy * B[2, 1] + Ixz * (zz - xx),
        Izz * z + (Iyy - Ixx) * xy - Ixz * B[1, 2] + Iyz * B[0, 2] + Ixy * (xx - yy),
    )
    return cs.vertcat(phi[0] * d + cs.mtimes(B, h), turning + cs.cross(h, d))


def _rotational_columns(w: SX) -> SX:
    """Return L (3, 6) with L (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) = I w."""
    L = cs.SX(3, 6)
    L[0, 0], L[0, 1], L[0, 3] = w[0], w[1], w[2]
    L[1, 1], L[1, 2], L[1, 4] = w[0], w[1], w[2]
    L[2, 3], L[2, 4], L[2, 5] = w[0], w[1], w[2]
    return L


def _gyroscopic_columns(w: SX) -> SX:
    """Return the same for omega x I omega, from the products of omega."""
    xx, xy, yy, xz, yz, zz = _entries(w)
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


def moved(R: Rotation, p: SX, phi: SX) -> SX:
    """Return the ten parameters of a body in a frame in which its frame has pose (R, p)."""
    turned, inertia = R.up(phi[1:4]), R.up_symmetric(rotational(phi))
    h = turned + phi[0] * p
    k = turned + h  # about the new origin it is inertia + (p . k) 1 - (p k' + k p') / 2
    across, x, y, z = cs.mtimes(0.5 * p, k.T), *cs.vertsplit(p * k)
    Ixx, Ixy, Iyy, Ixz, Iyz, Izz = _entries(inertia)
    _, xy, _, xz, yz, _ = _entries(across + across.T)
    return cs.vertcat(
        phi[0], h, Ixx + y + z, Ixy - xy, Iyy + x + z, Ixz - xz, Iyz - yz, Izz + x + y
    )


def _entries(S: SX) -> tuple[SX, ...]:
    """Return xx, xy, yy, xz, yz, zz of a symmetric matrix."""
    return S[0, 0], S[0, 1], S[1, 1], S[0, 2], S[1, 2], S[2, 2]
