"""Impulse of the measured torque over a window, and what it may be off.

A torque that is held between samples is integrated exactly. One that is `sampled` is integrated
by the trapezoid rule, whose error is the bend of the true torque. What the samples show of it is
wrong by the errors promised, and these are in the impulse already:

    a bend beyond them     is there; every one counts, so that jumps and kinks are covered
    a bend within them     is smooth: by Euler and Maclaurin the errors of all steps add up to
                           h^2 / 12 times what the slope changes, and that is seen over a fifth
                           of the window, where noise makes little of it

For the second part the slopes between samples `stride` apart are compared. It is never more than
what the promised errors can hide at all. In a step in which dry friction may change its sign
nothing is smooth, and everything that they can hide counts.

A sensor with a low-pass of first order reports y with y + T y' the torque, whose impulse is that
of y and T times what y changes over the window: exact, however short the window is. Of one that
is computed from sample to sample, y_k = a x_k + (1 - a) y_(k-1), it is the same with
T = h (1 - a) / a, where x_k is held until its sample. Stamps that are off by dt shift what is
between them: all changes of the torque, from sample to sample, times 2 dt.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.step_path import ROUNDING, ErrorBounds, Rule
from safe_sysid.sets.compiled import jit, part_jit

SAMPLED, HELD, HELD_UNTIL = 0, 1, 2  # as smooth as the motion; constant from or until a stamp


class TorqueSums(NamedTuple):
    """Sums over the samples of a window, per joint."""

    impulse: Array  # (n, 2) centre and radius
    newest: Array  # (3, n) torque older, before, now
    shown: Array  # (2, n) error of the trapezoids by bends beyond the errors; of the last middle
    hidden: Array  # (2, n) the same by all bends within them
    bend: Array  # (n,) beyond the errors, at the last middle [N m/s^2]
    mark: Array  # (2, n) torque and its error `stride` samples ago
    slope: Array  # (2, n) of the last stride, and its error
    turning: Array  # (2, n) changes of slope, all and the last one
    wander: Array  # (n,) changes of the torque from sample to sample, without their signs
    clock: Array  # (5,): samples, last step [s], longest step [s], since the mark [s], marks


class UnseenTorque(NamedTuple):
    """What torque readings do not show."""

    bias: Array  # (n,) [N m] that acts, and no term of a row says
    filter: Array  # (2,) [s] time constant of their low-pass, from and to
    stamp: float  # [s] errors of stamps


def empty_torque_sums(n: int) -> TorqueSums:
    """Return sums before the first sample."""
    return TorqueSums(
        impulse=np.zeros((n, 2)),
        newest=np.zeros((3, n)),
        shown=np.zeros((2, n)),
        hidden=np.zeros((2, n)),
        bend=np.zeros(n),
        mark=np.zeros((2, n)),
        slope=np.zeros((2, n)),
        turning=np.zeros((2, n)),
        wander=np.zeros(n),
        clock=np.zeros(5),
    )


@part_jit
def begin_torque(sums: TorqueSums, torque: Array, bounds: ErrorBounds) -> None:
    """Make this torque the first of a window, which may go on from the last one."""
    sums.impulse[:], sums.shown[:], sums.hidden[:] = 0.0, 0.0, 0.0
    sums.slope[:], sums.turning[:], sums.clock[:] = 0.0, 0.0, 0.0
    sums.wander[:] = 0.0
    for j in range(len(torque)):
        sums.newest[2, j] = torque[j]
        sums.mark[0, j], sums.mark[1, j] = torque[j], _error(torque[j], j, bounds)
    sums.clock[0] = 1.0


@jit
def _error(torque: float, j: int, bounds: ErrorBounds) -> float:
    return float(bounds.torque_ratio[j] * abs(torque) + bounds.torque[j])


@part_jit
def add_torque(sums: TorqueSums, torque: Array, step: float, rough: Array, rule: Rule) -> None:
    """Add the torque `step` seconds after the last.

    Rows of `rough` (2, n) are 1 where dry friction may change, in the step before and in this one.
    """
    bounds = rule.bounds
    for j in range(len(torque)):
        before, now = sums.newest[2, j], torque[j]
        sums.newest[0, j], sums.newest[1, j], sums.newest[2, j] = sums.newest[1, j], before, now
        error_before, error = _error(before, j, bounds), _error(now, j, bounds)
        sums.wander[j] += abs(now - before)
        if rule.torque == HELD:
            term, spread = step * before, step * error_before
        elif rule.torque == HELD_UNTIL:
            term, spread = step * now, step * error
        else:
            term, spread = 0.5 * step * (before + now), 0.5 * step * (error_before + error)
            if sums.clock[0] > 1.0:
                _add_bend(sums, j, step, rough[0, j] + rough[1, j] > 0.0, rule)
        total = sums.impulse[j, 0] + term
        sums.impulse[j, 0] = total
        sums.impulse[j, 1] += spread + ROUNDING * (
            abs(total) + step * (abs(now) + abs(before)) + spread
        )
    sums.clock[0] += 1.0
    sums.clock[1] = step
    sums.clock[2] = max(sums.clock[2], step)
    sums.clock[3] += step
    if rule.torque == SAMPLED and int(sums.clock[0] - 1.0) % rule.stride == 0:
        _add_turning(sums, bounds)


@part_jit
def _add_bend(sums: TorqueSums, j: int, step: float, is_rough: bool, rule: Rule) -> None:
    """Error of the trapezoids at both sides of the sample before, by the bend there.

    A step inside a window has two such middles, its ends, and a jump in it shows half at each.
    The first step has only one, which counts twice; so does the last one, when a window closes.
    A bend that changes its sign may be seen where it is nothing, so the last one counts as well.
    """
    last = sums.clock[1]
    older, before, now = sums.newest[0, j], sums.newest[1, j], sums.newest[2, j]
    bend = 2.0 * abs((now - before) / step - (before - older) / last) / (step + last)
    bounds = rule.bounds
    error = _error(before, j, bounds)
    noise = (_error(now, j, bounds) + error) / step + (error + _error(older, j, bounds)) / last
    noise *= 2.0 / (step + last)
    if is_rough:
        shown, hidden = bend + noise, 0.0
    else:
        shown = max(0.0, bend - noise)
        hidden = bend + noise - shown
    steps = rule.safety * (step**3 + last**3) / 12.0
    times = 2.0 if sums.clock[0] == 2.0 else 1.0
    shown, sums.bend[j] = max(shown, sums.bend[j]), shown
    sums.shown[0, j] += times * steps * shown
    sums.hidden[0, j] += times * steps * hidden
    sums.shown[1, j], sums.hidden[1, j] = steps * shown, steps * hidden


@jit
def _add_turning(sums: TorqueSums, bounds: ErrorBounds) -> None:
    """Compare the slope since the mark with the one before, and set the mark here."""
    elapsed = sums.clock[3]
    for j in range(len(sums.impulse)):
        torque = sums.newest[2, j]
        error = _error(torque, j, bounds)
        slope = (torque - sums.mark[0, j]) / elapsed
        slope_error = (error + sums.mark[1, j]) / elapsed
        if sums.clock[4] > 0.0:
            change = abs(slope - sums.slope[0, j]) + slope_error + sums.slope[1, j]
            sums.turning[0, j] += change if sums.clock[4] > 1.0 else 2.0 * change
            sums.turning[1, j] = change
        sums.slope[0, j], sums.slope[1, j] = slope, slope_error
        sums.mark[0, j], sums.mark[1, j] = torque, error
    sums.clock[3] = 0.0
    sums.clock[4] += 1.0


@part_jit
def bend_of_torque(sums: TorqueSums, j: int, rule: Rule) -> float:
    """Return what the trapezoids of a window may be off; a slope counts twice at both ends."""
    shown, hidden = sums.shown[0, j] + sums.shown[1, j], sums.hidden[0, j] + sums.hidden[1, j]
    if sums.clock[4] > 1.0:
        turning = sums.turning[0, j] + sums.turning[1, j]
        hidden = min(hidden, rule.safety * sums.clock[2] ** 2 / 12.0 * turning)
    return float(shown + hidden)


@part_jit
def lag_of_torque(
    sums: TorqueSums, first: float, j: int, unseen: UnseenTorque, bounds: ErrorBounds
) -> tuple[float, float]:
    """Return what a low-pass and wrong stamps keep of an impulse, centre and radius.

    `first` is the torque that the window began with.
    """
    last = sums.newest[2, j]
    middle = 0.5 * (unseen.filter[0] + unseen.filter[1])
    spread = 0.5 * (unseen.filter[1] - unseen.filter[0])
    centre = middle * (last - first)
    radius = spread * abs(last - first) + 2.0 * unseen.stamp * sums.wander[j]
    radius += (middle + spread) * (_error(first, j, bounds) + _error(last, j, bounds))
    return centre, radius + ROUNDING * (abs(centre) + radius)
