"""Bodies identified near a wrong description: what a neighbourhood costs and what it is good for.

Drake moves an arm by inverse dynamics whose bodies are up to 30 % too heavy or too light. One
motion is for the fit, another for judging it; loss is the mean over samples of the squared
torque error of all joints, in standard deviations of the noise. Radii of the neighbourhood are
the same shares for alpha, beta, gamma and delta.
"""

from __future__ import annotations

from collections.abc import Sequence
import json
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibration import (
    ENCODER_NOISE,
    TORQUE_NOISE,
    motion_in_limits,
)
from safe_sysid.calibrate.compressed import Compressed, compress
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.neighbourhood_fit import Neighbourhood, neighbourhood_fit
from safe_sysid.calibrate.torque_rows import TorqueRows, torque_rows
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.excited_motion import SimulatedMotion

NAME = 'neighbourhoods'
ROBOTS = ('lbr_med7', 'kinova_gen3')
RADII = {'5 %': 0.05, '20 %': 0.2, '50 %': 0.5, 'none': np.inf}
TRIALS = 5
WRONG = (0.7, 1.3)  # times the mass and inertia of a body, as described
FRICTION = {'Fc': (0.2, 2.0), 'Fv': (0.2, 2.0), 'Ia': (0.02, 0.3)}  # known to the controller
CREEP = 0.02  # [rad/s] of Coulomb friction, in Drake and in the fit
RATE, PERIOD, BEFORE = 1000.0, 10.0, 1.0  # [Hz], [s] recorded, [s] until transients are over
STIFFNESS, DAMPING = 400.0, 40.0  # [1/s2], [1/s] of the controller
CUTOFF = 10.0  # [Hz] of both sides of the fit


class Arm(NamedTuple):
    """An arm and what it is described as."""

    truth: RobotModel
    described: RobotModel


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Each trial has all radii, which so have the same truth and recordings."""
    count = settings.trials or (1 if settings.quick else TRIALS)
    return [
        Trial(NAME, {'robot': robot, 'number': i}, seed_of(settings.seed, (NAME, robot), i))
        for i in range(count)
        for robot in (ROBOTS[:1] if settings.quick else ROBOTS)
    ]


def trial(spec: Trial) -> Row:
    """Record two motions of an arm, and fit one within every neighbourhood."""
    rng = np.random.default_rng(spec.seed)
    arm = arm_of(str(spec.settings['robot']), rng)
    columns = FitColumns(arm.truth.layout, CREEP)
    used, judged = (
        torque_rows(arm.described, columns, recording(arm, rng), CUTOFF) for _ in range(2)
    )
    noise = TORQUE_NOISE * np.sqrt(np.mean(used.recorded**2, axis=0))
    train, validation = weighed(used, noise), weighed(judged, noise)
    true_x, described = (columns.nominal(each.theta) for each in arm)
    row: Row = {
        f'{which}_{who}': loss(data, x)
        for which, data in (('train', train), ('validation', validation))
        for who, x in (('described', described), ('true', true_x))
    }
    bodies = tuple(map(arm.truth.layout.inertial, range(arm.truth.n)))
    for name, radius in RADII.items():
        near = Neighbourhood(bodies, described, (radius,) * 4, columns.nonnegative)
        fit = neighbourhood_fit(train, near)
        row |= {
            f'holds_truth {name}': near.contains(true_x),
            f'solved {name}': fit.solved,
            f'iterations {name}': len(fit.path) - 1,
            f'train {name}': loss(train, fit.x),
            f'validation {name}': loss(validation, fit.x),
            f'mass_error {name}': mass_error(fit.x, true_x, bodies),
            f'cannot_exist {name}': sum(not is_consistent(fit.x[body]) for body in bodies),
            f'path {name}': json.dumps(
                [[loss(data, x) for x in fit.path] for data in (train, validation)]
            ),
        }
    return row | {'mass_error described': mass_error(described, true_x, bodies)}


def arm_of(robot: str, rng: np.random.Generator) -> Arm:
    """Return an arm with friction, and a description whose bodies have the wrong density."""
    model = RobotModel.named(robot)
    theta = model.theta.copy()
    for kind, (low, high) in FRICTION.items():
        theta[model.layout.joint_entries(kind)] = rng.uniform(low, high, model.n)
    theta[model.layout.joint_entries('beta')] = 0.0
    wrong = theta.copy()
    for i in range(model.n):
        wrong[model.layout.inertial(i)] *= rng.uniform(*WRONG)
    return Arm(model.with_parameters(theta), model.with_parameters(wrong))


def recording(arm: Arm, rng: np.random.Generator) -> EvenLog:
    """Let Drake follow random harmonics by inverse dynamics of the description."""
    motion = motion_in_limits(arm.described, rng, PERIOD, RATE)
    count, first = len(motion.q), round(BEFORE * RATE)
    body = DrakeBody(arm.truth, CREEP)
    q, qd = motion.q[0], motion.qd[0]
    positions, torques = [], []
    for k in range(count + first):
        torque = _inverse_dynamics(arm.described, motion, k % count, (q, qd))
        positions.append(q)
        torques.append(torque)
        q, qd = body.advance(q, qd, torque, 1.0 / RATE)
    seen, tau = np.array(positions[first:]), np.array(torques[first:])
    noise = TORQUE_NOISE * np.sqrt(np.mean(tau**2, axis=0))
    return EvenLog(
        RATE,
        seen + rng.normal(scale=ENCODER_NOISE, size=seen.shape),
        tau + noise * rng.normal(size=tau.shape),
    )


def _inverse_dynamics(
    model: RobotModel, motion: SimulatedMotion, k: int, state: tuple[Array, Array]
) -> Array:
    """Torque of the bodies where the arm is, and of friction where it should be."""
    q, qd = state
    asked = motion.qdd[k] + STIFFNESS * (motion.q[k] - q) + DAMPING * (motion.qd[k] - qd)
    theta = model.theta.copy()
    coulomb, viscous = (model.layout.joint_entries(kind) for kind in ('Fc', 'Fv'))
    friction = theta[coulomb] * np.tanh(motion.qd[k] / CREEP) + theta[viscous] * motion.qd[k]
    theta[coulomb] = theta[viscous] = 0.0
    Y = standard_regressor(model, q[None], qd[None], asked[None])[0]
    return np.asarray(Y @ theta + friction)


def weighed(rows: TorqueRows, noise: Array) -> Compressed:
    """Return rows in standard deviations of the noise of recorded torques."""
    Y = (rows.Y / noise[:, None]).reshape(-1, rows.Y.shape[-1])
    return compress(Y, (rows.tau / noise).ravel())


def loss(data: Compressed, x: Array) -> float:
    """Mean over rows of the squared error, one joint."""
    return data.cost(x) / data.count


def mass_error(x: Array, truth: Array, bodies: Sequence[slice]) -> float:
    """RMS over bodies of the share by which the mass is wrong."""
    at = [body.start for body in bodies]
    return float(np.sqrt(np.mean((x[at] / truth[at] - 1.0) ** 2)))
