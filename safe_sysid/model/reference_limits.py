"""ReferenceLimits: what a drive checks of the motion that it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.facts import JointFacts


@dataclass(frozen=True, eq=False)
class ReferenceLimits:
    """Largest desired acceleration and jerk of every joint; infinite where nothing is checked.

    Of the arm's own motion they say nothing: friction and the robust input may jump, so that its
    acceleration is far above that of the plan, and its jerk has no bound.
    """

    acceleration: Array  # (n,) [rad/s^2]
    jerk: Array  # (n,) [rad/s^3]


def reference_limits_of(joints: Sequence[JointFacts]) -> ReferenceLimits | None:
    """Limits that the facts about the joints state; None if there are none."""
    if all(j.reference_acceleration is None and j.reference_jerk is None for j in joints):
        return None
    acceleration, jerk = (
        [np.inf if x is None else x for x in column]
        for column in zip(
            *((j.reference_acceleration, j.reference_jerk) for j in joints), strict=True
        )
    )
    return ReferenceLimits(np.array(acceleration), np.array(jerk))
