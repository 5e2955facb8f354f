"""What the velocities of a driver are beside its positions: a difference, a signal, or neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.commission_finding import Agreement
from safe_sysid.measure.recording import Recording
from safe_sysid.model.signal_facts import VelocityFacts

APART = (1, 2, 3, 4, 8, 16, 32)  # samples between two positions; far ones see through steps
MOST_LAGS = 20  # samples by which a velocity may be late
MOVES = 0.02  # [rad/s] in which a velocity is compared
EXACT = 1e-3  # share of a velocity that a difference of positions leaves
UNLIKE = 0.1  # share that its differences may leave unexplained, or by which it may be larger


@dataclass(frozen=True)
class VelocitySeen:
    """The difference of positions that velocities are nearest to."""

    samples: int  # between the two positions
    late: int  # samples by which it comes after the later one; negative: before
    rest: float  # share of the velocity that is left
    period: float  # [s]
    gains: dict[str, float]  # times the slope of positions, of joints where that is not 1

    @property
    def lag(self) -> float:
        """Time by which it is behind the positions [s]."""
        return self.period * (0.5 * self.samples + self.late)

    @property
    def is_unlike(self) -> bool:
        """Whether it is no velocity of these positions."""
        return self.rest > UNLIKE or bool(self.gains)

    @property
    def is_difference(self) -> bool:
        """Whether it is the difference of two positions that came before."""
        return self.rest < EXACT and self.late >= 0 and not self.gains

    def agreement(self, facts: VelocityFacts | None) -> Agreement:
        """Return whether it is what the arm's file says."""
        if self.is_unlike:
            return Agreement.DIFFERS
        if facts is None:
            return Agreement.NEW
        behind = facts.filter + facts.lag
        if facts.source == 'difference':
            behind += 0.5 * facts.samples * self.period
        is_blurred = facts.filter + facts.lag > 0.0 or any(facts.step)
        if facts.source == 'driver' or is_blurred:
            is_same = self.lag <= behind + self.period
        else:
            is_same = self.is_difference and (self.samples, self.late) == (facts.samples, 0)
        return Agreement.AGREES if is_same else Agreement.DIFFERS

    def __str__(self) -> str:
        if self.gains:
            each = ', '.join(f'{name} {gain:.3g} times' for name, gain in self.gains.items())
            return (
                f'not the slope of positions, but {each} that: another unit (a degree per second '
                'is 57.3 times), or another sign'
            )
        if self.is_unlike:
            return f'nothing like the slope of positions ({100 * self.rest:.0f} % of it are left)'
        if self.is_difference:
            return (
                f'the difference of positions {self.samples} samples apart, {self.late} samples '
                'late'
            )
        if abs(self.lag) <= 0.5 * self.period:
            return 'a signal of its own, at the time of the positions'
        side = 'behind' if self.lag > 0.0 else 'ahead of'
        return f'a signal of its own, about {1e3 * abs(self.lag):.3g} ms {side} the positions'


def velocity_seen(recording: Recording) -> VelocitySeen | None:
    """Return what reported velocities are; None where too little moves."""
    assert recording.velocity is not None
    v, q, t = recording.velocity, recording.position, recording.seconds()
    fastest = int(np.argmax(np.abs(v).max(axis=0)))
    if np.abs(v[:, fastest]).max() < MOVES:
        return None
    best = (np.inf, 0, 0)
    for samples in APART:
        slope = _slope(q[:, fastest], t, samples)
        for late in range(-samples, min(MOST_LAGS, len(slope) // 2)):
            rest = _rest(*_beside(slope, v[:, fastest], samples + late))
            if rest < best[0] - 1e-6:
                best = (rest, samples, late)
    rest, samples, late = best
    gains = {}
    for j, name in enumerate(recording.joints):
        seen, told = _beside(_slope(q[:, j], t, samples), v[:, j], samples + late)
        moves = min(np.abs(seen).max(), np.abs(told).max()) >= MOVES
        gain = _gain(told, seen)
        if moves and _rest(seen, told) <= UNLIKE and abs(gain - 1.0) > UNLIKE:
            gains[name] = gain
    return VelocitySeen(samples, late, rest, recording.timing.period, gains)


def _slope(q: Array, t: Array, samples: int) -> Array:
    slope: Array = (q[samples:] - q[:-samples]) / (t[samples:] - t[:-samples])
    return slope


def _beside(slope: Array, v: AnyArray, shift: int) -> tuple[Array, Array]:
    """Slopes and velocities that come so many samples after the first position of each."""
    count = min(len(slope), len(v) - shift)
    return slope[:count], v[shift : shift + count]


def _rest(seen: Array, told: Array) -> float:
    """Share of a velocity that no multiple of a slope explains."""
    size = float(np.linalg.norm(told))
    return float(np.linalg.norm(told - _gain(told, seen) * seen)) / size if size > 0.0 else 0.0


def _gain(told: Array, seen: Array) -> float:
    size = float(seen @ seen)
    return float(told @ seen) / size if size > 0.0 else 1.0
