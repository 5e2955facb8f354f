"""Compiled sums of one window of samples: momentum change, integrals and their errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.identify.step_path import (
    ROUNDING,
    TURN,
    Rule,
    may_reverse,
    middle_of_step,
    whole_turns,
)
from safe_sysid.identify.torque_impulse import (
    TorqueSums,
    UnseenTorque,
    add_torque,
    begin_torque,
    bend_of_torque,
    empty_torque_sums,
    lag_of_torque,
)
from safe_sysid.model.dynamics.interval_regressors import (
    STATE,
    Ball,
    momentum_balls_into,
    moved_by,
    put_state,
    rate_balls_in_lanes,
    work_rows,
)
from safe_sysid.model.tree import Tree
from safe_sysid.sets.array_copies import copy_matrices, copy_matrix
from safe_sysid.sets.compiled import inline_jit, jit, part_jit
from safe_sysid.sets.lanes import LANES


class Knowns(NamedTuple):
    """What a window is closed with besides its samples."""

    window: int  # steps of a whole one
    order: IntArray  # (14 n,) columns of a row: end effector, then all others
    largest: Array  # (14 n,) bounds |theta|
    curvature: Array  # (n,) or none [N m/s^2]
    unseen: UnseenTorque


class WindowSums(NamedTuple):
    """Sums over the samples so far; arrays (.., 2) hold centre and radius of every entry."""

    first: Array  # (3, n) sample q, qd, tau that the window began with
    newest: Array  # (3, n)
    momentum_first: Array  # (n, 10 n, 2)
    momentum: Array  # (n, 10 n, 2) of the newest sample, where a window begins or ends
    rate: Array  # (n, 10 n, 2) W_c of the newest sample
    rate_before: Array
    rate_middle: Array  # of the last step
    integral: Array  # (n, 10 n, 2) of W_c
    remainder: Array  # (n, 10 n) of its quadrature
    coulomb: Array  # (n, 2) integral of -sign(qd)
    turns: Array  # (n,) that readings of the position left out
    change: Array  # (n,) [rad/s] of velocity in the last step
    rough: Array  # (2, n) whether dry friction may change its sign: in the step before, and now
    torque: TorqueSums
    clock: Array  # (3,): samples, seconds, sum of step^3 / 12


class StepLanes(NamedTuple):
    """Rates of several steps at once, a lane each, with rows of `rate_balls_in_lanes`."""

    moves: AnyArray  # (n, n) whether joint k moves body i; other columns are 0
    states: Array  # (2, 4 n, 2, LANES) at the end of the step, and in its middle
    work: Array
    rate: Array  # (10 n n, 2, LANES) W_c at the end of the step
    middle: Array  # (10 n n, 2, LANES)


def empty_sums(n: int) -> WindowSums:
    """Return sums before the first sample."""
    matrix = (n, 10 * n, 2)
    return WindowSums(
        first=np.zeros((3, n)),
        newest=np.zeros((3, n)),
        momentum_first=np.zeros(matrix),
        momentum=np.zeros(matrix),
        rate=np.zeros(matrix),
        rate_before=np.zeros(matrix),
        rate_middle=np.zeros(matrix),
        integral=np.zeros(matrix),
        remainder=np.zeros((n, 10 * n)),
        coulomb=np.zeros((n, 2)),
        turns=np.zeros(n),
        change=np.zeros(n),
        rough=np.zeros((2, n)),
        torque=empty_torque_sums(n),
        clock=np.zeros(3),
    )


@jit
def begin_window(tree: Tree, sums: WindowSums, sample: Array, rule: Rule) -> None:
    """Make a sample, rows q, qd, tau of (3, n), the first of a window."""
    copy_matrix(sample, sums.newest)
    sums.change[:] = 0.0
    sums.rough[:] = 0.0
    sums.torque.bend[:] = 0.0
    _balls_of_newest(tree, sums, rule)
    _start(sums, rule)


@jit
def begin_again(sums: WindowSums, rule: Rule) -> None:
    """Make the newest sample the first of the next window; `close_window` has to come before."""
    _start(sums, rule)


@jit
def _start(sums: WindowSums, rule: Rule) -> None:
    copy_matrix(sums.newest, sums.first)
    copy_matrices(sums.momentum, sums.momentum_first)
    sums.integral[:] = 0.0
    sums.remainder[:] = 0.0
    sums.coulomb[:] = 0.0
    sums.turns[:] = 0.0
    sums.clock[0], sums.clock[1], sums.clock[2] = 1.0, 0.0, 0.0
    begin_torque(sums.torque, sums.newest[2], rule.bounds)


@jit
def _balls_of_newest(tree: Tree, sums: WindowSums, rule: Rule) -> None:
    """Momentum and its rate at the newest sample."""
    state = _state(sums.newest, rule)
    momentum_balls_into(tree, state[0], state[1], sums.momentum, sums.rate)


@jit
def _state(sample: Array, rule: Rule) -> Array:
    """Balls (2, n, 2) of q and qd."""
    state = np.empty((2, sample.shape[1], 2))
    for j in range(sample.shape[1]):
        state[0, j, 0], state[0, j, 1] = sample[0, j], rule.bounds.position[j] + rule.zero[j]
        state[1, j, 0], state[1, j, 1] = sample[1, j], rule.bounds.velocity[j]
    return state


@jit
def add_samples(tree: Tree, sums: WindowSums, samples: Array, steps: Array, rule: Rule) -> None:
    """Add samples (N, 3, n), each `steps` (N,) seconds after the one before."""
    for k in range(len(steps)):
        _add_sample(tree, sums, samples[k], steps[k], rule)


@jit
def add_windows(
    tree: Tree,
    sums: WindowSums,
    samples: Array,
    steps: Array,
    rule: Rule,
    knowns: Knowns,
    tables: Array,
) -> None:
    """Add samples, and fill a table (n, 14 n + 2) for each whole window, see `close_window`.

    There are as many tables (M, n, 14 n + 2) as windows that end; the next begins where one ends.
    To the last bit what `add_samples` does one after the other, LANES at a time.
    """
    closed, lanes = 0, _step_lanes(tree)
    for begin in range(0, len(steps), LANES):
        first, end = begin, min(begin + LANES, len(steps))
        _rates_of_steps(tree, sums, samples[begin:end], steps[begin:end], rule, lanes)
        while first < end:
            after = end
            if closed < len(tables):
                after = min(end, first + knowns.window + 1 - int(sums.clock[0]))
            _integrate_lanes(sums, lanes, steps, begin, first, after, rule)
            for k in range(first, after):
                _add_beside_rate(tree, sums, samples[k], steps[k], rule)
            if closed < len(tables) and int(sums.clock[0]) > knowns.window:
                close_window(tree, sums, knowns, rule, tables[closed])
                begin_again(sums, rule)
                closed += 1
            first = after


@jit
def _step_lanes(tree: Tree) -> StepLanes:
    n = len(tree.parent)
    columns = (10 * n * n, 2, LANES)
    return StepLanes(
        moved_by(tree),
        np.empty((2, STATE * n, 2, LANES)),
        np.empty((work_rows(n), 2, LANES)),
        np.empty(columns),
        np.empty(columns),
    )


@part_jit
def _rates_of_steps(
    tree: Tree, sums: WindowSums, samples: Array, steps: Array, rule: Rule, lanes: StepLanes
) -> None:
    """Fill lanes with the rates of some steps, of which the first begins at the newest sample.

    Lanes that are left over hold those of the last step.
    """
    before, change = sums.newest.copy(), sums.change.copy()
    for lane in range(LANES):
        k = min(lane, len(steps) - 1)
        state = _state(samples[k], rule)
        put_state(state, lane, lanes.states[0])
        if lane == k and not rule.has_curvature:
            middle_of_step(before, samples[k], change, steps[k], tree.is_prismatic, rule, state)
            for j in range(len(change)):
                change[j] = samples[k, 1, j] - before[1, j]
            copy_matrix(samples[k], before)
        put_state(state, lane, lanes.states[1])
    rate_balls_in_lanes(tree, lanes.moves, lanes.states[0], lanes.work, lanes.rate)
    if not rule.has_curvature:
        rate_balls_in_lanes(tree, lanes.moves, lanes.states[1], lanes.work, lanes.middle)


@part_jit
def _integrate_lanes(
    sums: WindowSums,
    lanes: StepLanes,
    steps: Array,
    begin: int,
    first: int,
    after: int,
    rule: Rule,
) -> None:
    """Add steps from `first` to before `after` to the integral; lane 0 is step `begin`.

    Columns that no joint moves are 0, and stay so.
    """
    n, kind = len(lanes.moves), _kind(rule)
    moves, rate, middle = lanes.moves, lanes.rate, lanes.middle
    newest, integral, remainder = sums.rate, sums.integral, sums.remainder
    for j in range(n):
        for c in range(10 * n):
            if not moves[c // 10, j]:
                continue
            a, left_out = 10 * n * j + c, remainder[j, c]
            before, ball = _ball(newest, j, c), _ball(integral, j, c)
            for k in range(first, after):
                lane = k - begin
                now = (rate[a, 0, lane], rate[a, 1, lane])
                between = (middle[a, 0, lane], middle[a, 1, lane])
                term, spread, bent = _step_integral(steps[k], before, between, now, kind)
                ball = _sum_of_balls(ball, term, spread)
                left_out += bent
                before = now
            newest[j, c, 0], newest[j, c, 1] = before
            integral[j, c, 0], integral[j, c, 1] = ball
            remainder[j, c] = left_out


@part_jit
def _add_sample(tree: Tree, sums: WindowSums, sample: Array, step: float, rule: Rule) -> None:
    """Add one sample, rows q, qd, tau of (3, n), taken `step` seconds after the one before."""
    copy_matrices(sums.rate, sums.rate_before)
    state, no_momentum = _state(sample, rule), np.empty((0, 0, 2))
    momentum_balls_into(tree, state[0], state[1], no_momentum, sums.rate)
    if not rule.has_curvature:
        middle_of_step(sums.newest, sample, sums.change, step, tree.is_prismatic, rule, state)
        momentum_balls_into(tree, state[0], state[1], no_momentum, sums.rate_middle)
    kind, integral, remainder = _kind(rule), sums.integral, sums.remainder
    before, middle, now = sums.rate_before, sums.rate_middle, sums.rate
    for j in range(remainder.shape[0]):
        for c in range(remainder.shape[1]):
            term, spread, left_out = _step_integral(
                step, _ball(before, j, c), _ball(middle, j, c), _ball(now, j, c), kind
            )
            ball = _sum_of_balls(_ball(integral, j, c), term, spread)
            integral[j, c, 0], integral[j, c, 1] = ball
            remainder[j, c] += left_out
    _add_beside_rate(tree, sums, sample, step, rule)


@jit
def _add_beside_rate(tree: Tree, sums: WindowSums, sample: Array, step: float, rule: Rule) -> None:
    """Add what is not the rate of the momentum, and make the sample the newest."""
    _integrate_coulomb(sums, sample[1], step, rule)
    add_torque(sums.torque, sample[2], step, sums.rough, rule)
    for j in range(sample.shape[1]):
        sums.change[j] = sample[1, j] - sums.newest[1, j]
        if not tree.is_prismatic[j]:
            rise = 0.5 * step * (sums.newest[1, j] + sample[1, j])
            sums.turns[j] += whole_turns(sample[0, j] - sums.newest[0, j], rise)
    copy_matrix(sample, sums.newest)
    sums.clock[0] += 1.0
    sums.clock[1] += step
    sums.clock[2] += step * step * step / 12.0


@inline_jit
def _kind(rule: Rule) -> tuple[bool, bool, float]:
    """Return the rule of a step's integral."""
    return rule.has_curvature, rule.trapezoid, rule.safety


