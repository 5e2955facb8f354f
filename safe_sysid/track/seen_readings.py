"""What readings themselves say of how an arm is sampled, beside what is promised of it.

A joint that stood for a sample and then is read elsewhere moves less than a step in a sample, so
that what it is read to have moved is one step: where the smallest of these changes is larger than
promised, the step is. Stamps say how far samples are apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit
from safe_sysid.track.seen_law import Sampling

CHANGES = 20  # of a joint that have to be seen before their smallest says something
COARSER = 1.5
SAME = 1e-12  # [rad]
ROUNDED = 2e-9  # [s] of stamps in nanoseconds
APART, TIME = 0, 1  # in `times`


class SeenReadings:
    """Smallest changes of positions, and the longest time between two samples."""

    def __init__(self, sampling: Sampling, is_continuous: Array) -> None:
        n = len(is_continuous)
        self._sampling = sampling
        self._step = np.broadcast_to(sampling.step, (n,))
        self._apart = sampling.apart
        self._turns = np.array(is_continuous)
        self._last, self._finest = np.full(n, np.nan), np.full(n, np.inf)
        self._changes, self._times = np.zeros(n), np.array([0.0, np.nan])
        self._seen = self._last, self._finest, self._changes, np.zeros(n), self._times

    def take(self, t: float, position: Array) -> None:
        """Take a sample."""
        _take(self._turns, t, position, self._seen)

    def what_may_be_false(self, doubts: str) -> str:
        """Name the assumptions of which one is false, those first that are doubted."""
        s = self._sampling
        assumed = (
            f'one of these is false: readings within {0.5e3 * self._step.max():.3g} mrad and '
            f'every {1e3 * s.period:.3g} ms, torques that act within {1e3 * s.delay:.3g} ms and '
            'as drives are stated, parameters within the bounds of the plan, no contact'
        )
        return f'{doubts}; {assumed}' if doubts else assumed

    def contradictions(self, names: Sequence[str]) -> str:
        """Say which promise the readings themselves contradict; empty if none."""
        said = []
        if self._times[APART] > self._apart + ROUNDED:
            said.append(
                f'samples came {1e3 * self._times[APART]:.3g} ms apart, '
                f'{1e3 * self._apart:.3g} ms are promised'
            )
        coarse = (self._changes >= CHANGES) & (self._finest > COARSER * self._step)
        for j in np.flatnonzero(coarse).tolist():
            said.append(
                f'{names[j]} is read in steps of {self._finest[j]:.3g} rad, '
                f'{self._step[j]:.3g} rad are promised'
            )
        return '; '.join(said)


@jit
def _take(
    turns: Array, t: float, position: Array, seen: tuple[Array, Array, Array, Array, Array]
) -> None:
    last, finest, changes, stood, times = seen
    if t > times[TIME]:
        times[APART] = max(times[APART], t - times[TIME])
    times[TIME] = t
    for j in range(len(last)):
        change = position[j] - last[j]
        if turns[j]:
            change -= 2.0 * np.pi * np.round(change / (2.0 * np.pi))
        if abs(change) > SAME and stood[j]:
            finest[j] = min(finest[j], abs(change))
            changes[j] += 1.0
        stood[j] = abs(change) <= SAME
        last[j] = position[j]
