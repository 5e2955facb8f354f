"""A robot with closed loops that moves as its motors say: dynamics of the actuated joints alone.

    G' (H + Ia) G qdd_a = u - G' [(H + Ia) dG/dt qd_a + C qd + g + Fc s(qd) + Fv qd + beta]

with s(qd) = tanh(qd / SLOW) in place of the sign, so that Runge-Kutta steps are accurate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SimulationError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.closed_chain.closure_newton import (
    ClosureJoints,
    differentiate,
    newton,
    solve_into,
)
from safe_sysid.sets.array_copies import copy_vector
from safe_sysid.sets.compiled import jit
from safe_sysid.simulate.mass_matrix import mass_matrix_and_bias
from safe_sysid.simulate.rigid_body import joint_friction

SLOW = 0.01  # [rad/s], above about twice this speed dry friction is all there


class Servo(NamedTuple):
    """How torque is made of a reference, for the joints that have a motor."""

    feedforward: Array  # (T, n_a) [N m]
    stiffness: Array  # (n_a,) [N m/rad]
    damping: Array  # (n_a,) [N m s/rad]
    limit: Array  # (n_a,) [N m]


class _Bodies(NamedTuple):
    joints: ClosureJoints
    phi: Array  # (n, 10)
    friction: Array  # (4, n) rows Fc, Fv, Ia, beta


class _Hold(NamedTuple):
    step: float  # [s]
    steps: int


class ClosedChainBody:
    """Forward dynamics of a closed chain, with friction and armature of all its joints."""

    def __init__(self, chain: ClosedChain, steps: int = 1) -> None:
        model = chain.model
        phi = model.theta[: 10 * model.n].reshape(model.n, 10)
        self._chain = chain
        self._steps = steps  # of Runge and Kutta while torque is held
        self._bodies = _Bodies(chain.joints, phi.copy(), joint_friction(model))

    def acceleration(self, q: Array, qd_a: Array, torque: Array) -> Array:
        """Acceleration of the actuated joints in a closed configuration q (n,)."""
        q_now, qdd_a = np.array(q, dtype=float), np.empty(len(qd_a))
        done = _accelerate(self._bodies, q_now, np.asarray(qd_a), np.asarray(torque), qdd_a)
        self._check(0 if done else -1, 0)
        return qdd_a

    def track(self, reference: Array, servo: Servo, period: float) -> tuple[Array, Array]:
        """Follow a reference (T, 2, n_a) of positions and velocities, from its first sample on.

        Positions and velocities (T, 2, n_a) at the samples, and the torques (T, n_a) that are held
        for a period [s] from each of them on.
        """
        q = self._chain.close(reference[:1, 0])[0]
        states, torque = np.empty_like(reference), np.empty_like(servo.feedforward)
        done = _track(self._bodies, reference, servo, self._hold(period), q, states, torque)
        self._check(done, len(reference))
        return states, torque

    def replay(self, q: Array, qd_a: Array, torque: Array, period: float) -> Array:
        """Positions and velocities (T, 2, n_a) under torques (T, n_a), each held for a period."""
        states = np.empty((len(torque), 2, len(qd_a)))
        states[0, 0], states[0, 1] = q[self._chain.actuated], qd_a
        done = _replay(self._bodies, np.array(q), self._hold(period), torque, states)
        self._check(done, len(torque))
        return states

    def _hold(self, period: float) -> _Hold:
        return _Hold(period / self._steps, self._steps)

    def _check(self, done: int, wanted: int) -> None:
        if done < wanted:
            raise SimulationError(
                f'{self._chain.model.name} can not be simulated beyond sample {max(done, 0)}: its '
                'loops do not close any more, or its mass matrix is singular'
            )


@jit
def _accelerate(bodies: _Bodies, q: Array, qd_a: Array, torque: Array, qdd_a: Array) -> bool:
    """Write the acceleration of the actuated joints; the passive ones of q start Newton."""
    joints, friction = bodies.joints, bodies.friction
    n, n_a = len(q), len(qd_a)
    if newton(joints, q) < 0:
        return False
    rows, rates, none = q.copy().reshape(1, n), qd_a.copy().reshape(1, n_a), np.zeros((1, n_a))
    singular, qd, held, G = differentiate(joints, rows, rates, none)
    if singular >= 0:
        return False
    H, load = np.empty((n, n)), np.empty(n)
    mass_matrix_and_bias(joints.tree, bodies.phi, q, qd[0], H, load)
    for i in range(n):
        H[i, i] += friction[2, i]
    for i in range(n):
        load[i] += friction[0, i] * np.tanh(qd[0, i] / SLOW) + friction[1, i] * qd[0, i]
        load[i] += friction[3, i]
        for j in range(n):
            load[i] += H[i, j] * held[0, j]
    projected, rest = np.zeros((n_a, n_a)), np.empty((n_a, 1))
    copy_vector(torque, rest[:, 0])
    _project(G[0], H, load, projected, rest)
    if not solve_into(projected, rest):
        return False
    copy_vector(rest[:, 0], qdd_a)
    return True


@jit
def _project(G: Array, H: Array, load: Array, projected: Array, rest: Array) -> None:
    """Add G' H G to `projected`, and take G' load from `rest`."""
    n, n_a = G.shape
    for k in range(n_a):
        for i in range(n):
            rest[k, 0] -= G[i, k] * load[i]
            along = 0.0
            for j in range(n):
                along += H[i, j] * G[j, k]
            for other in range(n_a):
                projected[other, k] += G[i, other] * along


@jit
def _step(bodies: _Bodies, q: Array, qd_a: Array, torque: Array, h: float) -> bool:
    """One step of the classical Runge-Kutta method; q and qd_a are replaced."""
    n_a = len(qd_a)
    actuated = bodies.joints.actuated
    start, rate = q[actuated], qd_a.copy()
    slopes = np.empty((4, n_a))
    rates = np.empty((4, n_a))
    for stage in range(4):
        share = h if stage == 3 else 0.5 * h
        for k in range(n_a):
            rates[stage, k], q[actuated[k]] = rate[k], start[k]
            if stage > 0:
                rates[stage, k] += share * slopes[stage - 1, k]
                q[actuated[k]] += share * rates[stage - 1, k]
        if not _accelerate(bodies, q, rates[stage], torque, slopes[stage]):
            return False
    for k in range(n_a):
        q[actuated[k]] = start[k] + h / 6.0 * (
            rates[0, k] + 2.0 * rates[1, k] + 2.0 * rates[2, k] + rates[3, k]
        )
        qd_a[k] = rate[k] + h / 6.0 * (
            slopes[0, k] + 2.0 * slopes[1, k] + 2.0 * slopes[2, k] + slopes[3, k]
        )
    return bool(newton(bodies.joints, q) >= 0)


@jit
def _hold(bodies: _Bodies, q: Array, qd_a: Array, torque: Array, hold: _Hold) -> bool:
    """Advance while a torque is held."""
    for _ in range(hold.steps):  # noqa: SIM110 - numba has no all()
        if not _step(bodies, q, qd_a, torque, hold.step):
            return False
    return True


@jit
def _track(
    bodies: _Bodies,
    reference: Array,
    servo: Servo,
    hold: _Hold,
    q: Array,
    states: Array,
    torque: Array,
) -> int:
    """Fill states and torques along a reference; the samples that were reached."""
    actuated, qd_a = bodies.joints.actuated, reference[0, 1].copy()
    for t in range(len(reference)):
        for k in range(len(qd_a)):
            states[t, 0, k], states[t, 1, k] = q[actuated[k]], qd_a[k]
            asked = (
                servo.feedforward[t, k]
                + servo.stiffness[k] * (reference[t, 0, k] - states[t, 0, k])
                + servo.damping[k] * (reference[t, 1, k] - states[t, 1, k])
            )
            torque[t, k] = min(max(asked, -servo.limit[k]), servo.limit[k])
        if t + 1 < len(reference) and not _hold(bodies, q, qd_a, torque[t], hold):
            return t
    return len(reference)


@jit
def _replay(bodies: _Bodies, q: Array, hold: _Hold, torque: Array, states: Array) -> int:
    """Fill states under given torques from the first on; the samples that were reached."""
    qd_a = states[0, 1].copy()
    for t in range(len(torque) - 1):
        if not _hold(bodies, q, qd_a, torque[t], hold):
            return t
        for k in range(len(qd_a)):
            states[t + 1, 0, k], states[t + 1, 1, k] = q[bodies.joints.actuated[k]], qd_a[k]
    return len(torque)
