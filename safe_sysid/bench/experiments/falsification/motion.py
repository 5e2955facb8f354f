"""Motions of a mechanism under held or smooth torque, stick-slip by events, sample by sample.

Between events the motion is smooth and integrated by the Gauss method of order 6; an event is a
joint that comes to rest or breaks away, and is located inside its step. Torque is constant from
one sample to the next, or a smooth function of time and state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.bench.experiments.falsification.dynamics import (
    Mechanism,
    acceleration,
    drive_torque,
    dry_friction_at_rest,
)
from safe_sysid.sets.compiled import jit

ROOT = np.sqrt(15.0)
A = np.array(
    [
        [5 / 36, 2 / 9 - ROOT / 15, 5 / 36 - ROOT / 30],
        [5 / 36 + ROOT / 24, 2 / 9, 5 / 36 - ROOT / 24],
        [5 / 36 + ROOT / 30, 2 / 9 + ROOT / 15, 5 / 36],
    ]
)
B = np.array([5 / 18, 4 / 9, 5 / 18])
C = np.array([0.5 - ROOT / 10, 0.5, 0.5 + ROOT / 10])
AA, BA = A @ A, B @ A
ITERATIONS = 40
EVENTS = 60  # between two samples; more is a motion that nobody can tell the end of
CERTAIN = 1e-12  # [rad/s] past rest
ROOM = 1e-9  # share of Fc by which the friction of a joint that sticks may exceed it unseen
TRACK, DEAD_BEAT, BANG, SMOOTH = range(4)


class Drive(NamedTuple):
    """What the torque of the drives does."""

    kind: int  # TRACK, DEAD_BEAT and BANG are held between samples, SMOOTH is not
    feedforward: Array  # (n,) [N m]
    stiffness: Array  # (n,) [N m/rad]
    damping: Array  # (n,) [N m s/rad]
    amplitude: Array  # (n, f) [rad] of the reference
    frequency: Array  # (n, f) [rad/s]
    phase: Array  # (n, f) [rad]
    bend: float  # DEAD_BEAT: power of time that the velocity follows
    push: Array  # (n, N) BANG: torque of every sample [N m]


@jit
def reference(drive: Drive, t: float) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of a sum of sines, at rest in 0 when they begin."""
    n, count = drive.amplitude.shape
    q, qd, qdd = np.zeros(n), np.zeros(n), np.zeros(n)
    for j in range(n):
        for f in range(count):
            a, w, p = drive.amplitude[j, f], drive.frequency[j, f], drive.phase[j, f]
            q[j] += a * (np.sin(w * t + p) - np.sin(p))
            qd[j] += a * w * np.cos(w * t + p)
            qdd[j] -= a * w * w * np.sin(w * t + p)
    return q, qd, qdd


@jit
def _torque(drive: Drive, start: Array, t: float, q: Array, qd: Array) -> Array:
    wanted, speed, _ = reference(drive, t)
    torque: Array = drive.stiffness * (start + wanted - q) + drive.damping * (speed - qd)
    return drive.feedforward + torque


@jit
def _held_torque(
    m: Mechanism, drive: Drive, start: Array, k: int, times: Array, q: Array, qd: Array
) -> Array:
    """Torque from sample k on."""
    t = times[k]
    if drive.kind == BANG:
        pushed: Array = drive.push[:, k] - drive.damping * qd
        return drive.feedforward + pushed
    if drive.kind == DEAD_BEAT and k + 1 < len(times):
        # velocities at samples on a curve that shows no bend; between them they do bend
        now, later = 0.2 + t, 0.2 + times[k + 1]
        speed = drive.amplitude[:, 0] * drive.frequency[:, 0]
        change = speed * (later**drive.bend - now**drive.bend)
        needed: Array = drive_torque(m, q, qd, change / (later - now))
        return needed
    followed: Array = _torque(drive, start, t, q, qd)
    return followed


@jit
def _stepped(
    m: Mechanism,
    drive: Drive,
    start: Array,
    held: Array,
    t: float,
    step: float,
    state: Array,
    sense: Array,
) -> Array:
    """State (2, n) after a step without events."""
    n = state.shape[1]
    k = np.empty((3, n))
    u = held if drive.kind != SMOOTH else _torque(drive, start, t, state[0], state[1])
    k[:] = acceleration(m, state[0], state[1], u, sense)
    for _ in range(ITERATIONS):
        change = 0.0
        for s in range(3):
            q = state[0] + step * C[s] * state[1] + step * step * (AA[s] @ k)
            qd = state[1] + step * (A[s] @ k)
            if drive.kind == SMOOTH:
                u = _torque(drive, start, t + C[s] * step, q, qd)
            new = acceleration(m, q, qd, u, sense)
            change = max(change, np.abs(new - k[s]).max())
            k[s] = new
        if step * change <= 1e-15 * (1.0 + np.abs(state[1]).max()):
            break
    after = np.empty((2, n))
    after[0] = state[0] + step * state[1] + step * step * (BA @ k)
    after[1] = state[1] + step * (B @ k)
    return after


