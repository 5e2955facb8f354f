"""Conditions on a link together with the rotor that drives its joint.

The rotor sits on the link below and turns `ratio` times as fast as the joint. A rotor that is
symmetric about its axis is a rigid part of the link below plus a flywheel: one more row w beside
the velocities of the link, the rate of the flywheel divided by its ratio. An armature is a
flywheel that does not feel the link below. A rotor of any shape is a second body.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
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
    turning_matrix,
)
from safe_sysid.identifiability.joint_conditions import (
    Conditions,
    Geometry,
    Spans,
    Torques,
    closure,
)
from safe_sysid.identifiability.kinematic_tree import GeneralRotor, Joint, SymmetricRotor

# Parameters m, mcz, Ixx = Iyy, Izz of a body that is symmetric about z, as ten parameters.
SYMMETRIC = np.zeros((10, 4), dtype=np.int64)
SYMMETRIC[[0, 3, 4, 6, 9], [0, 1, 2, 2, 3]] = 1


class Crossing(NamedTuple):
    """A joint, and what the link below can do."""

    arithmetic: Arithmetic
    joint: Joint
    geometry: Geometry
    below: Spans
    torques: Torques


def with_armature(problem: Crossing, link: Conditions) -> Conditions:
    """Conditions on a link and the armature of its joint."""
    still = np.zeros_like(problem.below.V[:, :1])
    momentum, w = _flywheel(problem, still)
    image = np.hstack([link.image, np.zeros_like(link.image[:, :1])])
    return Conditions(np.hstack([momentum, w]), _widened(link.mapping, 1), image)


def with_symmetric_rotor(problem: Crossing, link: Conditions) -> Conditions:
    """Conditions on a link and on m, mcz, Ixx = Iyy and ratio^2 Izz of a symmetric rotor."""
    arithmetic, rotor = problem.arithmetic, problem.joint.rotor
    assert isinstance(rotor, SymmetricRotor)
    per = arithmetic.number(1 / ratio_per_coordinate(problem))
    R, t = pose(arithmetic, rotor.placement)
    axis = arithmetic.reduced(R[:, 2:] * per)
    momentum, w = _flywheel(problem, arithmetic.product(problem.below.V[:, 3:], axis))
    placed = arithmetic.product(
        parameters_to_parent(arithmetic, R, t), arithmetic.array(SYMMETRIC)
    )
    for _ in range(2):
        placed[:, 3] = arithmetic.reduced(placed[:, 3] * per)
    momentum = np.hstack([_widened(momentum, 3), w])
    return Conditions(momentum, _widened(link.mapping, 4), np.hstack([link.image, placed]))


def with_general_rotor(problem: Crossing, link: Conditions) -> Conditions:
    """Conditions on a link and on the ten parameters of a rotor of any shape."""
    arithmetic, rotor, motion = problem.arithmetic, problem.joint.rotor, problem.geometry
    assert isinstance(rotor, GeneralRotor)
    ratio = ratio_per_coordinate(problem)
    size = max(Fraction(1), abs(ratio))  # the coordinate is scaled, so that no motion is large
    R, t = pose(arithmetic, rotor.placement)
    spin = arithmetic.array([[0, 0, 0, 0, 0, 1]]) * arithmetic.number(ratio / size)
    phi = arithmetic.reduced(motion.Phi * arithmetic.number(1 / size))
    both = (phi, spin)
    image = np.hstack([link.image, parameters_to_parent(arithmetic, R, t)])
    X = np.vstack([motion.X, motion_to_child(arithmetic, R, t)])
    crossing = _diagonal([cross_matrix(arithmetic, x[0]).T for x in both])
    turning = _diagonal([turning_matrix(arithmetic, x[0]) for x in both])
    V = arithmetic.span(arithmetic.product(problem.below.V, X.T))
    V = closure(arithmetic, [crossing], V)
    if problem.torques is Torques.OF_MOTION:
        V, _ = arithmetic.extended(V, np.hstack(both))
    K = arithmetic.span(arithmetic.product(problem.below.K, image))
    K = closure(arithmetic, [turning], K)
    momentum = [pairings(arithmetic, V[:, :6], phi), pairings(arithmetic, V[:, 6:], spin)]
    return Conditions(np.hstack(momentum), arithmetic.product(K, turning), image)


def ratio_per_coordinate(problem: Crossing) -> Fraction:
    """Return turns of a rotor per unit of the coordinate (a length where it slides)."""
    joint = problem.joint
    assert isinstance(joint.rotor, (SymmetricRotor, GeneralRotor))
    return joint.rotor.ratio * (problem.arithmetic.length if joint.slides else 1)


def _flywheel(problem: Crossing, w_below: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Momentum rows on the link and the column w beside them, for a given rate at q' = 0."""
    arithmetic, motion = problem.arithmetic, problem.geometry
    carried = arithmetic.product(problem.below.V, motion.X.T)
    V = arithmetic.span(np.hstack([carried, w_below]))
    still = arithmetic.array(np.zeros((1, 1), dtype=np.int64))
    V = closure(arithmetic, [_diagonal([cross_matrix(arithmetic, motion.Phi[0]).T, still])], V)
    if problem.torques is Torques.OF_MOTION:
        V, _ = arithmetic.extended(V, np.hstack([motion.Phi, still + 1]))
    return pairings(arithmetic, V[:, :6], motion.Phi), V[:, 6:]


def _widened(rows: AnyArray, columns: int) -> AnyArray:
    """Rows with columns of zeros at their end."""
    return np.hstack([rows, np.zeros((len(rows), columns), dtype=rows.dtype)])


def _diagonal(blocks: Sequence[AnyArray]) -> AnyArray:
    """Block diagonal matrix of square blocks."""
    size = sum(len(block) for block in blocks)
    matrix = np.zeros((size, size), dtype=blocks[0].dtype)
    first = 0
    for block in blocks:
        matrix[first : first + len(block), first : first + len(block)] = block
        first += len(block)
    return matrix
