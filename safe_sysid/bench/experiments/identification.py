"""Random trials of identification whose truth is known and whose errors are within the promise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.identify.observation import Observation
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import (
    SimulatedMotion,
    fourier_motion,
    recorded,
    true_torque,
)
from safe_sysid.simulate.random_arm import random_body, random_tree

PARAMETER_RATIO = 0.05  # bound on the error of every entry of theta_r
TORQUE_RATIO = 0.025  # bound on the error of every torque
ERRORS = ('random', 'gain', 'pattern')


@dataclass(frozen=True, eq=False)
class IdentificationTrial:
    """An arm with a payload, what it measured, and what the identifier is told."""

    model: RobotModel  # the truth
    prior: ParameterEstimate
    settings: ObservationSettings
    log: JointLog

    def observation(self) -> Observation:
        """Rows of the recording."""
        return observe(self.model, self.prior.bounds, self.settings, self.log)

    @property
    def truth(self) -> Array:
        """True theta_e."""
        return self.model.theta[self.model.layout.end_effector]

    @property
    def rest(self) -> Interval:
        """[theta_r]."""
        return self.prior.bounds[self.prior.layout.rest]


def random_trial(rng: np.random.Generator, seconds: float = 3.0) -> IdentificationTrial:
    """Return a random arm of 3 to 7 joints, errors random or worst for one parameter."""
    n = int(rng.integers(3, 8))
    model = random_tree(rng, n, serial=True, armature=rng.uniform(0.05, 0.5))
    model = model.with_parameters(_with_end_effector(model, random_body(rng)))
    motion = fourier_motion(rng, n, seconds, 0.002)
    settings = ObservationSettings(
        window=int(rng.integers(20, 60)),
        quadrature=str(rng.choice(['trapezoid', 'euler'])),
        torque_ratio=(TORQUE_RATIO,),
        position_error=(0.0,),
        velocity_error=(0.0,),
        longest_step=0.003,
    )
    return adversarial_trial(rng, model, motion, settings)


def adversarial_trial(
    rng: np.random.Generator,
    model: RobotModel,
    motion: SimulatedMotion,
    settings: ObservationSettings,
) -> IdentificationTrial:
    """Return a trial of this arm and motion; the kind of error is drawn."""
    torque = true_torque(model, motion)
    guess = IdentificationTrial(
        model, _prior(rng, model, None), settings, recorded(motion, torque)
    )
    kind = str(rng.choice(ERRORS))
    target = int(rng.integers(10))
    prior = _prior(rng, model, _worst_parameters(guess, target) if kind == 'pattern' else None)
    error = _torque_error(rng, guess, kind, target)
    # measured = true / (1 + e) keeps |true - measured| = |e measured|, within the ratio
    measured = torque / (1.0 + TORQUE_RATIO * error)
    return IdentificationTrial(model, prior, settings, recorded(motion, measured))


def _with_end_effector(model: RobotModel, body: Array) -> Array:
    theta: Array = model.theta.copy()
    theta[model.layout.end_effector] = body
    return theta


def _prior(rng: np.random.Generator, model: RobotModel, signs: Array | None) -> ParameterEstimate:
    """Bounds of which the truth is a corner (signs), or any point."""
    layout, truth = model.layout, model.theta
    place = rng.uniform(-1.0, 1.0, size=layout.size)
    if signs is not None:
        place[layout.rest] = signs
    # theta = nominal (1 + ratio place), so that the truth is inside nominal +- ratio |nominal|
    nominal = truth / (1.0 + PARAMETER_RATIO * 0.999 * place)
    bounds = ratio_bounds(nominal, PARAMETER_RATIO)
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    body = truth[layout.end_effector]
    size = np.concatenate([[body[0]], np.full(3, 0.3 * body[0]), np.full(6, 0.1 * body[0])])
    lower[layout.end_effector] = body - size * rng.uniform(0.0, 3.0, size=10)
    upper[layout.end_effector] = body + size * rng.uniform(0.0, 3.0, size=10)
    whole = Interval(lower, upper)
    nominal[layout.end_effector] = whole[layout.end_effector].center
    return ParameterEstimate(layout, nominal, whole)


def _worst_parameters(trial: IdentificationTrial, target: int) -> Array:
    """Corner of [theta_r] that pulls a least-squares estimate of one parameter the farthest."""
    rows = trial.observation()
    pull = np.linalg.pinv(rows.Y_e / rows.delta[:, None])[target] / rows.delta
    signs: Array = np.where(
        pull @ rows.Y_r * trial.prior.theta[trial.prior.layout.rest] > 0, 1, -1
    )
    return signs


def _torque_error(
    rng: np.random.Generator, trial: IdentificationTrial, kind: str, target: int
) -> Array:
    """Errors in [-1, 1] of the promise, (N, n)."""
    samples, n = trial.log.position.shape
    if kind == 'random':
        error: Array = rng.uniform(-1.0, 1.0, size=(samples, n))
        return error
    if kind == 'gain':
        return np.broadcast_to(rng.choice([-1.0, 1.0], size=n), (samples, n))
    rows = trial.observation()
    pull = np.linalg.pinv(rows.Y_e / rows.delta[:, None])[target] / rows.delta
    error = np.ones((samples, n))
    seconds = (trial.log.stamp - trial.log.stamp[0]) * 1e-9
    for row in range(len(rows)):
        inside = (rows.start[row] <= seconds) & (seconds < rows.end[row])
        error[inside, rows.joint[row]] = np.sign(pull[row])
    error *= np.sign(trial.log.torque)
    return error


def violated(trial: IdentificationTrial, **promises: tuple[float, ...]) -> IdentificationTrial:
    """Return the same recording with other promises about its errors."""
    return replace(trial, settings=replace(trial.settings, **promises))  # type: ignore[arg-type]
