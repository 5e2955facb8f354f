"""How wrong the rows of windows are, as covariances: of sensors, and of torque nobody modelled.

Torque that no model has is taken for noise that forgets itself over a correlation time c,
E u(t) u(s) = s_u^2 exp(-|t - s| / c). Its impulse over two windows is then known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.observation import Observation

FORGOTTEN = 100.0  # bounds that the torque of a joint has changed by: nothing is left of what was
ROOM = 1.5  # of the variance of sensors, whose errors are uniform at most


def sensor_variance(rows: Observation, samples: int) -> Array:
    """Variance of rows whose errors are of every sample anew, within the bound promised."""
    variance: Array = ROOM * rows.delta**2 / (3.0 * samples)
    return variance


def impulse_covariance(
    windows: Sequence[tuple[float, float]], deviation: float, memory: float
) -> Array:
    """Covariance of the impulses of unmodelled torque over windows that follow each other."""
    start, end = np.array(windows).T
    length = end - start
    decay = 1.0 - np.exp(-length / memory)
    apart = start[None, :] - end[:, None]  # from the end of one to the start of another
    gap = np.where(apart > apart.T, apart, apart.T)
    covariance: Array = memory**2 * np.outer(decay, decay) * np.exp(-np.maximum(gap, 0.0) / memory)
    own = 2.0 * memory**2 * (length / memory - decay)
    np.fill_diagonal(covariance, own)
    return deviation**2 * covariance


def lasting_variance(length: float, deviation: float, memory: float) -> float:
    """Variance of the impulse of a window, with what it shares with all windows around it."""
    return 2.0 * deviation**2 * memory * length


def friction_covariance(joint: IntArray, b: Array, dry: Array) -> Array:
    """Covariance of the impulses of dry friction of joints that hardly move, row by row.

    Friction of a joint that stands is what its torque leaves over: it changes by what the impulse
    b of the torque changes by, and stays where that does. So it forgets itself as b changes by its
    bound, and altogether where the joint moves meanwhile. Entries of two joints mean nothing.
    """
    changed = np.zeros(len(b))  # in all, by bounds
    for j in np.unique(joint):
        at = joint == j
        bound = np.minimum(dry[at][1:], dry[at][:-1])
        step = np.full(len(bound), FORGOTTEN)
        np.divide(np.abs(np.diff(b[at])), bound, out=step, where=bound > 0.0)
        changed[at] = np.concatenate([[0.0], np.cumsum(np.minimum(step, FORGOTTEN))])
    covariance: Array = np.outer(dry, dry) * np.exp(-np.abs(changed[:, None] - changed))
    return covariance
