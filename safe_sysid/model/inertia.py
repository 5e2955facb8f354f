"""Ten inertial parameters of a rigid body, its 4x4 pseudo-inertia, and physical consistency.

Order as in Pinocchio: [m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz], about the origin of
the frame the body is described in. All functions take leading batch axes (..., 10).
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array

LABELS = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
UNITS = ('kg', *('kg m',) * 3, *('kg m^2',) * 6)


def table_rows(lower: Array, nominal: Array, upper: Array) -> list[str]:
    """Return a line of names, then one for each of ten parameters, that ends with its unit."""
    rows = [f'  {"":4} {"lower":>10} {"nominal":>10} {"upper":>10}']
    for name, unit, *values in zip(LABELS, UNITS, lower, nominal, upper, strict=True):
        rows.append(f'  {name:4} ' + ' '.join(f'{x:10.4f}' for x in values) + f'  {unit}')
    return rows


def skew(p: Array) -> Array:
    """Matrix S(p) with S(p) x = p cross x, (..., 3) -> (..., 3, 3)."""
    zero = np.zeros(p.shape[:-1])
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*p.shape, 3)


def symmetric(entries: Array) -> Array:
    """3x3 matrix from [xx, xy, yy, xz, yz, zz], (..., 6) -> (..., 3, 3)."""
    return entries[..., [0, 1, 3, 1, 2, 4, 3, 4, 5]].reshape(*entries.shape[:-1], 3, 3)


def symmetric_entries(matrix: Array) -> Array:
    """[xx, xy, yy, xz, yz, zz] of a symmetric matrix, (..., 3, 3) -> (..., 6)."""
    return matrix[..., [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]


def from_mass_com_inertia(mass: Array, com: Array, inertia_about_com: Array) -> Array:
    """Ten parameters from mass [kg], centre of mass [m] and inertia about it [kg m^2]."""
    mass, com = np.asarray(mass, dtype=float), np.asarray(com, dtype=float)
    S = skew(com)
    about_origin = inertia_about_com - mass[..., None, None] * (S @ S)
    return np.concatenate(
        [mass[..., None], mass[..., None] * com, symmetric_entries(about_origin)], -1
    )


def mass_com_inertia(phi: Array) -> tuple[Array, Array, Array]:
    """Mass, centre of mass and inertia about it; the mass must not be zero."""
    mass = phi[..., 0]
    com = phi[..., 1:4] / mass[..., None]
    S = skew(com)
    return mass, com, symmetric(phi[..., 4:]) + mass[..., None, None] * (S @ S)


def moved(phi: Array, R: Array, p: Array) -> Array:
    """Return the body in frame A, in which its frame has rotation R and origin p."""
    mass, first = phi[..., 0], phi[..., 1:4]
    turned = np.einsum('...ij,...j->...i', R, first)
    inertia = R @ symmetric(phi[..., 4:]) @ np.swapaxes(R, -1, -2)
    P, H = skew(np.broadcast_to(p, turned.shape)), skew(turned)
    # I_A = R I R' - S(p) S(h) - S(h) S(p) - m S(p)^2 with h = R m c
    inertia = inertia - P @ H - H @ P - mass[..., None, None] * (P @ P)
    return np.concatenate(
        [phi[..., :1], turned + mass[..., None] * p, symmetric_entries(inertia)], -1
    )


def pseudo_inertia(phi: Array) -> Array:
    """J = [[1/2 tr(I) 1 - I, mc], [mc', m]], eq. (31), (..., 10) -> (..., 4, 4)."""
    inertia = symmetric(phi[..., 4:])
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)
    J = np.empty((*phi.shape[:-1], 4, 4))
    J[..., :3, :3] = half_trace[..., None, None] * np.eye(3) - inertia
    J[..., :3, 3] = J[..., 3, :3] = phi[..., 1:4]
    J[..., 3, 3] = phi[..., 0]
    return J


def from_pseudo_inertia(J: Array) -> Array:
    """Ten parameters from the pseudo-inertia, (..., 4, 4) -> (..., 10)."""
    sigma = J[..., :3, :3]
    inertia = np.trace(sigma, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - sigma
    return np.concatenate([J[..., 3, 3, None], J[..., :3, 3], symmetric_entries(inertia)], -1)


def is_consistent(phi: Array) -> Array:
    """Whether a body with these parameters can exist: pseudo-inertia positive definite."""
    return np.asarray(np.linalg.eigvalsh(pseudo_inertia(phi))[..., 0] > 0.0)
