"""Whether efforts of an arm at rest, from pose to pose, go with what gravity asks for.

Efforts that are a small share of the weight are of another unit, or gravity is not in them. What
tells these apart is whether they follow it: a unit does, whatever it is.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from scipy.special import stdtrit

from safe_sysid.arrays import Array

FOLLOWS = 0.9  # correlation of an effort with the weight, from which on it is another unit
APART = 0.5  # below, an effort has nothing to do with the weight
BY_CHANCE = 1e-3  # how often efforts without gravity may seem to follow it


class WeightShown(Enum):
    """What efforts in several poses tell of gravity."""

    FOLLOWED = 'in another unit'
    NONE = 'gravity is not in it'
    OPEN = 'nothing'


def share_of_weight(torque: Array, weight: Array) -> float:
    """Return how many times the weight (N,) a torque (N,) is; 0 without any."""
    size = float(weight @ weight)
    return float(torque @ weight) / size if size > 0.0 else 0.0


def weight_shown(torque: Array, weight: Array, scatter: float) -> tuple[WeightShown, float]:
    """Return what torques (N,) tell of the weight (N,) in each pose, and their correlation.

    `scatter` [N m] is the standard deviation about the mean of a pose: means that differ by no
    more show no gravity, whatever their correlation is by chance.
    """
    poses = len(weight)
    if poses < 3 or not (np.ptp(weight) > 0.0 and np.ptp(torque) > 0.0):
        return WeightShown.OPEN, np.nan
    r = float(np.corrcoef(torque, weight)[0, 1])
    if np.ptp(torque) <= scatter or abs(r) < APART:
        return WeightShown.NONE, r
    t = abs(r) * np.sqrt((poses - 2) / max(1.0 - r * r, 1e-15))
    if abs(r) > FOLLOWS and t > stdtrit(poses - 2, 1.0 - 0.5 * BY_CHANCE):
        return WeightShown.FOLLOWED, r
    return WeightShown.OPEN, r
