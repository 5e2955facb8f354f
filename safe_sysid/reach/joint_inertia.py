"""Least inertia that a joint feels, at any position of the arm and for every theta in its bounds.

The rate of joint j is a difference of the motions of the bodies it joins, along its axis:

    r_j = a . v_j - b . v_p,   a = (0, axis),  b = (0, R0 axis)            revolute
                               a = (axis, 0),  b = (R0 axis, p0 x R0 axis)  prismatic

where v_j, v_p are spatial motions in the frames of body j and of the one below it. a and b do not
depend on q, as a joint leaves its own axis where it is. All bodies together have twice the kinetic
energy r' H r >= v_j' I_j v_j + v_p' I_p v_p, so by Cauchy and Schwarz

    r_j^2 <= (a' I_j^-1 a + b' I_p^-1 b) r' H r.

A joint at the base moves its body along its own axis s only, and r_j^2 <= r' H r / (s' I_j s).
With g_j for the factor, and the energy of the armature on top of that of the bodies,

    r' (H + diag(Ia)) r >= (Ia_j + 1 / g_j) r_j^2.

Assumed: bodies that can exist, which have no negative energy, and armatures not below zero. No
interval matrix is inverted to bound a' I^-1 a over [theta]. For any X with |X I X' - 1| <= rho < 1
in 2-norm, I >= (1 - rho) (X' X)^-1, so a' I^-1 a <= |X a|^2 / (1 - rho). X comes from the middle
of I; the 2-norm of a symmetric matrix is at most the spectral radius of its absolute values.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.reach.joint_geometry import DIRECTION, axes, cross_matrix
from safe_sysid.sets.interval import Interval, concatenate
from safe_sysid.sets.spectral import spectral_radius

ORDER = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])  # where Ixx, Ixy, ... are in theta


@lru_cache(maxsize=8)  # every certificate of a search asks for the same
def joint_inertia(model: RobotModel, theta: Interval) -> Array:
    """Lower bounds of Ia_j + 1 / g_j, (n,) [kg m^2]; zero where nothing is certain."""
    tree, n = model.tree, model.n
    inertia = spatial_inertia(theta[: 10 * n].reshape(n, 10))
    own, below = joint_functionals(tree)
    by_own, at_base = _inverse_form(inertia, own), _form(inertia, own)
    by_parent = _inverse_form(_of_parents(inertia, tree), below)
    with np.errstate(divide='ignore', over='ignore'):
        between = _down(1.0 / _up(by_own + by_parent))
    rigid = np.where(tree.parent < 0, np.maximum(at_base, 0.0), between)
    armature = np.maximum(theta.lower[model.layout.joint_entries('Ia')], 0.0)
    felt: Array = np.where(armature > 0.0, _down(armature + rigid), rigid)
    felt.setflags(write=False)
    return felt


@lru_cache(maxsize=8)  # as above
def energy_gaps(model: RobotModel, theta: Interval) -> Array:
    """Share of its energy in the middle of its bounds by which that of a body may differ, (n,).

    In floats; infinite where the middle is no body. Above 1 the bounds contain negative energies.
    """
    inertia = spatial_inertia(theta[: 10 * model.n].reshape(model.n, 10))
    X, known = _inverse_factor(inertia.center)
    away = np.abs(X) @ inertia.radius @ np.swapaxes(np.abs(X), -1, -2)
    gaps: Array = np.where(known, np.linalg.eigvalsh(away)[:, -1], np.inf)
    gaps.setflags(write=False)
    return gaps


def spatial_inertia(phi: Interval) -> Interval:
    """Inertia of bodies for motions (linear, angular), (..., 10) -> (..., 6, 6)."""
    mass = phi[..., 0, None, None]
    diagonal = Interval(mass.lower * np.eye(3), mass.upper * np.eye(3))
    lever = cross_matrix(phi[..., 1:4])
    upper = concatenate([diagonal, -lever], axis=-1)
    return concatenate([upper, concatenate([lever, phi[..., ORDER]], axis=-1)], axis=-2)


def joint_functionals(tree: Tree) -> tuple[Interval, Interval]:
    """Return the motions a and b of every joint, (n, 6) each."""
    a = axes(tree)
    R0 = Interval.from_center_radius(tree.R_parent_joint, DIRECTION)
    along = (R0 @ a[..., None])[..., 0]
    moment = (cross_matrix(Interval.of(tree.p_parent_joint)) @ along[..., None])[..., 0]
    zero = Interval.of(np.zeros(a.shape))
    sliding = tree.is_prismatic[:, None]
    own = [_choose(sliding, a, zero), _choose(sliding, zero, a)]
    below = [_choose(sliding, along, zero), _choose(sliding, moment, along)]
    return concatenate(own, axis=-1), concatenate(below, axis=-1)


def _inverse_form(inertia: Interval, a: Interval) -> Array:
    """Upper bounds of a' I^-1 a, (...); infinite where none is certain."""
    X, known = _inverse_factor(inertia.center)
    product = Interval.of(X) @ inertia @ np.swapaxes(X, -1, -2)
    N = (product - np.eye(inertia.shape[-1])).magnitude
    gap = (1.0 - Interval.of(spectral_radius(N))).lower
    usable = known & (gap > 0.0)
    squares = (Interval.of(X) @ a[..., None])[..., 0].square().sum()
    bound = (squares / np.where(usable, gap, 1.0)).upper
    return np.where(usable, bound, np.inf)


def _form(inertia: Interval, s: Interval) -> Array:
    """Lower bounds of s' I s, (...)."""
    row = s[..., None, :]
    return np.asarray((row @ inertia @ s[..., None]).lower[..., 0, 0])


def _inverse_factor(inertia: Array) -> tuple[Array, AnyArray]:
    """Return X with X I X' about the identity, and whether there is one."""
    values, vectors = np.linalg.eigh(inertia)
    known = values[..., 0] > 0.0
    roots = 1.0 / np.sqrt(np.where(known[..., None], values, 1.0))
    return np.swapaxes(vectors, -1, -2) * roots[..., None], known


def _of_parents(inertia: Interval, tree: Tree) -> Interval:
    """Inertia of the body below every joint; that of joint 0 in place of the base."""
    return inertia[np.maximum(tree.parent, 0)]


def _choose(where: AnyArray, x: Interval, y: Interval) -> Interval:
    return Interval(np.where(where, x.lower, y.lower), np.where(where, x.upper, y.upper))


def _up(x: Array) -> Array:
    return np.asarray(np.nextafter(x, np.inf))


def _down(x: Array) -> Array:
    return np.asarray(np.maximum(np.nextafter(x, -np.inf), 0.0))