@inline_jit
def _step_integral(
    step: float, before: Ball, middle: Ball, now: Ball, kind: tuple[bool, bool, float]
) -> tuple[float, float, float]:
    """Integral of an entry of W_c over a step, its radius, and what may be left out.

    Simpson's rule: the balls in the middle hold all states that the step may have; along the
    cubic through its ends the difference of two rules bounds the error of the better one. Or the
    trapezoid rule, for which somebody gave a bound.
    """
    has_curvature, is_trapezoid, safety = kind
    if has_curvature:
        spread = 0.5 * step * (before[1] + now[1])
        term = 0.5 * step * (before[0] + now[0])
        spread += ROUNDING * step * (abs(before[0]) + abs(now[0]))
        return term, spread, 0.0
    radius = max(before[1], now[1])
    spread = step * max(radius, middle[1])
    term = step / 6.0 * (before[0] + 4.0 * middle[0] + now[0])
    left_out = 0.5 * safety * step / 3.0 * abs(before[0] - 2.0 * middle[0] + now[0])
    if not is_trapezoid:
        left_out += abs(step * before[0] - term)
        term = step * before[0]
    size = step * (abs(before[0]) + 4.0 * abs(middle[0]) + abs(now[0]))
    return term, spread + ROUNDING * (size + left_out), left_out