@jit
def _room(
    m: Mechanism, drive: Drive, start: Array, held: Array, t: float, state: Array, sense: Array
) -> float:
    """Not negative while no joint turned over and none that sticks would break away."""
    least = np.inf
    sticks = False
    for j in range(len(sense)):
        if m.dry[j] > 0.0:
            if sense[j] == 0.0:
                sticks = True
            else:
                least = min(least, state[1, j] * sense[j] + CERTAIN)
    if sticks:
        u = held if drive.kind != SMOOTH else _torque(drive, start, t, state[0], state[1])
        # of joints that stick, friction without the limit Fc: qdd = 0 for them
        qdd = acceleration(m, state[0], state[1], u, sense)
        needed = u - drive_torque(m, state[0], state[1], qdd)  # which has none for those
        for j in range(len(sense)):
            if m.dry[j] > 0.0 and sense[j] == 0.0:
                least = min(least, m.dry[j] * (1.0 + ROOM) - abs(needed[j]))
    return least


@jit
def _settle(
    m: Mechanism, drive: Drive, start: Array, held: Array, t: float, state: Array, sense: Array
) -> None:
    """Let joints at rest stick or start, as their friction says."""
    n = len(sense)
    resting = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        resting[j] = m.dry[j] > 0.0 and state[1, j] == 0.0
    if not resting.any():
        return
    u = held if drive.kind != SMOOTH else _torque(drive, start, t, state[0], state[1])
    f = dry_friction_at_rest(m, state[0], state[1], u, sense, resting)
    for j in range(n):
        if resting[j]:
            sense[j] = np.sign(f[j]) if abs(f[j]) >= m.dry[j] else 0.0


@jit
def _advance(
    m: Mechanism,
    drive: Drive,
    start: Array,
    held: Array,
    span: Array,
    largest: float,
    state: Array,
    sense: Array,
) -> AnyArray:
    """Move state and sense from span[0] to span[1]; events of every joint, EVENTS: given up."""
    tries, t, events, before = 0, span[0], np.zeros(len(sense), dtype=np.int64), sense.copy()
    while t < span[1]:
        step = min(largest, span[1] - t)
        if span[1] - t - step < 1e-9 * largest:
            step = span[1] - t
        after = _stepped(m, drive, start, held, t, step, state, sense)
        if _room(m, drive, start, held, t + step, after, sense) >= 0.0:
            state[:] = after
            t = span[1] if step == span[1] - t else t + step
            continue
        low, high = 0.0, step
        for _ in range(44):
            middle = 0.5 * (low + high)
            after = _stepped(m, drive, start, held, t, middle, state, sense)
            if _room(m, drive, start, held, t + middle, after, sense) >= 0.0:
                low = middle
            else:
                high = middle
            if high - low < 1e-13:
                break
        state[:] = _stepped(m, drive, start, held, t, high, state, sense)
        t += high
        before[:] = sense
        for j in range(len(sense)):
            if m.dry[j] > 0.0 and state[1, j] * sense[j] <= 0.0:
                state[1, j] = 0.0
        _settle(m, drive, start, held, t, state, sense)
        events += sense != before
        tries += 1
        if tries >= EVENTS:
            events[:] = EVENTS
            break
    return events


@jit
def simulate(
    m: Mechanism, drive: Drive, start: Array, speed: Array, times: Array, largest: float
) -> tuple[Array, Array, Array, AnyArray]:
    """Positions, velocities and torques at the samples, and events of every joint before each.

    A held torque is the one from its sample on. Events are -1 where the motion was given up.
    """
    N, n = len(times), len(start)
    Q, V, U = np.empty((N, n)), np.empty((N, n)), np.empty((N, n))
    events = np.zeros((N, n), dtype=np.int64)
    state, sense = np.empty((2, n)), np.where(m.dry > 0.0, np.sign(speed), 1.0)
    state[0], state[1] = start, speed
    for k in range(N):
        if drive.kind == SMOOTH:
            u = _torque(drive, start, times[k], state[0], state[1])
        else:
            u = _held_torque(m, drive, start, k, times, state[0], state[1])
        Q[k], V[k], U[k] = state[0], state[1], u
        _settle(m, drive, start, u, times[k], state, sense)
        if k + 1 < N:
            span = times[k : k + 2]
            events[k + 1] = _advance(m, drive, start, u, span, largest, state, sense)
            if events[k + 1].max() >= EVENTS or not np.isfinite(state).all():
                events[:] = -1
                break
    return Q, V, U, events


@jit
def prescribed(
    m: Mechanism, drive: Drive, start: Array, times: Array
) -> tuple[Array, Array, Array]:
    """Positions, velocities and torques at the samples of an arm that follows its reference."""
    N, n = len(times), len(start)
    Q, V, U = np.empty((N, n)), np.empty((N, n)), np.empty((N, n))
    for k in range(N):
        q, qd, qdd = reference(drive, times[k])
        Q[k], V[k] = start + q, qd
        U[k] = drive_torque(m, Q[k], qd, qdd)
    return Q, V, U
