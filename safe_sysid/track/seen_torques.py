"""What measured torques say of drives, beside what is promised of them; no proof, a clue.

Changes of a measured torque are those of the command that acts: the lag at which the two go
together best is how late torques are. What is measured then has to be within the errors of drive
and sensor of some command that may act; less than that of all of them, it was cut off. Torques
that are measured behind the gear tell of the delay only, those that are commands read back of
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors
from safe_sysid.sets.compiled import jit
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import OLDER, Sampling

LONGEST = 64  # periods of a delay that is looked for
KEPT = 256  # commands at most that a torque may come from, low-pass of the sensor included
MEMORY = 2.0  # [s] after which a sample counts for a third
ALIKE = 0.5  # correlation of changes that tells a delay
CLEARLY = 0.8  # of it, which promised delays do not come up to
SEEN = 20.0  # samples that have to say so
SHORT, BEYOND = 0, 1  # of the command: rows of `Off`
UNEVEN = 1.5  # periods between two samples with one lost between them


class _Changes(NamedTuple):
    """Sums over changes of torques from sample to sample, as shares of their limits."""

    products: Array  # (LONGEST,) of measured and commanded ones, so many periods later
    commanded: Array  # (LONGEST,) squares
    measured: Array  # (1,) squares


class _Off(NamedTuple):
    """How far measured torques were from all commands that may act, beyond their errors."""

    times: Array  # (2, n)
    most: Array  # (2, n) [N m]


class SeenTorques:
    """Compares every measured torque with those that were commanded before."""

    def __init__(self, model: RobotModel, gains: Gains, sampling: Sampling) -> None:
        n, read = model.n, torque_errors(model)
        self._sampling, sensor = sampling, model.sensors.sensing.torque.sensor
        self._echoes = sensor == 'command'
        low_pass = read.filter[1]
        late = sampling.age + low_pass * math.log(1.0 / OLDER)
        count = math.ceil(late / sampling.period) + 1
        self._within = count if count <= KEPT and sensor == 'motor' else 0
        older = sampling.older + (2.0 * OLDER * model.limits.torque if low_pass else 0.0)
        amount = read.absolute + read.friction + older
        of_drives = gains.torque_ratio + np.zeros(n), gains.torque_error + np.zeros(n)
        self._errors = np.stack([*of_drives, read.ratio, amount])
        self._scale = 1.0 / model.limits.torque
        self._fade = math.exp(-sampling.period / MEMORY)
        self._told = np.zeros((max(LONGEST, self._within) + 1, n))
        self._now, self._last = np.zeros(n), np.full(n, np.nan)
        self._known = np.zeros(1)  # rows of `told`
        self._changes = _Changes(np.zeros(LONGEST), np.zeros(LONGEST), np.zeros(1))
        self._off = _Off(np.zeros((2, n)), np.zeros((2, n)))
        self._time = -np.inf

    def take(self, t: float, measured: Array) -> None:
        """Take what is measured at a sample, before its own torque is told."""
        if t - self._time > UNEVEN * self._sampling.period:
            self.forget()
        self._time = t
        if self._echoes or measured.shape != self._now.shape:
            return
        self._now[:] = measured
        seen = self._told[: LONGEST + 1], self._known, self._last
        _changes_into(self._now, seen, self._changes, (self._scale, self._fade))
        if self._known[0] > self._within > 0:
            _off_into(self._now, self._told[: self._within], self._errors, self._off)
        self._last[:] = self._now

    def tell(self, torque: Array) -> None:
        """Note the torque that answers the sample."""
        self._told[1:] = self._told[:-1]
        self._told[0] = torque
        self._known[0] = min(self._known[0] + 1.0, len(self._told))

    def forget(self) -> None:
        """Forget commands: others act now, or the last ones act for longer."""
        self._known[0], self._last[:] = 0.0, np.nan

    @property
    def delay(self) -> float | None:
        """Time from a sample until its torque is measured [s]; None where nothing tells it."""
        correlation = self._correlation()
        lag = int(np.argmax(correlation))
        return (lag + 1) * self._sampling.period if correlation[lag] >= ALIKE else None

    def contradictions(self, names: Sequence[str]) -> str:
        """Say what measured torques speak against; empty if nothing."""
        s, said = self._sampling, []
        correlation, delay = self._correlation(), self.delay
        promised = int((s.delay + s.stamp) / s.period + 1e-6) + 2  # reading takes up to a period
        if (
            delay is not None
            and delay > (promised + 0.5) * s.period
            and correlation[:promised].max() < CLEARLY * correlation.max()
        ):
            said.append(
                f'torques are measured {1e3 * delay:.3g} ms after their samples, and are promised '
                f'to act within {1e3 * s.delay:.3g} ms'
            )
        for row, words in ((SHORT, 'less: it was cut off'), (BEYOND, 'more')):
            for j in np.flatnonzero(self._off.times[row] >= SEEN).tolist():
                most = f'{self._off.most[row, j]:.3g} N m {words}'
                said.append(f'{names[j]} has a torque that its commands do not allow for, {most}')
        return '; '.join(said)

    def _correlation(self) -> Array:
        sizes = np.sqrt(self._changes.commanded * self._changes.measured)
        return np.where(sizes > 0.0, self._changes.products / np.maximum(sizes, 1e-300), 0.0)


@jit
def _changes_into(
    measured: Array,
    seen: tuple[Array, Array, Array],
    changes: _Changes,
    weights: tuple[Array, float],
) -> None:
    """Add the changes since the last sample; what is not finite tells nothing."""
    told, known, last = seen
    scale, fade = weights
    square = 0.0
    for j in range(len(measured)):
        square += (scale[j] * (measured[j] - last[j])) ** 2
    if known[0] < len(told) or not np.isfinite(square):
        return
    changes.measured[0] = fade * changes.measured[0] + square
    for lag in range(len(told) - 1):
        product, size = 0.0, 0.0
        for j in range(len(measured)):
            change = scale[j] * (told[lag, j] - told[lag + 1, j])
            product += change * scale[j] * (measured[j] - last[j])
            size += change * change
        changes.products[lag] = fade * changes.products[lag] + product
        changes.commanded[lag] = fade * changes.commanded[lag] + size


@jit
def _off_into(measured: Array, told: Array, errors: Array, off: _Off) -> None:
    """Note torques outside of what any of these commands may make of itself."""
    for j in range(len(measured)):
        lower, upper = np.inf, -np.inf
        for row in range(len(told)):
            error = errors[0, j] * abs(told[row, j]) + errors[1, j]
            lower, upper = min(lower, told[row, j] - error), max(upper, told[row, j] + error)
        error = errors[2, j] * abs(measured[j]) + errors[3, j]
        below, above = lower - error - measured[j], measured[j] - error - upper
        most = max(below, above)
        is_short = lower > 0.0 if below > 0.0 else upper < 0.0
        row = SHORT if is_short else BEYOND
        if most > 0.0:
            off.times[row, j] += 1.0
            off.most[row, j] = max(off.most[row, j], most)