@inline_jit
def _ball(balls: Array, j: int, c: int) -> Ball:
    return balls[j, c, 0], balls[j, c, 1]


@inline_jit
def _sum_of_balls(ball: Ball, term: float, spread: float) -> Ball:
    total = ball[0] + term
    return total, ball[1] + (spread + ROUNDING * (abs(total) + spread))


@part_jit
def _integrate_coulomb(sums: WindowSums, qd: Array, step: float, rule: Rule) -> None:
    """Integral of -sign(qd); where the sign is not certain it is anything in [-1, 1]."""
    for j in range(len(qd)):
        sums.rough[0, j] = sums.rough[1, j]
        is_rough = may_reverse(sums.newest[1, j], qd[j], rule.bounds.velocity[j])
        sums.rough[1, j] = 1.0 if is_rough and rule.dry[j] > 0.0 else 0.0
        if is_rough:
            term, spread = 0.0, step * (1.0 + ROUNDING)
        else:
            term, spread = -step if qd[j] > 0.0 else step, ROUNDING * step
        ball = _sum_of_balls((sums.coulomb[j, 0], sums.coulomb[j, 1]), term, spread)
        sums.coulomb[j, 0], sums.coulomb[j, 1] = ball


@jit
def close_window(tree: Tree, sums: WindowSums, knowns: Knowns, rule: Rule, table: Array) -> None:
    """Fill rows [A | impulse | delta] of (n, 14 n + 2), A in the order of `knowns.order`.

    A bound on the curvature takes the place of the remainders that the samples showed.
    """
    n, inertial = sums.remainder.shape
    columns = inertial + 4 * n
    _balls_of_newest(tree, sums, rule)
    growth = (
        1.0 + (columns + sums.clock[0]) * ROUNDING
    )  # of the longest sums that delta is made of
    entries = np.empty((columns, 2))
    for j in range(n):
        quadrature = bend_of_torque(sums.torque, j, rule)
        for c in range(inertial):
            quadrature += sums.remainder[j, c] * knowns.largest[c]
        if rule.has_curvature:
            quadrature = knowns.curvature[j] * sums.clock[2]
        _fill_entries(sums, j, rule, entries)
        spread = 0.0
        for place in range(columns):
            c = knowns.order[place]
            table[j, place] = entries[c, 0]
            spread += entries[c, 1] * knowns.largest[c]
        first = sums.first[2, j]
        kept, unsure = lag_of_torque(sums.torque, first, j, knowns.unseen, rule.bounds)
        table[j, columns] = sums.torque.impulse[j, 0] + kept
        spread += sums.torque.impulse[j, 1] + unsure + knowns.unseen.bias[j] * sums.clock[1]
        table[j, columns + 1] = (spread + quadrature) * growth + 1e-300


