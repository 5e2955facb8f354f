"""How measured velocities scatter, from themselves, where nobody said it.

Bounds that follow from what is stated of an arm's sensors are for every case: of an encoder that
nobody stated, and with all acceleration an arm is capable of. What scatters shows in second
differences of velocities: new errors of deviation s have 6 s^2 as the mean square of

    v(t) - 2 v(t - T) + v(t - 2 T),

to which a smooth motion adds (T^2 d^2v/dt^2)^2 only. T is a third of a window, so errors that last
no longer than that count as new. A joint at rest hides what its encoder does in motion: as long as
it was not seen moving, nothing is known of it. What velocities lag behind by does not show.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array

MOVING = 0.02  # [rad/s] mean speed of a window whose scatter counts
SEEN = 5  # windows in motion from which on it is known
REMEMBERED = 40  # windows
ROOM = 1.3  # for what so few samples leave open
PARTS = 3  # of a window, between samples that are compared


class VelocityScatter:
    """Deviation of velocities of every joint, from windows in which it moves."""

    def __init__(self, n: int) -> None:
        self._square = np.zeros(n)  # [rad^2/s^2]
        self._count = np.zeros(n)

    def take(self, velocity: Array) -> None:
        """Take the velocities of a window (k, n)."""
        step = max(1, len(velocity) // PARTS)
        if len(velocity) <= 2 * step:
            return
        second = velocity[2 * step :] - 2.0 * velocity[step:-step] + velocity[: -2 * step]
        square = np.mean(second**2, axis=0) / 6.0
        moves = np.abs(velocity).mean(axis=0) > MOVING
        self._count[moves] += 1.0
        share = 1.0 / np.minimum(np.maximum(self._count, 1.0), REMEMBERED)
        self._square = np.where(moves, (1.0 - share) * self._square + share * square, self._square)

    def deviation(self, unknown: Array) -> Array:
        """Deviation of every joint (n,) [rad/s]; that of `unknown` where it is not known yet."""
        return np.asarray(np.where(self._count < SEEN, unknown, ROOM * np.sqrt(self._square)))
