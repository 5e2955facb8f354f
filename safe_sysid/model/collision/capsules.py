"""Capsules that contain the bodies of an arm, and the pairs of them that may touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.facts import CapsuleFacts, CollisionFacts
from safe_sysid.model.urdf_tree import Frame

NO_PAIRS: IntArray = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Capsules:
    """m capsules, each fixed in the frame of a joint (-1: the base); a == b is a sphere."""

    names: tuple[str, ...]
    joint: IntArray  # (m,)
    a: Array  # (m, 3) [m]
    b: Array  # (m, 3) [m]
    radius: Array  # (m,) [m]
    pairs: IntArray  # (p, 2) indices of capsules that may touch each other
    apart: IntArray = field(default_factory=lambda: NO_PAIRS)  # proven not to, see `pairs`
    left_out: IntArray = field(default_factory=lambda: NO_PAIRS)  # said not to, see `pairs`

    def beside(self, other: Capsules) -> Capsules:
        """Return these capsules and others, of which nothing is decided yet."""
        return replace(
            self,
            names=self.names + other.names,
            joint=np.concatenate([self.joint, other.joint]),
            a=np.concatenate([self.a, other.a]),
            b=np.concatenate([self.b, other.b]),
            radius=np.concatenate([self.radius, other.radius]),
        )

    def named(self, pairs: IntArray) -> tuple[tuple[str, str], ...]:
        """Names of the capsules of some pairs."""
        return tuple((self.names[i], self.names[j]) for i, j in pairs)


def capsules_of(facts: CollisionFacts, frames: Mapping[str, Frame], source: Path) -> Capsules:
    """Capsules of the settings in the frames of the joints their links are fixed to, no pairs."""
    names = list(facts.shapes)
    placed = [_placed(facts.shapes[name], frames, source, name) for name in names]
    return Capsules(
        tuple(names),
        np.array([joint for joint, _, _ in placed], dtype=np.int64),
        np.array([a for _, a, _ in placed]).reshape(-1, 3),
        np.array([b for _, _, b in placed]).reshape(-1, 3),
        np.array([facts.shapes[name].radius for name in names], dtype=float),
        NO_PAIRS,
    )


def _placed(
    shape: CapsuleFacts, frames: Mapping[str, Frame], source: Path, name: str
) -> tuple[int, Array, Array]:
    if shape.link not in frames:
        raise ModelError(
            f"collision shape '{name}' is on link '{shape.link}', which {source} does not have; "
            f'its links are {list(frames)}'
        )
    frame = frames[shape.link]
    return (
        frame.joint,
        frame.R @ np.array(shape.a) + frame.p,
        frame.R @ np.array(shape.b) + frame.p,
    )
