"""What readings themselves say against the errors that are promised of them; no proof, a clue.

A joint that stood for a sample and then is read elsewhere was read to move by one step of its
encoder: where the smallest of these steps recurs, and is more than what errors allow, they are too
small. An arm that is read exactly begins to move by another way each time. Of three velocities in
a row errors of e can make 4 e of a second difference; torques that change by dtau can make
h |dtau| / Ia more, as no part of the arm has less inertia than its lightest armature, and so can
the dry friction of a joint that turns round or stands among them. What is beyond that is scatter
that nobody promised. It says nothing of an arm without armature, of offsets, and of errors that
are alike from sample to sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.sets.array_copies import copy_matrix
from safe_sysid.sets.compiled import jit, part_jit

SEEN = 20.0  # samples that have to say so
COARSER = 1.5  # times what is promised
LEAST = 1e-7  # [rad] of a step; less is motion
SAME = 1e-12  # [rad]
ALIKE = 0.9  # of a step: what differs by less is the same one
UNEVEN = 0.1  # of a step: what differs by less counts
BRISK = 10.0  # [1/s] by which accelerations change without a change of torque


class DoubtedReadings:
    """Steps of positions and scatter of velocities beyond their promised errors."""

    def __init__(
        self,
        errors: tuple[Array, Array],
        least_armature: float,
        dry_friction: Array,
        acceleration: Array,
    ) -> None:
        """Take the errors promised of positions [rad] and velocities [rad/s], (n,) each."""
        self._position, self._velocity = errors
        self._friction, n = dry_friction, len(dry_friction)
        self._lightness = 1.0 / least_armature if least_armature > 0.0 else 0.0
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
            self._look(sample[None], np.array([[before, step]]))
            self._stamps = [self._stamps[1], stamp]

    def take_all(self, stamps: IntArray, samples: Array) -> None:
        """Take samples (N, 3, n), each later than the one before."""
        known = np.concatenate([self._stamps, stamps])
        steps = np.diff(known)
        self._look(samples, np.stack([steps[:-1], steps[1:]], axis=1))
        self._stamps = known[-2:].tolist()

    def _look(self, samples: Array, steps: IntArray) -> None:
        """Look at samples (N, 3, n), and at the two steps [ns] that led to each, (N, 2)."""
        seen = self._stood, self._steps, self._jumps
        allowed = self._velocity, self._brisk, self._friction
        _take(samples, self._last, seen, allowed, (steps * 1e-9, self._lightness))

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
    passed: tuple[Array, float],
) -> None:
    stood, steps, jumps = seen
    seconds, lightness = passed
    for k in range(len(seconds)):
        sample = samples[k]
        for j in range(sample.shape[1]):
            change = abs(sample[0, j] - last[0, 0, j])
            if change > SAME and stood[j] > 0.0:
                if change < ALIKE * steps[1, j]:
                    steps[0, j], steps[1, j] = 1.0, change
                elif ALIKE * change < steps[1, j]:
                    steps[0, j] += 1.0
            stood[j] = 1.0 if change <= SAME else 0.0
        before, step = seconds[k]
        if lightness > 0.0 and abs(step - before) < UNEVEN * step:
            _scattered((sample, last[0], last[1]), (before, step), allowed, lightness, jumps)
        copy_matrix(last[0], last[1])
        copy_matrix(sample, last[0])


@part_jit
def _scattered(
    three: tuple[Array, Array, Array],
    passed: tuple[float, float],
    allowed: tuple[Array, Array, Array],
    lightness: float,
    jumps: Array,
) -> None:
    """Count the velocities that depart from those before by more than is allowed."""
    new, last, first = three
    velocity, brisk, friction = allowed
    before, step = passed
    ratio, push = step / before, 0.0
    for j in range(new.shape[1]):
        push += abs(new[2, j] - last[2, j]) + abs(last[2, j] - first[2, j])
        least = min(new[1, j], last[1, j], first[1, j])
        most = max(new[1, j], last[1, j], first[1, j])
        if least <= velocity[j] and most >= -velocity[j]:
            push += 2.0 * friction[j]
    for j in range(new.shape[1]):
        bend = abs(new[1, j] - last[1, j] - ratio * (last[1, j] - first[1, j]))
        smooth = step * step * brisk[j] + step * lightness * push
        scatter = (bend - smooth) / (2.0 + 2.0 * ratio)
        if scatter > velocity[j]:
            jumps[0, j] += 1.0
            jumps[1, j] = max(jumps[1, j], scatter)
