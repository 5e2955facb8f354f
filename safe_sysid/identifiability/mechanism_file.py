"""Mechanisms by their modified (Craig) Denavit-Hartenberg rows, those of a publication among them.

A row moves by `a` along x, turns by `alpha` about x and moves by `d` along the new z, about or
along which the joint moves. Lengths are the decimals of the file, angles multiples of 90 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np

from safe_sysid.config import Count, OneOf, Settings, from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.identifiability.exact_geometry import (
    HERE,
    ExactAngle,
    ExactPlacement,
    Turn,
    exact_direction,
)
from safe_sysid.identifiability.kinematic_tree import (
    Joint,
    KinematicTree,
    SymmetricRotor,
    prismatic,
    revolute,
)
from safe_sysid.share import mechanism_names, share_directory

STEPS = 6  # of 15 degrees in a right angle
COSINE = {0: 1, 90: 0, -90: 0, 180: -1, -180: -1}
SINE = {0: 0, 90: 1, -90: -1, 180: 0, -180: 0}


@dataclass(frozen=True)
class Mechanism(Settings):
    """Rows of a chain from the base on, and where its rotors are."""

    kinds: tuple[Annotated[str, OneOf(('R', 'P'))], ...]  # R turns, P slides
    alpha: tuple[Annotated[int, OneOf(tuple(COSINE))], ...]  # [deg]
    a: tuple[str, ...]  # [m] decimals
    d: tuple[str, ...]  # [m]
    gravity: tuple[float, ...] | None = None  # direction in the frame of the base; None: none
    ratio: Count = 1  # of the speed of a rotor to that of its joint
    driven_from_below: tuple[Count, ...] = ()  # joints whose rotor sits at the joint before

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = {len(self.kinds), len(self.alpha), len(self.a), len(self.d)}
        if len(rows) > 1 or not self.kinds:
            raise ConfigError(f'kinds, alpha, a and d have {sorted(rows)} entries, not the same')
        if self.gravity is not None and (len(self.gravity) != 3 or not np.any(self.gravity)):
            raise ConfigError(f'gravity {self.gravity} is no direction: three numbers, not all 0')
        for joint in self.driven_from_below:
            if not 2 <= joint <= len(self.kinds):
                raise ConfigError(
                    f'driven_from_below: joint {joint} has no joint before it; '
                    f'2 to {len(self.kinds)} have'
                )

    @property
    def tree(self) -> KinematicTree:
        """The chain without rotors."""
        joints = tuple(self._joint(i) for i in range(len(self.kinds)))
        down = None if self.gravity is None else exact_direction(np.array(self.gravity))
        return KinematicTree(joints, down)

    def with_rotors(self, tree: KinematicTree, ratio: Fraction) -> KinematicTree:
        """Return the chain, on whatever base it is now, with its rotors."""
        driven = tree.with_symmetric_rotors(ratio)
        first = len(tree.joints) - len(self.kinds)
        return driven.with_rotors(
            [
                joint.rotor._replace(placement=HERE)
                if isinstance(joint.rotor, SymmetricRotor)
                and i - first + 1 in self.driven_from_below
                else joint.rotor
                for i, joint in enumerate(driven.joints)
            ]
        )

    def _joint(self, i: int) -> Joint:
        alpha, d = self.alpha[i], _length('d', self.d[i])
        position = (_length('a', self.a[i]), -SINE[alpha] * d, COSINE[alpha] * d)
        turn = Turn(0, ExactAngle(STEPS * alpha // 90))
        screws = revolute() if self.kinds[i] == 'R' else prismatic()
        placement = ExactPlacement((turn,), position)
        return Joint(f'joint_{i + 1}', f'link_{i + 1}', i - 1, placement, screws)


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism that comes with the package."""
    if name not in mechanism_names():
        raise ConfigError(f"no mechanism '{name}'; the package has {mechanism_names()}")
    path = share_directory() / 'config' / 'mechanisms' / f'{name}.yaml'
    return from_mapping(Mechanism, read_yaml(path), str(path))


def _length(name: str, text: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ConfigError(f"{name}: '{text}' is not a decimal number [m]") from None
