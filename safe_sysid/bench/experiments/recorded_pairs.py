"""Simulated recordings of an empty and a loaded arm with what real ones have and models lack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibration import altered, motion_in_limits
from safe_sysid.calibrate.even_log import EvenLog, even_logs
from safe_sysid.calibrate.even_recording import BRIDGED, FEWEST_SECONDS
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model import inertia
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

RATES = (100.0, 125.0, 200.0)  # [Hz]
GEAR_RIPPLES = 100  # torque ripples per turn of a joint
STIFF = 0.02  # of the largest torque, which takes up the play
LOST, LONGEST_LOSS = 4, 6  # times that samples of a recording are lost, and so many at most


@dataclass(frozen=True, eq=False)
class Imperfections:
    """What drives and sensors of one arm do beyond Coulomb and viscous friction."""

    load_friction: float  # share of the load
    quadratic: float  # [N m s^2/rad^2] as share of the largest torque
    stribeck: tuple[float, float]  # share of Coulomb friction on top, and velocity [rad/s]
    warm_up: float  # share of Coulomb friction that is lost in a minute
    drift: float  # of offsets, share of the largest torque per root of a second
    ripple: float  # share of the largest torque
    coloured: float  # share of the rms torque
    coloured_s: float  # correlation time [s]
    gain: Array  # (n,) 1 plus its error
    delay: float  # [s]
    encoder: float  # [rad] step of the encoders
    zero: Array  # (n,) [rad] by which they are off, always
    play: float  # [rad] between motor and link, taken up by the torque
    noise: float  # of the torque, share of its rms
    jitter: float  # [s] of stamps
    clock: float  # share by which the stamps run fast


def imperfections(rng: np.random.Generator, n: int, gain_error: float) -> Imperfections:
    """Draw them; gains stay within what is promised of them."""
    return Imperfections(
        load_friction=rng.uniform(0.0, 0.06),
        quadratic=rng.uniform(0.0, 0.02),
        stribeck=(rng.uniform(0.0, 0.3), rng.uniform(0.02, 0.1)),
        warm_up=rng.uniform(0.0, 0.1),
        drift=rng.uniform(0.0, 0.001),
        ripple=rng.uniform(0.0, 0.01),
        coloured=rng.uniform(0.005, 0.03),
        coloured_s=rng.uniform(0.1, 1.0),
        gain=1.0 + gain_error * rng.uniform(-1.0, 1.0, n),
        delay=rng.uniform(0.0, 0.015),
        encoder=10.0 ** rng.uniform(-5.5, -4.0),
        zero=rng.uniform(-1e-3, 1e-3, n),
        play=rng.uniform(0.0, 5e-4),
        noise=rng.uniform(0.0, 0.02),
        jitter=rng.uniform(0.0, 3e-4),
        clock=rng.uniform(-5e-5, 5e-5),
    )


@dataclass(frozen=True, eq=False)
class RecordedPair:
    """Recordings of one arm, and the body that it holds in the last of them."""

    model: RobotModel  # as described, which the arm is not
    empty: list[list[EvenLog]]  # recording by recording, in pieces without gaps
    loaded: list[EvenLog]
    payload: Array  # (10,)


def recorded_pair(
    model: RobotModel, rng: np.random.Generator, gain_error: float, recordings: int
) -> RecordedPair:
    """Simulate an altered arm that is recorded empty and with a random body."""
    truth = altered(model, rng)
    faults = imperfections(rng, model.n, gain_error)
    rate = float(rng.choice(RATES))
    com = rng.uniform(-0.12, 0.12, 3)
    mass = rng.uniform(0.5, 3.0)
    payload = inertia.from_mass_com_inertia(np.array(mass), com, mass * 0.002 * np.eye(3))
    lengths = [rng.uniform(35.0, 60.0) for _ in range(recordings)]
    empty = [_recorded(truth, rng, faults, rate, s, np.zeros(10)) for s in lengths]
    loaded = _recorded(truth, rng, faults, rate, rng.uniform(20.0, 35.0), payload)
    return RecordedPair(model, empty, loaded, payload)


def minute_at_1khz(model: RobotModel, rng: np.random.Generator) -> RecordedPair:
    """Simulate a minute without a body and a minute with one, at 1 kHz."""
    truth = altered(model, rng)
    faults = imperfections(rng, model.n, gain_error=0.01)
    com = np.array([0.02, 0.03, 0.10])
    payload = inertia.from_mass_com_inertia(np.array(2.0), com, 0.004 * np.eye(3))
    empty, loaded = (
        _recorded(truth, rng, faults, 1000.0, 60.0, held) for held in (np.zeros(10), payload)
    )
    return RecordedPair(model, [empty], loaded, payload)


def _recorded(
    truth: RobotModel, rng: np.random.Generator, faults: Imperfections, rate: float,
    seconds: float, payload: Array,
) -> list[EvenLog]:  # fmt: skip
    """Return positions and torques as a logger has them."""
    motion = motion_in_limits(truth, rng, seconds, rate)
    layout, n = truth.layout, truth.n
    theta = truth.theta.copy()
    theta[layout.end_effector] += payload
    W = standard_regressor(truth, motion.q, motion.qd, motion.qdd)
    tau = W @ theta
    size = np.abs(tau).max(axis=0)
    sign = np.tanh(motion.qd / 0.01)
    coulomb = theta[layout.joint_entries('Fc')]
    bodies = W[:, :, : 10 * n] @ theta[: 10 * n]
    more, velocity = faults.stribeck
    tau = tau + faults.load_friction * np.abs(bodies) * sign
    tau = tau + faults.quadratic * size * motion.qd**2 * sign
    tau = tau + more * coulomb * np.exp(-((motion.qd / velocity) ** 2)) * sign
    tau = tau - faults.warm_up * coulomb * (1.0 - np.exp(-motion.t / 60.0))[:, None] * sign
    tau = tau + faults.ripple * size * np.sin(GEAR_RIPPLES * motion.q)
    walk = np.cumsum(rng.normal(size=tau.shape), axis=0) / np.sqrt(rate)
    tau = tau + faults.drift * size * walk
    tau = tau + faults.coloured * np.sqrt(np.mean(tau**2, axis=0)) * _coloured(
        rng, tau.shape, faults.coloured_s * rate
    )
    late = np.arange(len(tau)) - faults.delay * rate
    tau = np.column_stack([np.interp(late, np.arange(len(tau)), x) for x in tau.T])
    q = motion.q + 0.5 * faults.play * np.tanh(tau / (STIFF * size)) + faults.zero
    return _logged(rng, faults, motion.t, q, tau)


def _logged(
    rng: np.random.Generator, faults: Imperfections, t: Array, q: Array, tau: Array
) -> list[EvenLog]:
    """Return what is left of positions and torques once sensors and logger had them."""
    noise = faults.noise * np.sqrt(np.mean(tau**2, axis=0))
    reported = (tau + noise * rng.normal(size=tau.shape)) / faults.gain
    read = np.round(q / faults.encoder) * faults.encoder
    stamp = np.round(1e9 * (1.0 + faults.clock) * t).astype(np.int64)
    stamp += np.round(1e9 * faults.jitter * rng.uniform(-1.0, 1.0, len(t))).astype(np.int64)
    there = np.ones(len(t), dtype=bool)
    for first in rng.integers(0, len(t), LOST):
        there[first : first + rng.integers(1, LONGEST_LOSS + 1)] = False
    log = JointLog(stamp[there], read[there], np.zeros_like(read[there]), reported[there])
    return [log for log in even_logs(log, BRIDGED) if log.seconds >= FEWEST_SECONDS]


def _coloured(rng: np.random.Generator, shape: tuple[int, ...], samples: float) -> Array:
    """Noise of variance 1, correlated over some samples."""
    keep = float(np.exp(-1.0 / samples))
    noise = rng.normal(size=shape)
    for i in range(1, len(noise)):
        noise[i] = keep * noise[i - 1] + np.sqrt(1.0 - keep**2) * noise[i]
    return noise
