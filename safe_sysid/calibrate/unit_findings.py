"""Units of a recording that are not SI, named by evidence: time, positions, velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.filters import derivative, zero_phase
from safe_sysid.measure.recording import Recording
from safe_sysid.model.tree import JointLimits

PERIODS = (1e-4, 0.2)  # [s] between samples of any driver
BEYOND = 1.2  # times the position limits is no reading in radians
NEARLY_ALL = 0.98  # share of samples
DEGREE = np.pi / 180.0
SAME = 0.05  # of a slope
MOVES = 0.02  # [rad/s] rms speed of a joint that tells a scale
MANY = 3  # samples to a stamp that no logger takes at one time
TURN = 2.0 * np.pi
SMOOTH = 5.0  # [Hz] of velocities that are compared
FEWEST = 50  # samples of them
VELOCITIES = (  # what velocities are, by how many times the slope of positions
    (1.0 / DEGREE, 'degrees per second'),
    (30.0 / np.pi, 'turns per minute'),
    (1.0 / TURN, 'turns per second'),
    (DEGREE, 'taken for degrees and made radians twice'),
    (-1.0, 'counted the other way round'),
    (10.0, 'ten times too large, if the positions are not a tenth of what they should be'),
    (0.1, 'a tenth of what they should be, if the positions are not ten times too large'),
)


@dataclass(frozen=True)
class UnitFinding:
    """One quantity in another unit, by what evidence, and what to do."""

    quantity: str
    sentence: str
    off: tuple[float, ...] = ()  # [rad/s] of velocities off the slope of positions, rms by joint


def unit_findings(recording: Recording, limits: JointLimits) -> tuple[UnitFinding, ...]:
    """Return everything that is not in seconds, radians and radians per second."""
    time = _time(recording)
    if time is not None:
        return (time,)  # velocities cannot be told without it
    found = [
        position_finding(recording.position, recording.joints, limits),
        _velocities(recording),
    ]
    return tuple(x for x in found if x is not None)


def remarks_on_units(recording: Recording, limits: JointLimits) -> tuple[str, ...]:
    """Raise a MeasurementError about times and positions, and return what velocities are like.

    Velocities of a driver have no part in what is computed from positions.
    """
    found = unit_findings(recording, limits)
    serious = [x.sentence for x in found if x.quantity != 'velocity']
    if serious:
        raise MeasurementError(f'{recording.source}: ' + '; '.join(serious))
    return tuple(f'{x.sentence} (not used here)' for x in found)


def _time(recording: Recording) -> UnitFinding | None:
    period = recording.timing.period
    if PERIODS[0] <= period <= PERIODS[1]:
        return None
    if recording.timing.duplicates > MANY * recording.timing.samples:
        return UnitFinding(
            'time',
            f'{recording.timing.duplicates} samples have the stamp of the one before, and stamps '
            f'are {period:.4g} s apart: they were written with too few digits; write more, or '
            'leave the column out and give --rate',
        )
    for factor, unit in ((1e-3, 'milliseconds'), (1e-6, 'microseconds'), (1e-9, 'nanoseconds')):
        if PERIODS[0] <= factor * period <= PERIODS[1]:
            return UnitFinding(
                'time',
                f'samples are {period:.4g} s apart if times are seconds: they are '
                f'{unit}; multiply the column by {factor:g}',
            )
    return UnitFinding(
        'time',
        f'samples are {period:.4g} s apart, {PERIODS[0]:g} to {PERIODS[1]:g} s are allowed: '
        'the column of the time is another one, or the rate is wrong',
    )


def position_finding(q: Array, joints: tuple[str, ...], limits: JointLimits) -> UnitFinding | None:
    """Compare positions (N, n) with their limits."""
    outside = ~_within(q, limits)
    if not outside.any():
        return None
    names = ', '.join(joints[j] for j in np.flatnonzero(outside))
    if _within(q * DEGREE, limits).all() and np.abs(q).max() > 2.0 * np.pi:
        return UnitFinding(
            'position',
            f'positions of {names} are beyond their limits as radians and within them as '
            f'degrees: multiply them by {DEGREE:.6g}',
        )
    return UnitFinding(
        'limit',
        f'positions of {names} are beyond {BEYOND:g} times their limits: another unit, joint or '
        'zero than in the URDF',
    )


def _within(q: Array, limits: JointLimits) -> AnyArray:
    """Return which joints are nearly always inside their limits, (n,)."""
    lower, upper = limits.position_lower, limits.position_upper
    is_limited = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
    low, high = np.where(is_limited, lower, 0.0), np.where(is_limited, upper, 0.0)
    inside = np.abs(q - 0.5 * (low + high)) <= BEYOND * 0.5 * (high - low)
    share: AnyArray = (inside | ~is_limited).mean(axis=0) >= NEARLY_ALL
    return share


def _velocities(recording: Recording) -> UnitFinding | None:
    """Compare reported velocities with the slope of positions."""
    if recording.velocity is None or len(recording) < FEWEST:
        return None
    rate = 1.0 / recording.timing.period
    t = _without_gaps(recording.seconds())
    grid = np.arange(0.0, t[-1], 1.0 / rate)
    slope, reported = (
        zero_phase(np.column_stack([np.interp(grid, t, x) for x in values.T]), rate, SMOOTH)
        for values in (recording.position, recording.velocity)
    )
    kept = _recorded(grid, t)
    slope, reported = derivative(slope, rate)[kept], reported[kept]
    if len(slope) < FEWEST:
        return None
    moves = np.sqrt(np.mean(slope**2, axis=0)) > MOVES
    if not moves.any():
        return None
    scale = np.sum(slope * reported, axis=0)[moves] / np.sum(slope**2, axis=0)[moves]
    typical = float(np.median(scale))
    if abs(typical - 1.0) <= SAME:
        return None
    if abs(typical / TURN - 1.0) <= SAME:
        return UnitFinding(
            'position',
            f'velocities are {typical:.4g} times the slope of the positions: these are turns; '
            f'multiply them by {TURN:.6g}, or leave the velocities out if those are wrong',
        )
    off = tuple(np.sqrt(np.mean((reported - slope) ** 2, axis=0)).tolist())
    return UnitFinding('velocity', _like(typical), off)


def _like(typical: float) -> str:
    """Say what velocities are that are so many times the slope of the positions."""
    factor, words = min(VELOCITIES, key=lambda each: abs(typical / each[0] - 1.0))
    if abs(typical / factor - 1.0) <= SAME:
        return (
            f'velocities are {typical:.4g} times the slope of the positions: {words}; '
            f'multiply them by {1.0 / factor:.6g}, or leave them out'
        )
    if abs(typical) < SAME:
        return 'velocities are 0 while positions move: the driver reports none'
    return f'velocities are {typical:.4g} times the slope of the positions'


def _without_gaps(t: Array) -> Array:
    """Return times in which no gap lasts long: a clock that is set jumps by hours or years."""
    steps = np.minimum(np.diff(t), 4.0 / SMOOTH)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _recorded(grid: Array, t: Array) -> AnyArray:
    """Return which times are at least one period of the filter away from every gap."""
    kept = np.ones(len(grid), dtype=bool)
    for i in np.flatnonzero(np.diff(t) > 0.5 / SMOOTH):
        kept &= (grid < t[i] - 1.0 / SMOOTH) | (grid > t[i + 1] + 1.0 / SMOOTH)
    return kept
