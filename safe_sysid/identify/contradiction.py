"""Contradiction: a proof that no parameters in their bounds explain the measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.identify.observation import Observation

UNEXPLAINED = 'No single friction, offset, armature, link, gravity, gain or delay explains them'


@dataclass(frozen=True)
class Contradiction:
    """Rows that cannot hold together, the most telling first."""

    joints: tuple[str, ...]  # joints of these rows
    start: float  # [s] first sample of the earliest of them
    end: float  # [s] last sample of the latest
    factor: float  # the errors promised would have to be this many times larger, at least
    promises: tuple[str, ...] | None = None  # any one explains them if weaker, likeliest first

    def __str__(self) -> str:
        either = ''
        if self.promises is not None:
            either = (
                f'. This alone would explain them: {", or ".join(self.promises)}'
                if self.promises
                else f'. {UNEXPLAINED}'
            )
        return (
            f'measurements of {", ".join(self.joints)} between {self.start:.2f} s and '
            f'{self.end:.2f} s contradict the model: the errors promised would have to be at '
            f'least {self.factor:.2f} times larger{either}. An error of positions, velocities or '
            'torques above its bound, contact or slip can be the cause, too'
        )


class ContradictionError(BoundError):
    """Raised where bounds were asked for and none exist."""

    def __init__(self, contradiction: Contradiction) -> None:
        super().__init__(f'no bounds: {contradiction}')
        self.contradiction = contradiction


def contradiction_of(
    observation: Observation, share: Array, factor: float, joint_names: tuple[str, ...]
) -> Contradiction:
    """Return the rows that carry most of a proof; `share` is the part of each in it."""
    ranked = np.argsort(-share)
    total = np.cumsum(share[ranked])
    telling = ranked[: int(np.searchsorted(total, 0.9 * total[-1])) + 1]
    joints = dict.fromkeys(joint_names[int(observation.joint[row])] for row in telling)
    return Contradiction(
        tuple(joints),
        float(observation.start[telling].min()),
        float(observation.end[telling].max()),
        factor,
    )
