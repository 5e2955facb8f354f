"""Capsules that contain the bodies of an arm, and the pairs of them that can touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ModelError
from safe_sysid.model.facts import CapsuleFacts, CollisionFacts
from safe_sysid.model.urdf_tree import Frame


@dataclass(frozen=True, eq=False)
class Capsules:
    """m capsules, each fixed in the frame of a joint (-1: the base); a == b is a sphere."""

    names: tuple[str, ...]
    joint: IntArray  # (m,)
    a: Array  # (m, 3) [m]
    b: Array  # (m, 3) [m]
    radius: Array  # (m,) [m]
    pairs: IntArray  # (p, 2) indices of capsules that can touch each other

    def joined(self, other: Capsules) -> Capsules:
        """These capsules and others, which can touch whatever their joint can touch already."""
        count = len(self.names)
        added = [
            (partner, count + i)
            for i in range(len(other.names))
            for partner in self._partners(int(other.joint[i]))
        ]
        return Capsules(
            self.names + other.names,
            np.concatenate([self.joint, other.joint]),
            np.concatenate([self.a, other.a]),
            np.concatenate([self.b, other.b]),
            np.concatenate([self.radius, other.radius]),
            np.concatenate([self.pairs, np.array(added, dtype=np.int64).reshape(-1, 2)]),
        )

    def _partners(self, joint: int) -> list[int]:
        """Capsules that those of one joint can touch."""
        of_joint = self.joint[self.pairs] == joint  # (p, 2)
        return sorted({int(i) for i in self.pairs[:, ::-1][of_joint]})


def capsules_of(facts: CollisionFacts, frames: Mapping[str, Frame], source: Path) -> Capsules:
    """Capsules of the settings in the frames of the joints their links are fixed to."""
    names = list(facts.shapes)
    placed = [_placed(facts.shapes[name], frames, source, name) for name in names]
    pairs = [(names.index(first), names.index(second)) for first, second in facts.pairs]
    return Capsules(
        tuple(names),
        np.array([joint for joint, _, _ in placed], dtype=np.int64),
        np.array([a for _, a, _ in placed]).reshape(-1, 3),
        np.array([b for _, _, b in placed]).reshape(-1, 3),
        np.array([facts.shapes[name].radius for name in names], dtype=float),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
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
