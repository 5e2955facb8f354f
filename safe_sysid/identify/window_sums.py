"""Compiled sums of one window of samples: momentum change, integrals and their errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.dynamics.interval_regressors import momentum_balls_into
from safe_sysid.model.robot_model import Tree
from safe_sysid.sets.compiled import jit

ROUNDING = 2.0**-50  # 8 units: more than the rounding of the few operations of one term


SAMPLED, HELD, HELD_UNTIL = 0, 1, 2  # as smooth as the motion; constant from or until a stamp


class ErrorBounds(NamedTuple):
    """How wrong a sample may be, per joint."""

    position: Array  # (n,) [rad]
    velocity: Array  # (n,) [rad/s]
    torque_ratio: Array  # (n,) of the measured torque
    torque: Array  # (n,) [N m]


class Rule(NamedTuple):
    """How a window is integrated."""

    trapezoid: bool  # smooth terms by the trapezoid rule, otherwise forward Euler
    torque: int  # what it does between samples: SAMPLED, HELD or HELD_UNTIL
    safety: float  # times the derivative seen in the samples bounds the one between them


class Knowns(NamedTuple):
    """What a window is closed with besides its samples."""

    order: IntArray  # (14 n,) columns of a row: end effector, then all others
    armature: int  # first column of Ia
    velocity_error: Array  # (n,) [rad/s]
    largest: Array  # (14 n,) bounds |theta|


class WindowSums(NamedTuple):
    """Sums over the samples so far; arrays (n, 14 n, 2) hold centre and radius of every entry."""

    momentum_first: Array
    momentum: Array
    rate: Array  # W_c of the newest sample
    rate_before: Array
    rate_older: Array
    integral: Array  # of W_c
    remainder: Array  # (n, 14 n) of its quadrature
    remainder_end: Array  # (n, 14 n) of the last two cells, counted once more at the end
    state: Array  # (3, n): torque older, before, now
    impulse: Array  # (n, 2) of the torque
    impulse_remainder: Array  # (n,) of its quadrature
    impulse_remainder_end: Array  # (n,)
    velocity: Array  # (2, n): first and newest
    clock: Array  # (3,): samples, last step [s], sum of step^3 / 12


def empty_sums(n: int) -> WindowSums:
    """Sums before the first sample."""
    shapes = {
        'remainder': (n, 14 * n),
        'remainder_end': (n, 14 * n),
        'state': (3, n),
        'impulse': (n, 2),
        'impulse_remainder': (n,),
        'impulse_remainder_end': (n,),
        'velocity': (2, n),
        'clock': (3,),
    }
    return WindowSums(
        **{name: np.zeros(shapes.get(name, (n, 14 * n, 2))) for name in WindowSums._fields}
    )


@jit
def add_sample(
    tree: Tree, sums: WindowSums, sample: Array, step: float, bounds: ErrorBounds, rule: Rule
) -> None:
    """Add one sample, rows q, qd, tau of (3, n), taken `step` seconds after the one before."""
    n = len(tree.parent)
    q, qd = np.empty((n, 2)), np.empty((n, 2))
    for j in range(n):
        q[j, 0], q[j, 1] = sample[0, j], bounds.position[j]
        qd[j, 0], qd[j, 1] = sample[1, j], bounds.velocity[j]
    sums.rate_older[:] = sums.rate_before
    sums.rate_before[:] = sums.rate
    momentum_balls_into(tree, q, qd, sums.momentum[:, : 10 * n], sums.rate[:, : 10 * n])
    for j in range(n):
        sums.rate[j, 11 * n + j, 0], sums.rate[j, 11 * n + j, 1] = -qd[j, 0], qd[j, 1]
        sums.rate[j, 13 * n + j, 0] = -1.0
        sums.state[0, j], sums.state[1, j] = sums.state[1, j], sums.state[2, j]
        sums.state[2, j] = sample[2, j]
    samples = int(sums.clock[0])
    sums.clock[0] += 1.0
    if samples == 0:
        sums.momentum_first[:] = sums.momentum
        sums.velocity[0] = sample[1]
        sums.velocity[1] = sample[1]
        return
    _integrate_rate(sums, step, samples, rule)
    _integrate_coulomb(sums, sample[1], step, bounds)
    _integrate_torque(sums, step, samples, bounds, rule)
    sums.velocity[1] = sample[1]
    sums.clock[1] = step
    sums.clock[2] += step * step * step / 12.0


@jit
def _integrate_rate(sums: WindowSums, step: float, samples: int, rule: Rule) -> None:
    """Add the cell between the last two samples to the integral of W_c and to its remainder."""
    n, columns = sums.remainder.shape
    last = sums.clock[1]
    cells = rule.safety * (step**3 + last**3) / 12.0
    times = _times_counted(samples)
    for j in range(n):
        for c in range(columns):
            now, before = sums.rate[j, c, 0], sums.rate_before[j, c, 0]
            radius, radius_before = sums.rate[j, c, 1], sums.rate_before[j, c, 1]
            if rule.trapezoid:
                term = 0.5 * step * (before + now)
                spread = 0.5 * step * (radius_before + radius)
                if samples > 1:
                    bend = _second_difference(now, before, sums.rate_older[j, c, 0], step, last)
                    sums.remainder[j, c] += times * cells * bend
                    sums.remainder_end[j, c] = cells * bend
            else:
                term, spread = step * before, step * radius_before
                sums.remainder[j, c] += rule.safety * 0.5 * step * abs(now - before)
            total = sums.integral[j, c, 0] + term
            sums.integral[j, c, 0] = total
            sums.integral[j, c, 1] += spread + ROUNDING * (
                abs(total) + step * (abs(now) + abs(before)) + spread
            )


@jit
def _times_counted(samples: int) -> float:
    """How often the bend at the middle of three samples counts for the two cells there.

    A cell inside a window has two such middles, its ends, and a jump in it shows half at each.
    The first cell has only one, which therefore counts twice; for the last one `remainder_end`.
    """
    return 2.0 if samples == 2 else 1.0


@jit
def _second_difference(now: float, before: float, older: float, step: float, last: float) -> float:
    """Size of the second derivative at the middle of three samples."""
    return 2.0 * abs((now - before) / step - (before - older) / last) / (step + last)


@jit
def _integrate_coulomb(sums: WindowSums, qd: Array, step: float, bounds: ErrorBounds) -> None:
    """Integral of -sign(qd); where the sign is not certain it is anything in [-1, 1]."""
    n = len(qd)
    for j in range(n):
        slower = min(sums.velocity[1, j], qd[j]) - bounds.velocity[j]
        faster = max(sums.velocity[1, j], qd[j]) + bounds.velocity[j]
        ball = sums.integral[j, 10 * n + j]
        if slower > 0.0:
            ball[0] -= step
        elif faster < 0.0:
            ball[0] += step
        else:
            ball[1] += step
        ball[1] += ROUNDING * (abs(ball[0]) + step)


@jit
def _integrate_torque(
    sums: WindowSums, step: float, samples: int, bounds: ErrorBounds, rule: Rule
) -> None:
    """Impulse of the torque over the cell, and its error."""
    last = sums.clock[1]
    cells = rule.safety * (step**3 + last**3) / 12.0
    times = _times_counted(samples)
    for j in range(sums.impulse.shape[0]):
        older, before, now = sums.state[0, j], sums.state[1, j], sums.state[2, j]
        error_before = bounds.torque_ratio[j] * abs(before) + bounds.torque[j]
        error = bounds.torque_ratio[j] * abs(now) + bounds.torque[j]
        if rule.torque == HELD:
            term, spread = step * before, step * error_before
        elif rule.torque == HELD_UNTIL:
            term, spread = step * now, step * error
        else:
            term, spread = 0.5 * step * (before + now), 0.5 * step * (error_before + error)
            if samples > 1:
                bend = _second_difference(now, before, older, step, last)
                sums.impulse_remainder[j] += times * cells * bend
                sums.impulse_remainder_end[j] = cells * bend
        total = sums.impulse[j, 0] + term
        sums.impulse[j, 0] = total
        sums.impulse[j, 1] += spread + ROUNDING * (
            abs(total) + step * (abs(now) + abs(before)) + spread
        )


@jit
def close_window(sums: WindowSums, knowns: Knowns, curvature: Array, table: Array) -> None:
    """Fill rows [A | impulse | delta] of (n, 14 n + 2), A in the order of `knowns.order`.

    An empty `curvature` leaves quadrature errors to the remainders that the samples showed.
    """
    n, columns = sums.remainder.shape
    growth = (
        1.0 + (columns + sums.clock[0]) * ROUNDING
    )  # of the longest sums that delta is made of
    for j in range(n):
        spread = 0.0
        quadrature = sums.impulse_remainder[j] + sums.impulse_remainder_end[j]
        for place in range(columns):
            c = knowns.order[place]
            change = sums.momentum[j, c, 0] - sums.momentum_first[j, c, 0]
            entry = change - sums.integral[j, c, 0]
            radius = sums.momentum[j, c, 1] + sums.momentum_first[j, c, 1] + sums.integral[j, c, 1]
            radius += ROUNDING * (abs(change) + abs(entry) + radius)
            if c == knowns.armature + j:
                entry = sums.velocity[1, j] - sums.velocity[0, j]
                radius = 2.0 * knowns.velocity_error[j] + ROUNDING * abs(entry)
            table[j, place] = entry
            spread += radius * knowns.largest[c]
            quadrature += (sums.remainder[j, c] + sums.remainder_end[j, c]) * knowns.largest[c]
        if len(curvature) > 0:
            quadrature = curvature[j] * sums.clock[2]
        table[j, columns] = sums.impulse[j, 0]
        table[j, columns + 1] = (sums.impulse[j, 1] + quadrature + spread) * growth + 1e-300


@jit
def begin_again(sums: WindowSums) -> None:
    """Make the newest sample the first of the next window."""
    sums.momentum_first[:] = sums.momentum
    sums.velocity[0] = sums.velocity[1]
    sums.integral[:] = 0.0
    sums.remainder[:] = 0.0
    sums.remainder_end[:] = 0.0
    sums.impulse[:] = 0.0
    sums.impulse_remainder[:] = 0.0
    sums.impulse_remainder_end[:] = 0.0
    sums.clock[0], sums.clock[1], sums.clock[2] = 1.0, 0.0, 0.0
