"""Runge-Kutta steps between the instants at which joints stop or break away, compiled.

While no joint stops or breaks away, the equations of motion are smooth and a step of the classical
fourth-order rule is used. A sliding joint stops when its velocity becomes zero; a standing one
breaks away when it would need more than its Coulomb friction. A step in which that happens is
shortened until it ends there (velocity within STOP, friction within BREAKAWAY_WINDOW); then
`decide` says for all joints at rest whether they slide or stand. So the order stays four, also
through reversals. The one thing that is not looked for is a joint that stands at both ends of a
step and would have slid in between: it would have moved by the fourth power of the step.

Viscous friction damps light joints without armature within less than a millisecond. There are as
many steps as it takes that no velocity decays by more than 1/e in one; the rule is stable up to
e^-2.8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.tree import Tree
from safe_sysid.sets.array_copies import copy_matrix
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.simulate.dry_friction import (
    NOT_FINITE,
    OK,
    accelerate,
    decide,
    factorise,
    spare_friction,
)
from safe_sysid.simulate.mass_matrix import mass_matrix_and_bias

TOO_MANY_EVENTS, TOO_STIFF = 4, 5  # beside the codes of dry_friction
STOP = 1e-12  # [rad/s] velocity that counts as zero where a joint stops
BREAKAWAY_WINDOW = 1e-7  # [N m], and share of Fc: dry friction above Fc where a joint breaks away
EVENTS = 1000  # per control period
STEPS = 1000  # per control period, beyond what the user asks for
TRIALS = 100  # per event; three to five are usual
Q, QD, QDD, DRY = 0, 1, 2, 3  # rows of a point


class IntegratedBodies(NamedTuple):
    """An arm for compiled code."""

    tree: Tree
    phi: Array  # (n, 10)
    friction: Array  # (4, n): Fc, Fv, Ia, beta


@jit
def advance(
    bodies: IntegratedBodies, state: Array, torque: Array, seconds: float, steps: int
) -> int:
    """Move `state`, rows q and qd of (2, n), on by `seconds` of constant torque.

    At least `steps` steps are made, more where viscous friction asks for it.
    """
    n = len(torque)
    start, end, mode = np.empty((4, n)), np.empty((4, n)), np.empty(n)
    copy_matrix(state, start[:2])
    events = 0
    status = settle(bodies, torque, start, mode)
    needed = seconds * _damping_rate(bodies, torque, start) if status == OK else 0.0
    if needed > STEPS:
        status = TOO_STIFF
    steps = max(steps, math.ceil(min(needed, STEPS)))
    for _ in range(steps):
        left = seconds / steps
        while status == OK and left > 0.0:
            status = _step(bodies, torque, mode, start, left, end)
            if status != OK or _violated(bodies, mode, start, end, left) < 0:
                copy_matrix(end, start)
                break
            taken, status = _shorten(bodies, torque, mode, start, left, end)
            copy_matrix(end, start)
            left -= taken
            events += 1
            if status == OK:
                _stop(bodies, mode, start)
                status = settle(bodies, torque, start, mode)
            if events > EVENTS:
                status = TOO_MANY_EVENTS
    copy_matrix(start[:2], state)
    return status if status != OK or np.isfinite(state).all() else NOT_FINITE


@jit
def settle(bodies: IntegratedBodies, torque: Array, point: Array, mode: Array) -> int:
    """Modes, accelerations and dry friction of a point whose q and qd are set."""
    H, load = _equations(bodies, torque, point)
    return decide(  # type: ignore[no-any-return]
        H, load, bodies.friction[0], point[QD], mode, point[QDD], point[DRY]
    )


@jit
def _equations(bodies: IntegratedBodies, torque: Array, point: Array) -> tuple[Array, Array]:
    """H with armature, and the torque left for acceleration and dry friction."""
    n = len(torque)
    H, load = np.empty((n, n)), np.empty(n)
    mass_matrix_and_bias(bodies.tree, bodies.phi, point[Q], point[QD], H, load)
    for j in range(n):
        H[j, j] += bodies.friction[2, j]
        resisting = load[j] + bodies.friction[1, j] * point[QD, j] + bodies.friction[3, j]
        load[j] = torque[j] - resisting
    return H, load


@part_jit
def _damping_rate(bodies: IntegratedBodies, torque: Array, point: Array) -> float:
    """Trace of H^-1 diag(Fv): no velocity is damped at a higher rate [1/s]."""
    n = len(torque)
    H, _ = _equations(bodies, torque, point)
    L, y, rate = np.empty((n, n)), np.empty(n), 0.0
    if factorise(H, np.ones(n), L) != OK:
        return 0.0  # the first step will say so
    for j in range(n):
        for i in range(j, n):  # L y = e_j, and |y|^2 is entry j of the diagonal of H^-1
            y[i] = 1.0 if i == j else 0.0
            for k in range(j, i):
                y[i] -= L[i, k] * y[k]
            y[i] /= L[i, i]
            rate += bodies.friction[1, j] * y[i] * y[i]
    return rate


@jit
def _slope(bodies: IntegratedBodies, torque: Array, mode: Array, point: Array) -> int:
    H, load = _equations(bodies, torque, point)
    return accelerate(  # type: ignore[no-any-return]
        H, load, bodies.friction[0], mode, point[QDD], point[DRY]
    )


@jit
def _step(
    bodies: IntegratedBodies, torque: Array, mode: Array, start: Array, h: float, end: Array
) -> int:
    """One Runge-Kutta step from `start` to `end`, with accelerations at both."""
    n = len(torque)
    stage = np.empty((4, n))
    rate, change = start[QD].copy(), start[QDD].copy()
    copy_matrix(start, stage)
    for k in range(3):
        ahead = h if k == 2 else 0.5 * h
        for j in range(n):
            velocity, acceleration = stage[QD, j], stage[QDD, j]
            stage[Q, j] = start[Q, j] + ahead * velocity
            stage[QD, j] = start[QD, j] + ahead * acceleration
        status = _slope(bodies, torque, mode, stage)
        if status != OK:
            return status  # type: ignore[no-any-return]
        weight = 1.0 if k == 2 else 2.0
        for j in range(n):
            rate[j] += weight * stage[QD, j]
            change[j] += weight * stage[QDD, j]
    for j in range(n):
        end[Q, j] = start[Q, j] + h / 6.0 * rate[j]
        end[QD, j] = start[QD, j] + h / 6.0 * change[j]
    return _slope(bodies, torque, mode, end)  # type: ignore[no-any-return]


@jit
def _room(bodies: IntegratedBodies, mode: Array, point: Array, j: int) -> float:
    """How far a joint is from stopping or breaking away; negative beyond it."""
    if mode[j] != 0.0:
        return mode[j] * point[QD, j]  # type: ignore[no-any-return]
    return spare_friction(j, bodies.friction[0], point[DRY])  # type: ignore[no-any-return]


@jit
def _violated(bodies: IntegratedBodies, mode: Array, start: Array, end: Array, h: float) -> int:
    """Joint that stops or breaks away first between two points, -1 if none does."""
    first, earliest = -1, 2.0
    for j in range(len(mode)):
        if bodies.friction[0, j] == 0.0:
            continue
        after = _room(bodies, mode, end, j)
        if after < 0.0:
            before = max(_room(bodies, mode, start, j), 0.0)
            share = before / (before - after)
        elif mode[j] != 0.0 and dips(mode[j], start, end, h, j):
            share = 0.5
        else:
            continue
        if share < earliest:
            first, earliest = j, share
    return first


@jit
def dips(sign: float, start: Array, end: Array, h: float, j: int) -> bool:
    """Whether the velocity of a joint goes through zero and back within a step.

    Its cubic over the step is v + a s + b s^2 + c s^3 with s from 0 to 1.
    """
    a, slope = h * sign * start[QDD, j], h * sign * end[QDD, j]
    if a >= 0.0 or slope <= 0.0:
        return False
    rise = sign * (end[QD, j] - start[QD, j])
    b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
    lowest = -a / (b + math.sqrt(max(b * b - 3.0 * a * c, 0.0)))
    return sign * start[QD, j] + lowest * (a + lowest * (b + lowest * c)) < 0.0  # type: ignore[no-any-return]


@part_jit
def _shorten(
    bodies: IntegratedBodies, torque: Array, mode: Array, start: Array, h: float, end: Array
) -> tuple[float, int]:
    """Step until the first joint stops or breaks away, its length, and a status.

    `end` is where the whole step leads. The next trial is Newton's for a velocity and the secant
    rule's for friction, or the middle of the bracket when that leaves it.
    """
    safe, beyond, trial = 0.0, h, h
    j = _violated(bodies, mode, start, end, h)
    before, room_before = 0.0, _room(bodies, mode, start, j)
    for _ in range(TRIALS):
        room = _room(bodies, mode, end, j)
        if mode[j] == 0.0:
            aim = -0.5 * BREAKAWAY_WINDOW * (1.0 + bodies.friction[0, j])
            slope = (room - room_before) / (trial - before)
        else:
            aim, slope = 0.0, mode[j] * end[QDD, j]
        following = trial - (room - aim) / slope if slope < 0.0 else beyond
        if not safe < following < beyond:
            following = 0.5 * (safe + beyond)
        if following in (safe, beyond):
            break
        before, room_before, trial = trial, room, following
        status = _step(bodies, torque, mode, start, trial, end)
        if status != OK:
            return trial, status
        if _arrived(bodies, mode, end, j):
            return trial, OK
        first = _violated(bodies, mode, start, end, trial)
        if first >= 0:
            beyond = trial
            if first != j:
                j, before, room_before = first, 0.0, _room(bodies, mode, start, first)
        else:
            safe = trial
    return beyond, _step(bodies, torque, mode, start, beyond, end)


@part_jit
def _arrived(bodies: IntegratedBodies, mode: Array, end: Array, j: int) -> bool:
    """Whether joint j has come to its limit, and no joint is far beyond its own."""
    for k in range(len(mode)):
        if bodies.friction[0, k] > 0.0:
            window = STOP
            if mode[k] == 0.0:
                window = BREAKAWAY_WINDOW * (1.0 + bodies.friction[0, k])
            if _room(bodies, mode, end, k) < -window:
                return False
    room = _room(bodies, mode, end, j)
    if mode[j] == 0.0:
        return room < 0.0  # type: ignore[no-any-return]
    return room <= STOP  # type: ignore[no-any-return]


@part_jit
def _stop(bodies: IntegratedBodies, mode: Array, point: Array) -> None:
    """Zero velocity for every joint with dry friction that is that slow."""
    for j in range(len(mode)):
        if bodies.friction[0, j] > 0.0 and mode[j] * point[QD, j] <= STOP:
            point[QD, j] = 0.0
