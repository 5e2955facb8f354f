"""Recording: what a driver reported, sample by sample, and what is wrong with its stamps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.differences import Stencil
from safe_sysid.measure.joint_log import JointLog

GAP = 2.0  # a step longer than this many sample times is a gap
BACKWARD_SHARE = 0.01  # more backward stamps than this are not stragglers: the clock was set
GAPS_NAMED = 5
LARGEST = 1e6  # in SI units; what is larger is no reading of a joint
JUMP = 0.5  # [rad] from both neighbours, which agree to a tenth of it
SPIKE = 20.0  # times what 99 of 100 efforts, or 9 of 10 steps of a position, reach
TORN_SHARE = 0.01  # more samples than that are not torn by chance
SLOPE = 0.005  # [s] to each side, for velocities from positions: less shows the encoder's steps


@dataclass(frozen=True)
class Timing:
    """What the stamps of a recording are like."""

    samples: int  # that are kept
    seconds: float  # from the first to the last of them
    period: float  # [s] median step
    jitter: float  # [s] 99 of 100 steps are this close to the median
    longest_step: float  # [s]
    gaps: tuple[tuple[float, float], ...]  # when [s] and how long [s], the longest first
    duplicates: int  # samples with the stamp of the one before, left out
    backward: int  # samples older than one before, left out
    not_finite: int  # samples with a nan or an infinity, left out
    repeated: int  # samples kept whose numbers are exactly those of the one before
    torn: int = 0  # samples unlike both of their neighbours, left out

    def sentences(self) -> tuple[str, ...]:
        """Return what a person has to know about the stamps."""
        return (
            f'{self.samples} samples in {self.seconds:.3f} s, one per {1e3 * self.period:.4g} ms '
            f'(99 % within {1e3 * self.jitter:.3g} ms of that, '
            f'longest step {1e3 * self.longest_step:.4g} ms)',
            *self._defects(),
        )

    def _defects(self) -> list[str]:
        found = []
        if self.gaps:
            named = ', '.join(f'{1e3 * long:.4g} ms at {at:.3f} s' for at, long in self.gaps)
            found.append(f'gaps, the longest first: {named}')
        counted = {
            'with the stamp of the sample before left out': self.duplicates,
            'older than a sample before left out': self.backward,
            'with numbers that are not finite left out': self.not_finite,
            'that jump away from both of their neighbours left out': self.torn,
            'exactly like the sample before, as if the driver had nothing new': self.repeated,
        }
        return found + [f'{count} samples {what}' for what, count in counted.items() if count]


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples in the order of their stamps, each stamp once, as the driver reported them."""

    source: str
    joints: tuple[str, ...]
    stamp: IntArray  # (N,) [ns]
    position: Array  # (N, n) [rad]
    velocity: Array | None  # (N, n) [rad/s], none where the driver reports no velocity
    effort: Array  # (N, n) in the driver's sign and unit
    timing: Timing
    remarks: tuple[str, ...]  # what was odd about the file, in sentences
    is_torque: bool = False  # whether effort is joint torque [N m], as a loop of ours records it

    def __len__(self) -> int:
        return len(self.stamp)

    def seconds(self) -> Array:
        """Time of every sample since the first [s]."""
        elapsed: Array = (self.stamp - self.stamp[0]) * 1e-9
        return elapsed

    def as_driver(self, torque_per_unit: Array) -> Recording:
        """Return the same with effort as the driver of the arm would have reported it."""
        if not self.is_torque:
            return self
        remark = 'recorded by a loop: its effort is joint torque, whatever the driver reports'
        effort, remarks = self.effort / torque_per_unit, (*self.remarks, remark)
        return replace(self, effort=effort, remarks=remarks, is_torque=False)

    def between(self, start: float, end: float) -> Recording:
        """Return samples from `start` to `end`, seconds since the first sample."""
        elapsed = self.stamp - self.stamp[0]
        kept = (elapsed >= start * 1e9 - 0.5) & (elapsed <= end * 1e9 + 0.5)
        if np.count_nonzero(kept) < 3:
            number, lasts = np.count_nonzero(kept), f'{elapsed[-1] * 1e-9:.3f} s'
            part = f'from {start:g} to {end:g} s' if np.isfinite(end) else f'after {start:g} s'
            raise MeasurementError(
                f'{self.source}: {number} samples {part}; the recording lasts {lasts}'
            )
        velocity = None if self.velocity is None else self.velocity[kept]
        stamp, position, effort = self.stamp[kept], self.position[kept], self.effort[kept]
        dropped = replace(self.timing, duplicates=0, backward=0, not_finite=0, torn=0)
        timing = _timing(stamp, (position, effort), dropped)
        return replace(
            self,
            stamp=stamp,
            position=position,
            velocity=velocity,
            effort=effort,
            timing=timing,
        )

    def log(self, effort_sign: Array, effort_scale: Array) -> JointLog:
        """As joint torques in N m and the sense of the joint axes.

        Where the driver reports no velocity it is a central difference of the positions; samples
        without neighbours to take it from, at the ends and beside gaps, are left out.
        """
        torque = self.effort * effort_sign * effort_scale
        if self.velocity is not None:
            return JointLog(self.stamp, self.position, self.velocity, torque)
        stencil = self._stencil
        kept, velocity = stencil.at, stencil.slopes(self.position)
        return JointLog(self.stamp[kept], self.position[kept], velocity, torque[kept])

    @property
    def difference_gain(self) -> float:
        """Error of such a velocity over that of the positions [1/s], at most."""
        return self._stencil.gain

    @property
    def _stencil(self) -> Stencil:
        return Stencil.of(self.seconds(), self.stride)

    @property
    def stride(self) -> int:
        """Samples from one to those before and after it that its velocity is taken from."""
        longest = (len(self) - 3) // 2
        return min(max(1, round(SLOPE / self.timing.period)), max(1, longest))


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows of a file before anything was checked."""

    stamp: IntArray  # (N,) [ns]
    position: Array  # (N, n)
    velocity: Array | None  # (N, n)
    effort: Array  # (N, n)


def recording_of(
    source: str, joints: tuple[str, ...], samples: Samples, remarks: tuple[str, ...]
) -> Recording:
    """Leave out what has no place in a recording, and say how much that was."""
    count = len(samples.stamp)
    samples, unrecorded = _with_velocities(samples, joints)
    remarks = (*remarks, *unrecorded)
    quantities = {
        'position': samples.position, 'effort': samples.effort, 'velocity': samples.velocity,
    }  # fmt: skip
    each = {name: _finite(values, count) for name, values in quantities.items()}
    finite = np.logical_and.reduce(list(each.values()))
    torn = finite & _torn(samples)
    if np.count_nonzero(torn) > TORN_SHARE * len(torn):
        listed = ', '.join(str(i + 1) for i in np.flatnonzero(torn)[:5])
        raise MeasurementError(
            f'{source}: {np.count_nonzero(torn)} of {len(torn)} samples jump away from both of '
            f'their neighbours, first numbers {listed}: rows are torn, or columns are exchanged'
        )
    finite &= ~torn
    stamp = samples.stamp[finite]
    if len(stamp) < 3:
        lacking = [
            f'{name} in {np.count_nonzero(~rows)}' for name, rows in each.items() if not rows.all()
        ]
        why = f' (of {count}: not finite are {", ".join(lacking)})' if lacking else ''
        raise MeasurementError(
            f'{source}: {len(stamp)} samples of {", ".join(joints)} with finite numbers{why}; '
            '3 or more are needed'
        )
    newest = np.maximum.accumulate(stamp)[:-1]
    forward = np.concatenate([[True], stamp[1:] > newest])
    backward = int(np.count_nonzero(stamp[1:] < newest))
    if backward > BACKWARD_SHARE * len(stamp):
        first = 1 + int(np.flatnonzero(stamp[1:] < newest)[0])
        raise MeasurementError(
            f'{source}: {backward} of {len(stamp)} samples are older than one before them, first '
            f'number {first} by {(newest[first - 1] - stamp[first]) * 1e-9:.6g} s; the clock was '
            'set while recording: cut the recording there'
        )
    counted = Timing(
        0, 0.0, 0.0, 0.0, 0.0, (),
        duplicates=int(np.count_nonzero(stamp[1:] == newest)),
        backward=backward,
        not_finite=int(np.count_nonzero(~finite & ~torn)),
        repeated=0,
        torn=int(np.count_nonzero(torn)),
    )  # fmt: skip
    indices = np.flatnonzero(finite)[forward]
    kept: AnyArray | slice = indices
    if len(indices) == len(samples.stamp):
        kept = slice(None)  # nothing is left out, and nothing of a long recording copied
    stamp, position, effort = samples.stamp[kept], samples.position[kept], samples.effort[kept]
    velocity = None if samples.velocity is None else samples.velocity[kept]
    timing = _timing(stamp, (position, effort), counted)
    return Recording(source, joints, stamp, position, velocity, effort, timing, remarks)


def _with_velocities(samples: Samples, joints: tuple[str, ...]) -> tuple[Samples, list[str]]:
    """Leave out velocities of which no sample is finite, and say so: a driver has none."""
    velocity, count = samples.velocity, len(samples.stamp)
    if velocity is None or not count or _finite(velocity, count).any():
        return samples, []
    never = [not _finite(column[:, None], count).any() for column in velocity.T]
    named = [name for name, has_none in zip(joints, never, strict=True) if has_none] or joints
    return replace(samples, velocity=None), [
        f'no sample has finite velocities ({", ".join(named)}): they count as not recorded, and '
        'differences of the positions are taken'
    ]


def _torn(samples: Samples) -> AnyArray:
    """Return which samples are unlike both of their neighbours, as half-written rows are.

    A whole turn makes no difference: a joint that stands where its driver begins a new turn is
    reported at both ends of it.
    """
    torn = np.zeros(len(samples.position), dtype=bool)
    if len(torn) < 3:
        return torn
    for q in samples.position.T:
        q = np.nan_to_num(q)
        steps = _way(q[1:], q[:-1])
        least = max(JUMP, SPIKE * float(np.quantile(steps, 0.9)))
        lonely = np.minimum(steps[:-1], steps[1:]) > least
        torn[1:-1] |= lonely & (_way(q[2:], q[:-2]) < 0.1 * least)
    for effort in samples.effort.T:
        size = np.abs(np.nan_to_num(effort))
        usual = float(np.quantile(size, 0.99))
        spike = size > SPIKE * usual
        torn[1:-1] |= spike[1:-1] & ~spike[:-2] & ~spike[2:] & (usual > 0.0)
    return torn


def _way(q: Array, before: Array) -> Array:
    """Return how far apart two positions are [rad], but for one turn."""
    way = np.abs(q - before)
    shorter: Array = np.minimum(way, np.abs(way - 2.0 * np.pi))
    return shorter


def _finite(values: Array | None, count: int) -> AnyArray:
    """Return which rows are readings of joints, without a copy of all of them."""
    finite = np.ones(count, dtype=bool)
    for column in () if values is None else values.T:
        finite &= np.abs(column) < LARGEST
    return finite


def _timing(stamp: IntArray, values: tuple[Array, ...], dropped: Timing) -> Timing:
    if len(stamp) < 3:
        raise MeasurementError(
            f'{len(stamp)} samples with stamps of their own; 3 or more are needed'
        )
    steps = np.diff(stamp) * 1e-9
    same = [(array[1:] == array[:-1]).all(axis=1) for array in values]
    period = float(np.median(steps))
    gaps = np.flatnonzero(steps > GAP * period)
    longest = gaps[np.argsort(-steps[gaps], kind='stable')][:GAPS_NAMED]
    return replace(
        dropped,
        samples=len(stamp),
        seconds=float((stamp[-1] - stamp[0]) * 1e-9),
        period=period,
        jitter=float(np.quantile(np.abs(steps - period), 0.99)),
        longest_step=float(steps.max()),
        gaps=tuple((float((stamp[i] - stamp[0]) * 1e-9), float(steps[i])) for i in longest),
        repeated=int(np.count_nonzero(np.logical_and.reduce(same))),
    )
