"""States of an arm as a law takes them that sees tracking errors only; compiled."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.sets.compiled import jit
from safe_sysid.track.robust_law import QD, Q, R


@jit
def differ(q_d: Array, q: Array, turns: AnyArray, e: Array) -> None:
    """Tracking error, on continuous joints without full turns."""
    for j in range(len(e)):
        e[j] = q_d[j] - q[j]
        if turns[j]:
            e[j] -= 2.0 * np.pi * np.round(e[j] / (2.0 * np.pi))


@jit
def estimate_into(desired: Array, e: Array, r: Array, K: Array, state: Array) -> None:
    """State of the arm where it was as far off the desired one as it is seen to be.

    r is (2, n): that of the state, and the one that the law works against.
    """
    for j in range(len(e)):
        state[Q, 0, j] = desired[0, j] - e[j]
        state[QD, 0, j] = desired[1, j] - (r[0, j] - K[j] * e[j])
        state[R, 0, j] = r[1, j]


@jit
def damped_rate(gain: float, r: Array, rate: Array) -> None:
    """Set the known part of dr/dt, -M^-1 v."""
    for j in range(len(r)):
        rate[j] = -gain * r[j]
