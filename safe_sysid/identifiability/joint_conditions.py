"""What a joint can feel of its link: the conditions N on the ten parameters.

A change of the parameters of a link, with minus its image on the link below, is undetectable
exactly if N times it is zero: the joint's own torque does not see it (momentum), and the link
below sees the same change in every position of the joint (mapping). "In every state" is a finite
condition, because it only needs the span V of all velocities of a link and the span K of its
energies, and both have a basis.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.identifiability.inertial_transfer import (
    Arithmetic,
    cross_matrix,
    motion_to_child,
    pairings,
    parameters_to_parent,
    pose,
    rotation_matrix,
    turning_matrix,
)
from safe_sysid.identifiability.kinematic_tree import Joint


class Torques(Enum):
    """Which torques are measured."""

    OF_MOTION = 'in any motion'
    OF_GRAVITY = 'at rest in any posture'


class Spans(NamedTuple):
    """All that a link can do, as bases of rows."""

    V: AnyArray  # (., 6) of its velocities, and of gravity
    K: AnyArray  # (., 10) of what torques and energies say about its parameters


class Geometry(NamedTuple):
    """A joint as arrays of an arithmetic; a coordinate that slides is in units of length."""

    X: AnyArray  # (6, 6) motions of the link below in the joint's frame, at q = 0
    B: AnyArray  # (10, 10) parameters of the link in the frame of the link below, at q = 0
    Phi: AnyArray  # (n, 6) motions of the joint


class Conditions(NamedTuple):
    """N in its two parts, and where a change of the parameters goes."""

    momentum: AnyArray  # (., s)
    mapping: AnyArray  # (., s)
    image: AnyArray  # (10, s) the parameters on the link below


def geometry(arithmetic: Arithmetic, joint: Joint) -> Geometry:
    """Arrays of a joint."""
    R, t = pose(arithmetic, joint.placement)
    rows = []
    for screw in joint.screws:
        u = rotation_matrix(arithmetic, screw.direction)[:, 2]
        slide = screw.linear / arithmetic.length if screw.angular else screw.linear
        rows.append([*(u * arithmetic.number(slide)), *(u * arithmetic.number(screw.angular))])
    X, B = motion_to_child(arithmetic, R, t), parameters_to_parent(arithmetic, R, t)
    return Geometry(X, B, arithmetic.reduced(np.array(rows)))


def across(
    arithmetic: Arithmetic, joint: Geometry, below: Spans, torques: Torques
) -> tuple[Spans, Conditions]:
    """Spans of a link from those of the link below, and the conditions on it."""
    crossing = [cross_matrix(arithmetic, phi).T for phi in joint.Phi]
    turning = [turning_matrix(arithmetic, phi) for phi in joint.Phi]
    V_below = arithmetic.span(arithmetic.product(below.V, joint.X.T))
    K_below = arithmetic.span(arithmetic.product(below.K, joint.B))
    V = closure(arithmetic, crossing, V_below)
    K_below = closure(arithmetic, turning, K_below)
    if torques is Torques.OF_MOTION:
        V, _ = arithmetic.extended(V, joint.Phi)
    momentum = pairings(arithmetic, V, joint.Phi)
    K, _ = arithmetic.extended(K_below, momentum)
    mapping = np.vstack([arithmetic.product(K_below, A) for A in turning])
    return Spans(V, K), Conditions(momentum, mapping, joint.B)


def closure(arithmetic: Arithmetic, operators: Sequence[AnyArray], basis: AnyArray) -> AnyArray:
    """Smallest subspace that contains the rows of a basis and their products with operators."""
    new = basis
    while len(new) and len(basis) < basis.shape[1]:
        images = np.vstack([arithmetic.product(new, operator) for operator in operators])
        basis, new = arithmetic.extended(basis, images)
    return basis
