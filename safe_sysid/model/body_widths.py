"""How far the parameters of an arm may be from the figures of its files, kind by kind.

A width is a share of the figure, and an absolute part beside it: a figure of 0 has no share, so
that a joint with one is unknown where no absolute part is stated. For a link the share is one of
the size of its body, which is above 0 for every entry:

    size of m is m,  of m c is m rho,  of Ixx is Ixx,  of Ixy is sqrt(Ixx Iyy),

rho = sqrt(tr(I) / (2 m)) the radius of gyration about the origin; no entry is larger than its
size. What nobody states is wide: friction, armature and offset are then anywhere up to a share of
what the joint can do, or up to a multiple of their figure, whichever is more. They, masses and
moments of inertia are not negative.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.uncertainty import Uncertainty, Width

ENTRIES = {'mass': slice(0, 1), 'first_moment': slice(1, 4), 'inertia': slice(4, 10)}


def half_widths(stated: Width, size: Array, name: str) -> Array:
    """Half widths for sizes (n,) of all joints, or (n, k) of all bodies."""
    n = len(size)
    for key, entries in (('ratio', stated.shares), ('absolute', stated.on_top)):
        if len(entries) not in (1, n):
            raise ConfigError(
                f'uncertainty: {name}.{key} has {len(entries)} entries; 1, or {n} '
                'for the joints in their order, are allowed'
            )
    shape = (-1, *(1,) * (size.ndim - 1))
    share, absolute = (np.array(x).reshape(shape) for x in (stated.shares, stated.on_top))
    width: Array = share * size + absolute
    return width


def body_sizes(bodies: Array) -> Array:
    """Size of every entry of ten parameters, (n, 10); not less than the entry of a body."""
    bodies = np.atleast_2d(bodies)
    mass, moments = bodies[:, 0], bodies[:, [4, 6, 9]]
    trace = np.maximum(0.5 * moments.sum(axis=1), 0.0)
    first = np.sqrt(np.maximum(mass, 0.0) * trace)
    roots = np.sqrt(np.maximum(moments, 0.0))
    xy, xz, yz = (roots[:, i] * roots[:, j] for i, j in ((0, 1), (0, 2), (1, 2)))
    x, y, z = moments.T
    sizes = np.stack([mass, first, first, first, x, xy, y, xz, yz, z], axis=1)
    largest: Array = np.maximum(sizes, np.abs(bodies))
    return largest


def body_widths(bodies: Array, stated: Uncertainty, links: float, com: float) -> Array:
    """Half widths of the parameters of all bodies, (n, 10).

    Bodies of which nothing else is stated are known to the share `links`, and their centres of
    mass to `com` [m] on top.
    """
    sizes, given = body_sizes(bodies), stated.stated()
    width = np.zeros_like(sizes)
    for kind, place in ENTRIES.items():
        width[:, place] = half_widths(given.get(kind, Width((links,))), sizes[:, place], kind)
    return width + (1.0 + links) * np.array([_shifted(body, com) for body in bodies])


def _shifted(body: Array, distance: float) -> Array:
    """How much the parameters of a body change when its mass is off by a distance."""
    first = np.full(3, body[0] * distance)
    # |(c + d)(c + d)' - c c'| entry by entry, for the inertia about the origin
    moment = 2.0 * np.abs(body[1:4]).sum() * distance + 3.0 * body[0] * distance**2
    shift: Array = np.concatenate([[0.0], first, np.full(6, moment)])
    return shift


def placeholders(friction: Array, torque: Array, velocity: Array) -> tuple[str, ...]:
    """Kinds of friction whose figures look like placeholders; `friction` has rows Fc, Fv, ...

    Descriptions made for simulators have the same round figure on every joint, however different
    the joints are, or one that would take most of a joint's torque.
    """
    found = []
    for kind, figures, needed in (
        ('coulomb', friction[0], friction[0]),
        ('viscous', friction[1], friction[1] * velocity),
    ):
        alike = len(figures) > 1 and figures[0] > 0.0 and bool((figures == figures[0]).all())
        if alike or bool((needed > 0.5 * torque).any() and (torque > 0.0).all()):
            found.append(kind)
    return tuple(found)
