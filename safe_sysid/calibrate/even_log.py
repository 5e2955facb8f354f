"""EvenLog: positions and torques at a constant rate, from a log whose stamps jitter."""

from __future__ import annotations

from dataclasses import dataclass
import itertools

import numpy as np
from scipy.interpolate import CubicSpline

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointLog

SHORTEST = 100  # samples: below, no filter and no fit means anything
LARGEST_GAP = 4.0  # median periods between two samples that a curve may bridge
EVEN = 1e-3  # of a period: jitter that changes nothing


@dataclass(frozen=True, eq=False)
class EvenLog:
    """What an arm did, sampled evenly."""

    rate: float  # [Hz]
    q: Array  # (N, n) [rad]
    tau: Array  # (N, n) [N m]
    begin: float = 0.0  # [s] of its first sample in the recording

    def __post_init__(self) -> None:
        if self.q.shape != self.tau.shape or self.q.ndim != 2:
            raise MeasurementError(
                f'positions have shape {self.q.shape} and torques {self.tau.shape}; both have to '
                'be samples by joints'
            )
        if len(self.q) < SHORTEST:
            raise MeasurementError(
                f'the recording has {len(self.q)} samples, at least {SHORTEST} are needed'
            )
        if not (np.isfinite(self.q).all() and np.isfinite(self.tau).all()):
            raise MeasurementError('the recording holds positions or torques that are not finite')

    @property
    def seconds(self) -> float:
        """Length [s]."""
        return len(self.q) / self.rate

    def part(self, first: float, last: float) -> EvenLog:
        """Return what lies between two shares (0 to 1) of the length."""
        piece = slice(round(first * len(self.q)), round(last * len(self.q)))
        begin = self.begin + piece.start / self.rate
        return EvenLog(self.rate, self.q[piece], self.tau[piece], begin)

    def in_time(self, delay: float) -> EvenLog:
        """Return positions with the torques that came `delay` [s] after them.

        Positions whose torques came before the first or after the last sample are left out.
        """
        if delay == 0.0:
            return self
        t = np.arange(len(self.q)) / self.rate
        kept = (t + delay >= 0.0) & (t + delay <= t[-1])
        if np.count_nonzero(kept) < SHORTEST:
            raise MeasurementError(
                f'a piece of {self.seconds:.3g} s is too short for torques that come {delay} s '
                f'after their positions: fewer than {SHORTEST} samples are left'
            )
        begin = self.begin + float(t[kept][0])
        return EvenLog(self.rate, self.q[kept], CubicSpline(t, self.tau)(t[kept] + delay), begin)


def unwrapped(log: JointLog, is_continuous: AnyArray) -> JointLog:
    """Return the log without the 2 pi jumps of continuous joints."""
    position = log.position.copy()
    position[:, is_continuous] = np.unwrap(position[:, is_continuous], axis=0)
    return JointLog(log.stamp, position, log.velocity, log.torque)


def even_logs(log: JointLog, bridged: float = 0.0) -> list[EvenLog]:
    """Return a log on an even grid of its median period, in pieces where samples are missing.

    Samples with the stamp of the one before count once. Curves bridge what is missing up to four
    periods, or up to `bridged` [s]; at a longer gap a new piece begins, and pieces of less than
    100 samples are left out.
    """
    seconds = (log.stamp - log.stamp[0]) * 1e-9 if len(log) else np.zeros(0)
    keep = np.concatenate([[True], np.diff(seconds) > 0.0])[: len(seconds)]
    t, q, tau = seconds[keep], log.position[keep], log.torque[keep]
    if len(t) < SHORTEST:
        raise MeasurementError(
            f'the log has {len(t)} samples with stamps of their own, at least {SHORTEST} are '
            'needed'
        )
    steps = np.diff(t)
    period = float(np.median(steps))
    cuts = np.flatnonzero(steps > max(LARGEST_GAP * period, bridged)) + 1
    bounds = [0, *cuts.tolist(), len(t)]
    pieces = [slice(a, b) for a, b in itertools.pairwise(bounds)]
    even = [_even(t[x], q[x], tau[x], period) for x in pieces if x.stop - x.start >= SHORTEST]
    if not even:
        raise MeasurementError(
            f'the log has {len(cuts)} gaps, the longest of {steps.max():.3g} s, and no piece of '
            f'{SHORTEST} samples between them'
        )
    return even


def _even(t: Array, q: Array, tau: Array, period: float) -> EvenLog:
    count = int((t[-1] - t[0]) / period + 0.5) + 1
    grid = np.linspace(t[0], t[-1], count)
    rate = (count - 1) / (t[-1] - t[0])
    if count == len(t) and np.abs(grid - t).max() < EVEN * period:
        return EvenLog(rate, q, tau, float(t[0]))
    return EvenLog(rate, CubicSpline(t, q)(grid), CubicSpline(t, tau)(grid), float(t[0]))
