"""Simulated recordings of arms whose parameters are known, and what calibration makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.calibration import Calibration, calibrate
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.calibrate.validation import torque_error
from safe_sysid.model.inertia import from_pseudo_inertia, pseudo_inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import SimulatedMotion, fourier_motion, true_torque

ENCODER_NOISE = 2e-5  # [rad]
TORQUE_NOISE = 0.02  # of the rms torque of each joint
USED = 0.8  # of the room between the limits
BASE = 0.1  # [Hz] first of five harmonics


@dataclass(frozen=True, eq=False)
class CalibrationTrial:
    """A calibration and the truth it was after."""

    calibration: Calibration
    truth: RobotModel
    ratio_to_truth: float  # error on held-out torque over that of the true parameters
    standard_scores: Array  # (b,) error of each base parameter over its standard deviation


def altered(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return an arm that differs from its description in everything: bodies, friction, offsets."""
    theta, n = model.theta.copy(), model.n
    for i in range(n):
        body = model.layout.inertial(i)
        change = np.eye(4) + 0.1 * rng.normal(size=(4, 4))
        theta[body] = from_pseudo_inertia(change @ pseudo_inertia(theta[body]) @ change.T)
    for kind, low, high in (('Fc', 0.2, 2.0), ('Fv', 0.2, 2.0), ('Ia', 0.02, 0.3)):
        theta[model.layout.joint_entries(kind)] = rng.uniform(low, high, n)
    theta[model.layout.joint_entries('beta')] = rng.uniform(-0.3, 0.3, n)
    return model.with_parameters(theta)


def motion_in_limits(
    model: RobotModel, rng: np.random.Generator, seconds: float, rate: float
) -> SimulatedMotion:
    """Random harmonics that use most of what position, velocity and acceleration limits leave."""
    free = fourier_motion(rng, model.n, seconds, 1.0 / rate, BASE)
    limits = model.limits
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)
    room = [
        (upper - lower) / np.ptp(free.q, axis=0),
        limits.velocity / np.abs(free.qd).max(axis=0),
        limits.acceleration / np.abs(free.qdd).max(axis=0),
    ]
    share = USED * np.min(room, axis=0)
    middle = 0.5 * (free.q.max(axis=0) + free.q.min(axis=0))
    q = 0.5 * (upper + lower) + share * (free.q - middle)
    return SimulatedMotion(free.t, q, share * free.qd, share * free.qdd)


def simulated_log(truth: RobotModel, motion: SimulatedMotion, rng: np.random.Generator) -> EvenLog:
    """Simulate what encoders and torque sensors report of a motion."""
    tau = true_torque(truth, motion)
    noise = TORQUE_NOISE * np.sqrt(np.mean(tau**2, axis=0))
    rate = 1.0 / float(motion.t[1] - motion.t[0])
    return EvenLog(
        rate,
        motion.q + rng.normal(scale=ENCODER_NOISE, size=motion.q.shape),
        tau + noise * rng.normal(size=tau.shape),
    )


def trial(
    model: RobotModel,
    rng: np.random.Generator,
    seconds: float,
    rate: float,
    settings: CalibrationSettings,
) -> CalibrationTrial:
    """Calibrate an altered arm on one motion and judge it on another."""
    truth = altered(model, rng)
    fitted, judged = (
        simulated_log(truth, motion_in_limits(model, rng, seconds, rate), rng) for _ in range(2)
    )
    found = calibrate(model, [fitted], [judged], settings)
    true_x = found.columns.nominal(truth.theta)
    rows = torque_rows(model, found.columns, judged, settings.cutoff)
    off = found.fit.x[found.base.columns] - found.base.values(true_x)
    return CalibrationTrial(
        found,
        truth,
        found.validation.relative / torque_error(rows, true_x).relative,
        off / found.uncertainty.deviation(),
    )