@part_jit
def _fill_entries(sums: WindowSums, j: int, rule: Rule, entries: Array) -> None:
    """Balls (14 n, 2) of the row of joint j: momentum change less the integral of its rate."""
    n, inertial = sums.remainder.shape
    entries[inertial:] = 0.0
    for c in range(inertial):
        change = sums.momentum[j, c, 0] - sums.momentum_first[j, c, 0]
        entry = change - sums.integral[j, c, 0]
        radius = sums.momentum[j, c, 1] + sums.momentum_first[j, c, 1] + sums.integral[j, c, 1]
        entries[c, 0] = entry
        entries[c, 1] = radius + ROUNDING * (abs(change) + abs(entry) + radius)
    first, last, seconds = sums.first[:, j], sums.newest[:, j], sums.clock[1]
    way = last[0] - first[0] - TURN * sums.turns[j]  # which the integral of qd is, exactly
    size = abs(last[0]) + abs(first[0]) + TURN * abs(sums.turns[j])
    rise = last[1] - first[1]
    dry, viscous = inertial + j, inertial + n + j
    rotor, offset = inertial + 2 * n + j, inertial + 3 * n + j
    entries[dry, 0], entries[dry, 1] = -sums.coulomb[j, 0], sums.coulomb[j, 1]
    entries[viscous, 0] = way
    entries[viscous, 1] = 2.0 * rule.bounds.position[j] + ROUNDING * size
    entries[rotor, 0] = rise
    entries[rotor, 1] = 2.0 * rule.bounds.velocity[j] + ROUNDING * abs(rise)
    entries[offset, 0] = seconds
    entries[offset, 1] = ROUNDING * sums.clock[0] * seconds
