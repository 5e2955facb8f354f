"""Random trees of joints in special positions: parallel, crossing, in one point, upright."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from safe_sysid.identifiability.exact_geometry import (
    AXES,
    ORIGIN,
    Z_AXIS,
    ExactAngle,
    ExactPlacement,
    Turn,
    exact_angle,
)
from safe_sysid.identifiability.kinematic_tree import (
    FREE,
    PLANAR,
    SPHERICAL,
    TRANSLATION,
    WORLD,
    Armature,
    GeneralRotor,
    Joint,
    KinematicTree,
    Rotor,
    Screw,
    SymmetricRotor,
    helical,
    prismatic,
    revolute,
)

QUARTERS = (-6, 0, 0, 0, 6, 6, 12)  # in steps of 15 degrees
FINER = (-9, -4, -3, -2, 2, 3, 4, 8, 1)
RATIOS = (1, -1, 2, 10, -100)


def random_mechanism(rng: np.random.Generator, joints: int) -> KinematicTree:
    """Return a tree of joints of all kinds; most angles and offsets are special."""
    made: list[Joint] = []
    for i in range(joints):
        parent = i - 1 if rng.random() < 0.75 else int(rng.integers(WORLD, i))
        placement = ExactPlacement(_turns(rng), _position(rng))
        screws = _screws(rng)
        rotor = _rotor(rng, placement, screws) if len(screws) == 1 else None
        made.append(Joint(f'joint_{i + 1}', f'link_{i + 1}', parent, placement, screws, rotor))
    gravity = (None, Z_AXIS, AXES[0], _turns(rng))[int(rng.integers(4))]
    return KinematicTree(tuple(made), gravity)


def _screws(rng: np.random.Generator) -> tuple[Screw, ...]:
    direction = _direction(rng)
    kinds: Sequence[tuple[Screw, ...]] = (
        *[revolute(direction)] * 10,
        *[prismatic(direction)] * 4,
        helical(Fraction(int(rng.integers(1, 9)), 20), direction),
        PLANAR,
        SPHERICAL,
        TRANSLATION,
        FREE,
    )
    return kinds[int(rng.integers(len(kinds)))]


def _rotor(
    rng: np.random.Generator, placement: ExactPlacement, screws: tuple[Screw, ...]
) -> Rotor | None:
    on_axis = ExactPlacement(placement.turns + screws[0].direction, placement.position)
    elsewhere = ExactPlacement(_turns(rng), _position(rng))
    place = on_axis if rng.random() < 0.6 else elsewhere
    ratio = Fraction(RATIOS[int(rng.integers(len(RATIOS)))])
    choices = (
        None,
        None,
        None,
        Armature(),
        SymmetricRotor(place, ratio),
        GeneralRotor(place, ratio),
    )
    return choices[int(rng.integers(len(choices)))]


def _turns(rng: np.random.Generator) -> tuple[Turn, ...]:
    axes = rng.permutation(3)[: int(rng.integers(0, 3))]
    return tuple(Turn(int(axis), _angle(rng)) for axis in axes)


def _angle(rng: np.random.Generator) -> ExactAngle:
    kind = rng.random()
    if kind < 0.7:
        return ExactAngle(int(rng.choice(QUARTERS)))
    if kind < 0.85:
        return ExactAngle(int(rng.choice(FINER)))
    return exact_angle(float(rng.uniform(0.3, 2.8)))


def _direction(rng: np.random.Generator) -> tuple[Turn, ...]:
    if rng.random() < 0.8:
        return AXES[int(rng.choice([0, 1, 2, 2, 2, 2]))]
    return _turns(rng)


def _position(rng: np.random.Generator) -> tuple[Fraction, Fraction, Fraction]:
    if rng.random() < 0.25:
        return ORIGIN
    x, y, z = (
        Fraction(int(rng.integers(5, 60)), 100) if rng.random() < 0.4 else Fraction(0)
        for _ in range(3)
    )
    return x, y, z
