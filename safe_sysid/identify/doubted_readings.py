"""What readings themselves say against the errors that are promised of them; no proof, a clue.

A joint that stood for a sample and then is read elsewhere was read to move by one step of its
encoder: where the smallest of these steps recurs, and is more than what errors allow, they are too
small. An arm that is read exactly begins to move by another way each time. Of three velocities in
a row errors of e can make 4 e of a second difference; torques that change by dtau can make
h |dtau| / Ia more, as no part of the arm has less inertia than its lightest armature. What is
beyond that is scatter that nobody promised. It says nothing of an arm without armature, of
offsets, and of errors that are alike from sample to sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.array_copies import copy_matrix
from safe_sysid.sets.compiled import jit

SEEN = 20.0  # samples that have to say so
COARSER = 1.5  # times what is promised
LEAST = 1e-7  # [rad] of a step; less is motion
SAME = 1e-12  # [rad]
ALIKE = 0.9  # of a step: what differs by less is the same one
BRISK = 10.0  # [1/s] by which accelerations change without a change of torque


class DoubtedReadings:
    """Steps of positions and scatter of velocities beyond their promised errors."""

    def __init__(
        self, position: Array, velocity: Array, least_armature: float, acceleration: Array
    ) -> None:
        n = len(position)
        self._position, self._velocity = position, velocity
        self._lightness = 1.0 / least_armature if least_armature > 0.0 else np.inf
        self._brisk = BRISK * np.where(np.isfinite(acceleration), acceleration, 0.0)
        self._last = np.full((2, 3, n), np.nan)  # q, qd, tau of the last sample, the one before
        self._stood = np.zeros(n)
        self._steps = np.stack([np.zeros(n), np.full(n, np.inf)])  # how often, the smallest
        self._jumps = np.zeros((2, n))  # how many, [rad/s] the largest beyond what is allowed
        self._stamps = [0, 0]  # [ns] of the last sample but one, and of the last

    def take(self, stamp: int, sample: Array) -> None:
        """Take a sample, rows q, qd, tau; one that is no later than the one before is left out."""
        step, before = stamp - self._stamps[1], self._stamps[1] - self._stamps[0]
        if step > 0:
            even = abs(step - before) < 0.1 * step
            self._look(sample[None], np.array([step * 1e-9 if even else 0.0]))
            self._stamps = [self._stamps[1], stamp]

    def take_all(self, stamps: IntArray, samples: Array) -> None:
        """Take samples (N, 3, n), each later than the one before."""
        known = np.concatenate([self._stamps, stamps])
        steps = np.diff(known)
        even = np.abs(steps[1:] - steps[:-1]) < 0.1 * steps[1:]
        self._look(samples, np.where(even, steps[1:] * 1e-9, 0.0))
        self._stamps = known[-2:].tolist()

    def _look(self, samples: Array, seconds: Array) -> None:
        """Look at samples (N, 3, n), each some seconds after the one before; 0: unevenly."""
        seen = self._stood, self._steps, self._jumps
        _take(samples, self._last, seen, (self._velocity, self._brisk, seconds), self._lightness)

    def sentences(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say which promise readings speak against."""
        said = []
        step = np.maximum(COARSER * 2.0 * self._position, LEAST)
        for j in np.flatnonzero((self._steps[0] >= SEEN) & (self._steps[1] > step)).tolist():
            said.append(
                f'{names[j]} is read in steps of {self._steps[1, j]:.3g} rad, and positions are '
                f'promised to be within {self._position[j]:.3g} rad'
            )
        for j in np.flatnonzero(self._jumps[0] >= SEEN).tolist():
            said.append(
                f'velocities of {names[j]} are off by {self._jumps[1, j]:.3g} rad/s or more, and '
                f'promised to be within {self._velocity[j]:.3g} rad/s'
            )
        return tuple(said)


@jit
def _take(
    samples: Array,
    last: Array,
    seen: tuple[Array, Array, Array],
    allowed: tuple[Array, Array, Array],
    lightness: float,
) -> None:
    stood, steps, jumps = seen
    velocity, brisk, seconds = allowed
    for k in range(len(seconds)):
        sample, per_torque = samples[k], seconds[k] * lightness
        push = 0.0
        for j in range(sample.shape[1]):
            push += abs(sample[2, j] - last[0, 2, j]) + abs(last[0, 2, j] - last[1, 2, j])
        for j in range(sample.shape[1]):
            change = abs(sample[0, j] - last[0, 0, j])
            if change > SAME and stood[j] > 0.0:
                if change < ALIKE * steps[1, j]:
                    steps[0, j], steps[1, j] = 1.0, change
                elif ALIKE * change < steps[1, j]:
                    steps[0, j] += 1.0
            stood[j] = 1.0 if change <= SAME else 0.0
            bend = abs(sample[1, j] - 2.0 * last[0, 1, j] + last[1, 1, j])
            scatter = 0.25 * (bend - seconds[k] * seconds[k] * brisk[j] - per_torque * push)
            if per_torque > 0.0 and scatter > velocity[j]:
                jumps[0, j] += 1.0
                jumps[1, j] = max(jumps[1, j], scatter)
        copy_matrix(last[0], last[1])
        copy_matrix(sample, last[0])
