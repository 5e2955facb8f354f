"""Simulated recordings of robots with closed loops, whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.closed_chain_rows import projected_columns, random_closures
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosureError
from safe_sysid.simulate.closed_chain import ClosedChainBody, Servo
from safe_sysid.trajectory.fourier import FourierBasis

RATE = 1000.0  # [Hz]
HARMONICS = 5
FASTEST = 3.0  # [rad/s] of an actuated joint
TRIES = 120  # random motions
ROOM = 0.03  # [rad] to all limits: a servo does not follow exactly
CLOSURES = 300  # random ones, whose spread a motion has
REACH = 0.8  # of that spread
CHOICES = 6  # that keep all loops closed; the most informative is taken
PERIOD = 5.0  # [s] after which a motion repeats
POSITION_NOISE = 2e-5  # [rad] at most
TORQUE_NOISE = 0.004  # of the torque limit, at most
SOFT = 0.1  # [rad/s] the controller pushes against dry friction that begins so slowly
BURST = 0.05  # [s] length of an outlier in the torque
STIFFNESS, DAMPING = 1.5, 0.08  # of the torque limit, per rad and per rad/s


@dataclass(frozen=True, eq=False)
class SimulatedRecording:
    """One simulated motion."""

    log: EvenLog  # as measured
    states: Array  # (T, 2, n_a) as they were
    torque: Array  # (T, n_a) as it was, held for a period
    burst: AnyArray  # (T, n_a) bool: an outlier in the measured torque


def true_chain(nominal: ClosedChain, rng: np.random.Generator, bodies: bool) -> ClosedChain:
    """Return the robot with other friction, armature and masses than its description."""
    layout, a = nominal.model.layout, nominal.actuated
    theta = nominal.model.theta.copy()
    for kind, low, high in (('Fc', 0.6, 1.5), ('Fv', 0.6, 1.5), ('Ia', 0.8, 1.2)):
        entries = layout.joint_entries(kind).start + a
        theta[entries] *= rng.uniform(low, high, len(a))
    limit = nominal.model.limits.torque[a]
    theta[layout.joint_entries('beta').start + a] = 0.003 * limit * rng.uniform(-1, 1, len(a))
    for body in range(layout.n) if bodies else ():
        theta[layout.inertial(body)] *= rng.uniform(0.85, 1.15)
    return nominal.with_parameters(theta)


def recording(
    chains: tuple[ClosedChain, ClosedChain],
    seconds: float,
    rng: np.random.Generator,
    outliers: float = 0.0,
) -> SimulatedRecording:
    """Simulate the true chain under a controller that uses the nominal one."""
    nominal, true = chains
    motion = exciting_motion(nominal, seconds, rng)
    states, torque = track(nominal, true, motion)
    limit = nominal.model.limits.torque[nominal.actuated]
    noise = TORQUE_NOISE * limit
    burst, size = _bursts(torque.shape, outliers, rng)
    # the torque of a sample is held after it: its value at the stamp is the mean of both sides
    at_stamp = np.vstack([torque[:1], 0.5 * (torque[1:] + torque[:-1])])
    measured = at_stamp + noise * (rng.uniform(-1.0, 1.0, torque.shape) + size)
    q = states[:, 0] + POSITION_NOISE * rng.uniform(-1.0, 1.0, torque.shape)
    return SimulatedRecording(EvenLog(RATE, q, measured), states, torque, burst)


def track(
    believed: ClosedChain, true: ClosedChain, motion: tuple[Array, ...]
) -> tuple[Array, Array]:
    """States (T, 2, n_a) and torques of a robot whose controller believes in another model."""
    q_a, qd_a, qdd_a = motion
    columns = FitColumns(believed.model.layout, SOFT)
    closed = believed.expand(believed.follow(q_a), qd_a, qdd_a)
    limit = believed.model.limits.torque[believed.actuated]
    servo = Servo(
        projected_columns(believed, columns, closed) @ believed.model.theta,
        STIFFNESS * limit,
        DAMPING * limit,
        limit,
    )
    return ClosedChainBody(true).track(np.stack([q_a, qd_a], axis=1), servo, 1.0 / RATE)


def exciting_motion(
    chain: ClosedChain, seconds: float, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Random Fourier series, position, velocity and acceleration (T, n_a), with loops closed.

    Joints move together as they do in random closures: toes that turn the same way, say, would
    leave the limits at once.
    """
    basis = FourierBasis(PERIOD, HARMONICS)
    t = np.arange(round(seconds * RATE)) / RATE
    rows = [basis.rows(t, derivative) for derivative in range(3)]
    closures = random_closures(chain, CLOSURES, rng)[:, chain.actuated]
    middle, spread = (
        closures.mean(axis=0),
        np.linalg.cholesky(np.cov(closures.T).reshape(len(chain.actuated), -1)),
    )
    found: list[Array] = []
    for attempt in range(TRIES):
        coefficients = rng.normal(size=(basis.count, len(middle))) @ spread.T
        coefficients[0] = 0.0
        shape = rows[0] @ coefficients
        size = 0.98**attempt * min(
            float(np.min(REACH * np.sqrt(np.sum(spread**2, axis=1)) / np.std(shape, axis=0))),
            float(np.min(FASTEST / np.abs(rows[1] @ coefficients).max(axis=0))),
        )
        coefficients *= size
        coefficients[0] = middle - size * shape.mean(axis=0)
        try:
            q = chain.follow(rows[0][: round(PERIOD * RATE) : 10] @ coefficients)
        except ClosureError:
            continue
        limits = chain.model.limits
        if np.any(q < limits.position_lower + ROOM) or np.any(q > limits.position_upper - ROOM):
            continue
        found.append(coefficients)
        if len(found) == CHOICES:
            break
    if not found:
        raise SafeSysidError(
            f'{chain.model.name}: no random motion of {TRIES} keeps its loops closed'
        )
    best = max(found, key=lambda x: float(np.sum(np.log(np.std(rows[2] @ x, axis=0)))))
    return rows[0] @ best, rows[1] @ best, rows[2] @ best


def _bursts(
    shape: tuple[int, ...], share: float, rng: np.random.Generator
) -> tuple[AnyArray, Array]:
    """Where outliers are, and how large in units of the noise bound."""
    burst, size = np.zeros(shape, dtype=bool), np.zeros(shape)
    length = round(BURST * RATE)
    while burst.mean() < share:
        start, joint = rng.integers(length, shape[0] - 2 * length), rng.integers(shape[1])
        where = slice(start, start + length)
        if not burst[where, joint].any():
            burst[where, joint] = True
            size[where, joint] = rng.choice([-1.0, 1.0]) * rng.uniform(8.0, 25.0)
    return burst, size
