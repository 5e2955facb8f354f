"""KinematicTree: an open chain without rounding, with joints of several freedoms and their rotors.

What decides which inertial parameters can be known: where joints are, how they move, what spins
with them and where gravity points. No masses. `Tree` of `robot_model` is the same for dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
import math
from typing import NamedTuple

from safe_sysid.errors import ModelError
from safe_sysid.identifiability.exact_geometry import (
    AXES,
    HERE,
    Z_AXIS,
    ExactPlacement,
    Turn,
)

ONE, ZERO = Fraction(1), Fraction(0)
WORLD = -1


class Screw(NamedTuple):
    """A freedom of a joint: motion along and about a direction through its origin."""

    linear: Fraction  # [m] of motion along the direction ...
    angular: Fraction  # ... and [rad] about it, per unit of the coordinate
    direction: tuple[Turn, ...]  # turns that carry z to it


def revolute(direction: tuple[Turn, ...] = Z_AXIS) -> tuple[Screw, ...]:
    """Joint that turns about a direction."""
    return (Screw(ZERO, ONE, direction),)


def prismatic(direction: tuple[Turn, ...] = Z_AXIS) -> tuple[Screw, ...]:
    """Joint that slides along a direction."""
    return (Screw(ONE, ZERO, direction),)


def helical(pitch: Fraction, direction: tuple[Turn, ...] = Z_AXIS) -> tuple[Screw, ...]:
    """Joint that turns and slides; the pitch is in m per rad."""
    return (Screw(pitch, ONE, direction),)


def cylindrical(direction: tuple[Turn, ...] = Z_AXIS) -> tuple[Screw, ...]:
    """Joint that slides along and turns about a direction, independently."""
    return (*prismatic(direction), *revolute(direction))


TRANSLATION = tuple(Screw(ONE, ZERO, axis) for axis in AXES)
SPHERICAL = tuple(Screw(ZERO, ONE, axis) for axis in AXES)
PLANAR = (*TRANSLATION[:2], SPHERICAL[2])  # in the plane x, y
FREE = (*TRANSLATION, *SPHERICAL)


class Armature(NamedTuple):
    """Reflected inertia: a torque Ia qdd at the joint and nothing else."""


class SymmetricRotor(NamedTuple):
    """Rotor on the link below the joint, symmetric about the axis z it spins about."""

    placement: ExactPlacement  # in the frame of the link below, at q = 0
    ratio: Fraction  # turns of the rotor per rad (or m) of the joint


class GeneralRotor(NamedTuple):
    """Rotor as above, of any shape: ten parameters."""

    placement: ExactPlacement
    ratio: Fraction


Rotor = Armature | SymmetricRotor | GeneralRotor


@dataclass(frozen=True)
class Joint:
    """A joint and the link it moves; the link's frame is the joint's frame after its motion."""

    name: str
    link: str
    parent: int  # index of the joint below, WORLD at the base
    placement: ExactPlacement  # at q = 0, in the frame of the link below
    screws: tuple[Screw, ...]
    rotor: Rotor | None = None

    @property
    def slides(self) -> bool:
        """One freedom, without rotation: its coordinate is a length."""
        return len(self.screws) == 1 and not self.screws[0].angular


@dataclass(frozen=True)
class KinematicTree:
    """Joints, each after the one below it, and gravity."""

    joints: tuple[Joint, ...]
    gravity: tuple[Turn, ...] | None  # direction in the world; None: no gravity

    def __post_init__(self) -> None:
        for i, joint in enumerate(self.joints):
            if not WORLD <= joint.parent < i:
                raise ModelError(
                    f"joint '{joint.name}' has parent {joint.parent}; a joint below it is needed, "
                    f'{WORLD} to {i - 1}'
                )
            if joint.rotor is not None and len(joint.screws) != 1:
                raise ModelError(
                    f"joint '{joint.name}' has {len(joint.screws)} freedoms; a rotor or armature "
                    'needs a joint with one'
                )
            if isinstance(joint.rotor, (SymmetricRotor, GeneralRotor)) and not joint.rotor.ratio:
                raise ModelError(f"the rotor of joint '{joint.name}' has ratio 0")

    @cached_property
    def length(self) -> Fraction:
        """A length that is typical for the arm [m]; 1 where all joints are in one place."""
        sizes = [math.hypot(*map(float, joint.placement.position)) for joint in self.joints]
        present = [size for size in sizes if size > 0.0]
        return Fraction(sum(present) / len(present)).limit_denominator(10**6) if present else ONE

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Joints that sit on each link."""
        found: list[list[int]] = [[] for _ in self.joints]
        for i, joint in enumerate(self.joints):
            if joint.parent != WORLD:
                found[joint.parent].append(i)
        return tuple(tuple(joints) for joints in found)

    def without_gravity(self) -> KinematicTree:
        """Return the same tree where nothing falls."""
        return replace(self, gravity=None)

    def with_armature(self) -> KinematicTree:
        """Return the same tree with a reflected inertia at each joint of one freedom."""
        return self.with_rotors([Armature() if len(j.screws) == 1 else None for j in self.joints])

    def with_symmetric_rotors(self, ratio: Fraction) -> KinematicTree:
        """Return the same tree with a symmetric rotor on the axis of each joint of one freedom."""
        return self.with_rotors(
            [
                SymmetricRotor(_on_axis(joint), ratio) if len(joint.screws) == 1 else None
                for joint in self.joints
            ]
        )

    def with_rotors(self, rotors: Sequence[Rotor | None]) -> KinematicTree:
        """Return the same tree with other rotors."""
        joints = zip(self.joints, rotors, strict=True)
        return replace(self, joints=tuple(replace(j, rotor=rotor) for j, rotor in joints))

    def on_floating_base(self, link: str) -> KinematicTree:
        """Return the same tree on a base that moves freely, which becomes its first link."""
        base = Joint('floating_base', link, WORLD, HERE, FREE)
        moved = (replace(joint, parent=joint.parent + 1) for joint in self.joints)
        return replace(self, joints=(base, *moved))


def _on_axis(joint: Joint) -> ExactPlacement:
    """Frame of a joint, turned so that its axis is z."""
    placement = joint.placement
    return ExactPlacement(placement.turns + joint.screws[0].direction, placement.position)
