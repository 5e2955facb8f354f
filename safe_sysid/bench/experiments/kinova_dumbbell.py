"""The published setting: a Kinova Gen3 with a dumbbell, and the ways its assumptions can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import (
    PARAMETER_RATIO,
    TORQUE_RATIO,
    IdentificationTrial,
)
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

DUMBBELLS = tuple(f'dumbbell_{pounds}lb' for pounds in (4, 5, 6, 7, 8))
SECONDS = 7.5
PERIOD = 0.001  # [s]
SETTINGS = ObservationSettings(
    window=100, torque_ratio=(TORQUE_RATIO,), position_error=(0.0,), velocity_error=(0.0,)
)
# Table I: [theta_e] of every payload that may come, and its nominal value
TABLE_I_LOWER = np.array([1.2, -0.4, -0.4, -1.0, *(-0.2,) * 6])
TABLE_I_UPPER = np.array([5.2, 0.4, 0.4, -0.1, *(0.2,) * 6])
TABLE_I_NOMINAL = np.array([3.2, 0.0, 0.0, -0.5, *(0.0,) * 6])
CONTACT = 3.0  # [N m]
CONTACT_SECONDS = 1.0
WRONG_CASES = ('torque_noise_twice', 'contact_3Nm', 'link_mass_15_percent')


def kinova_prior(model: RobotModel) -> ParameterEstimate:
    """5 % on all entries of theta_r, friction and armature included; Table I on theta_e."""
    bounds = ratio_bounds(model.theta, PARAMETER_RATIO)
    lower, upper, theta = bounds.lower.copy(), bounds.upper.copy(), model.theta.copy()
    place = model.layout.end_effector
    lower[place], upper[place], theta[place] = TABLE_I_LOWER, TABLE_I_UPPER, TABLE_I_NOMINAL
    return ParameterEstimate(model.layout, theta, Interval(lower, upper))


def kinova_trial(rng: np.random.Generator, seconds: float = SECONDS) -> IdentificationTrial:
    """Return a trial with a dumbbell, true links in their bounds, torque errors in theirs."""
    nominal, truth = _arm_and_truth(rng)
    return _recorded(rng, nominal, truth, seconds, noise=1.0)


def wrong_trial(rng: np.random.Generator, case: str) -> IdentificationTrial:
    """Return a trial in which one assumption is false."""
    nominal, truth = _arm_and_truth(rng)
    if case == 'torque_noise_twice':
        return _recorded(rng, nominal, truth, SECONDS, noise=2.0)
    if case == 'link_mass_15_percent':
        theta, link = truth.theta.copy(), truth.layout.inertial(int(rng.integers(truth.n - 1)))
        theta[link] = 1.15 * nominal.theta[link]
        return _recorded(rng, nominal, truth.with_parameters(theta), SECONDS, noise=1.0)
    trial = _recorded(rng, nominal, truth, SECONDS, noise=1.0)
    torque = trial.log.torque.copy()
    start = int(rng.integers(len(torque) - round(CONTACT_SECONDS / PERIOD)))
    touched = slice(start, start + round(CONTACT_SECONDS / PERIOD))
    torque[touched, rng.integers(truth.n)] += CONTACT * rng.choice([-1.0, 1.0])
    return replace(trial, log=replace(trial.log, torque=torque))


def _arm_and_truth(rng: np.random.Generator) -> tuple[RobotModel, RobotModel]:
    """Return the arm as it is described, holding a dumbbell, and as it is."""
    nominal = RobotModel.named('kinova_gen3').with_payload(
        read_payload(str(rng.choice(DUMBBELLS)))
    )
    theta = nominal.theta.copy()
    rest = nominal.layout.rest
    theta[rest] *= 1.0 + 0.999 * PARAMETER_RATIO * rng.uniform(-1.0, 1.0, size=len(rest))
    return nominal, nominal.with_parameters(theta)


def _recorded(
    rng: np.random.Generator, nominal: RobotModel, truth: RobotModel, seconds: float, noise: float
) -> IdentificationTrial:
    """Return recording of a random motion, its torque errors `noise` times the promise at most."""
    motion = fourier_motion(rng, truth.n, seconds, PERIOD)
    torque = true_torque(truth, motion)
    measured = torque / (1.0 + noise * TORQUE_RATIO * _relative_errors(rng, torque.shape))
    return IdentificationTrial(truth, kinova_prior(nominal), SETTINGS, recorded(motion, measured))


def _relative_errors(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Errors in [-1, 1]: independent from sample to sample, or a gain per joint."""
    if rng.random() < 0.5:
        errors: Array = rng.uniform(-1.0, 1.0, size=shape)
        return errors
    return np.broadcast_to(rng.choice([-1.0, 1.0], size=shape[1]), shape)
