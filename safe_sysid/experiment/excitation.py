"""Exciting motions under contact constraints, and what signals and regressions make of one.

Motions: searches from random starts for an LBR Med 7 with a rod, proven free of contact. Signals
and regressions: a recording of such an arm is simulated at 100 Hz with encoder and torque noise;
accelerations come from a tracking differentiator, a filter without delay or harmonics, parameters
from least squares, bounds around the description, or a semidefinite program. Errors are judged on
a motion that was not used, in torque as it was, and by what hand guiding with such a model does.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import scipy.optimize

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibration import (
    ENCODER_NOISE,
    TORQUE_NOISE,
    altered,
    motion_in_limits,
)
from safe_sysid.bench.experiments.excitation import best_of_start, checked, tool_arm, tool_problem
from safe_sysid.calibrate.calibration import consistency
from safe_sysid.calibrate.compressed import Compressed, compress
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.sdp_fit import sdp_fit
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.drift import Guided, drift_row
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.measure.filters import (
    TrackingDifferentiator,
    derivative,
    harmonic_motion,
    zero_phase,
)
from safe_sysid.model.inertia import pseudo_inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import SimulatedMotion, true_torque

NAME = 'excitation'
CRITERIA = ('kappa', 'r_c')  # condition number; bound of it by sums of squares, as published
STARTS, QUICK_STARTS = 10, 2
SIGNALS = ('tracking differentiator', 'zero phase', 'harmonics')
REGRESSIONS = ('least squares', 'within 30 %', 'within 50 %', 'within 100 %', 'semidefinite')
DESCRIBED, TRUE = 'as described', 'true parameters'
GUIDED_BY = (DESCRIBED, 'least squares', 'within 50 %', 'semidefinite', TRUE)
ARMS, QUICK_ARMS = 10, 1
RATE = 100.0  # [Hz] of the recording
PERIOD, HARMONICS = 10.0, 5  # [s] of the motion, and harmonics in it
CUTOFF = 10.0  # [Hz] of the filter without delay
JERK, SMOOTHING = 200.0, 0.05  # [rad/s^3], [s] of the tracking differentiator
FAINT = 1e-6  # pull towards the description, in units of noise, where torques say nothing
DRAWN = 10  # samples from one point of a plot to the next
KEPT = slice(100, -100)  # samples away from both ends, where filters are settled


class Signals(NamedTuple):
    """What a recording is taken for, (N, n) each."""

    q: Array
    qd: Array
    qdd: Array
    torque: Array


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Return searches by criterion, signals with each regression, then models in use."""
    starts = settings.trials or (QUICK_STARTS if settings.quick else STARTS)
    arms = settings.trials or (QUICK_ARMS if settings.quick else ARMS)
    searches = [
        Trial(NAME, {'kind': 'motion', 'criterion': criterion, 'number': i}, settings.seed)
        for i in range(starts)
        for criterion in CRITERIA
    ]
    fits = [
        Trial(
            NAME,
            {'kind': 'fit', 'signals': signals, 'regression': regression, 'number': i},
            seed_of(settings.seed, (NAME, 'fit'), i),
        )
        for i in range(arms)
        for signals in SIGNALS
        for regression in REGRESSIONS
    ]
    drifts = [
        Trial(
            NAME,
            {'kind': 'drift', 'model': name, 'number': i},
            seed_of(settings.seed, (NAME, 'fit'), i),
        )
        for i in range(arms)
        for name in GUIDED_BY
    ]
    return searches + fits + drifts


def trial(spec: Trial) -> Row:
    """Search one motion, fit one arm, or let it be guided by hand."""
    if spec.settings['kind'] == 'drift':
        return _drift(str(spec.settings['model']), spec.seed)
    if spec.settings['kind'] == 'motion':
        return _motion(
            str(spec.settings['criterion']), spec.seed, int(str(spec.settings['number']))
        )
    return _fit(str(spec.settings['signals']), str(spec.settings['regression']), spec.seed)


def _motion(criterion: str, seed: int, start: int) -> Row:
    """Return the condition number of the best motion of one start, and what is proven of it."""
    problem = tool_problem()
    found = best_of_start(problem, criterion, seed, start)
    if found is None:
        raise SafeSysidError(f'start {start} came free of contact nowhere')
    measured = checked(problem, found)
    return {
        'condition': measured.condition,
        'clearance_mm': 1e3 * measured.clearance,
        'required_mm': 1e3 * problem.required,
        'proven': measured.holds,
        'violation': measured.holds and measured.clearance < problem.required,
    }


def _fit(signals: str, regression: str, seed: int) -> Row:
    """Identify an arm that differs from its description, and judge that on another motion."""
    found = _identified(signals, regression, seed)
    judged = true_torque(found.truth, found.other)
    other, model = found.other, found.model
    error = found.columns.regressor(model, other.q, other.qd, other.qdd) @ found.x - judged
    bodies = [pseudo_inertia(found.x[model.layout.inertial(i)]) for i in range(model.n)]
    smallest = [float(np.linalg.eigvalsh(J)[0]) for J in bodies]
    row: Row = {
        'acceleration_error': found.acceleration_error,
        'torque_error_share': _rms(error) / _rms(judged),
        'largest_error_A1': float(np.abs(error[:, 0]).max()),
        'largest_error_A7': float(np.abs(error[:, 6]).max()),
        'bodies_that_cannot_exist': sum(value < 0.0 for value in smallest),
    }
    return row | {
        f'{name}_history': json.dumps([float(f'{x:.4g}') for x in values[::DRAWN, 0]])
        for name, values in (('position', found.motion.q), ('true', judged), ('error', error))
    }


def _drift(name: str, seed: int) -> Row:
    """Let the arm be guided by hand, by what a model says of its torques."""
    regression = name if name in REGRESSIONS else REGRESSIONS[0]
    found = _identified('zero phase', regression, seed)
    described = found.columns.nominal(found.model.theta)
    true = found.columns.nominal(found.truth.theta)
    x = {DESCRIBED: described, TRUE: true}.get(name, found.x)
    guided = Guided(found.truth, found.model, found.columns, x)
    return drift_row(guided, np.random.default_rng([seed, 1]))


class _Identified(NamedTuple):
    """An arm, its truth, what was identified of it from one motion, and another motion."""

    model: RobotModel
    truth: RobotModel
    columns: FitColumns
    x: Array
    motion: SimulatedMotion
    other: SimulatedMotion
    acceleration_error: float  # [rad/s^2]


def _identified(signals: str, regression: str, seed: int) -> _Identified:
    rng = np.random.default_rng(seed)
    model = tool_arm()[1]
    truth = altered(model, rng)
    motion, other = (motion_in_limits(model, rng, PERIOD, RATE) for _ in range(2))
    q = motion.q + rng.normal(scale=ENCODER_NOISE, size=motion.q.shape)
    torque = true_torque(truth, motion)
    noise = TORQUE_NOISE * np.sqrt(np.mean(torque**2, axis=0))
    seen = signals_of(signals, motion.t, q, torque + noise * rng.normal(size=torque.shape))
    columns = FitColumns(model.layout, CalibrationSettings().creep)
    Y = columns.regressor(model, seen.q[KEPT], seen.qd[KEPT], seen.qdd[KEPT])
    x = regressed(regression, model, columns, Y / noise[:, None], seen.torque[KEPT] / noise)
    off = _rms(seen.qdd[KEPT] - _true_acceleration(signals, motion)[KEPT])
    return _Identified(model, truth, columns, x, motion, other, off)


def signals_of(name: str, t: Array, q: Array, torque: Array) -> Signals:
    """Velocity and acceleration from positions; torque is filtered or delayed alike."""
    if name == 'harmonics':
        return Signals(*harmonic_motion(t, q, PERIOD, HARMONICS), torque)
    if name == 'zero phase':
        filtered, slow = zero_phase(q, RATE, CUTOFF), zero_phase(torque, RATE, CUTOFF)
        velocity = derivative(filtered, RATE)
        return Signals(filtered, velocity, derivative(velocity, RATE), slow)
    measured = derivative(q, RATE)
    tracker = TrackingDifferentiator(1.0 / RATE, JERK, SMOOTHING, measured[0])
    steps = [tracker.step(each) for each in measured]
    velocity, acceleration = (np.array([step[i] for step in steps]) for i in range(2))
    lag = _lag(measured, velocity)
    return Signals(_later(q, lag), velocity, acceleration, _later(torque, lag))


def _lag(measured: Array, tracked: Array) -> int:
    """Return the samples by which the tracked velocity is late."""
    errors = [np.sum((_later(measured, k) - tracked)[KEPT] ** 2) for k in range(30)]
    return int(np.argmin(errors))


def _later(values: Array, samples: int) -> Array:
    return np.concatenate([np.repeat(values[:1], samples, axis=0), values])[: len(values)]


def _true_acceleration(signals: str, motion: SimulatedMotion) -> Array:
    """Acceleration at the time that signals speak of."""
    if signals != 'tracking differentiator':
        return motion.qdd
    measured = derivative(motion.q, RATE)
    tracker = TrackingDifferentiator(1.0 / RATE, JERK, SMOOTHING, measured[0])
    velocity = np.array([tracker.step(each)[0] for each in measured])
    return _later(motion.qdd, _lag(measured, velocity))


def regressed(name: str, model: RobotModel, columns: FitColumns, Y: Array, torque: Array) -> Array:
    """Parameters from rows in units of noise."""
    rows, right = Y.reshape(-1, columns.size), torque.ravel()
    nominal = columns.nominal(model.theta)
    if name == 'semidefinite':
        limits = consistency(model, columns, CalibrationSettings())
        return sdp_fit(compress(rows, right), limits).x
    data = compress(rows, right)
    if name == 'least squares':  # the nearest to the description of all that fit best
        step = np.linalg.pinv(data.R, rcond=1e-9) @ (data.z - data.R @ nominal)
        return np.asarray(nominal + step)
    return _within(float(name.split()[1]) / 100.0, model, columns, data)


def _within(share: float, model: RobotModel, columns: FitColumns, data: Compressed) -> Array:
    """Return what fits best within a share of mass, lever and inertia; friction is free."""
    nominal = columns.nominal(model.theta)
    scale = np.ones(columns.size)
    bounded = np.zeros(columns.size, dtype=bool)
    for body in map(model.layout.inertial, range(model.n)):
        theta = np.abs(model.theta[body])
        scale[body] = share * np.concatenate(
            [theta[:1], np.full(3, theta[1:4].max()), np.full(6, theta[4:].max())]
        )
        bounded[body] = True
    lower, upper = np.where(bounded, -1.0, -np.inf), np.where(bounded, 1.0, np.inf)
    lower[columns.nonnegative] = -nominal[columns.nonnegative]
    rows = np.vstack([data.R * scale, FAINT * np.eye(columns.size)])
    right = np.concatenate([data.z - data.R @ nominal, np.zeros(columns.size)])
    fit = scipy.optimize.lsq_linear(rows, right, bounds=(lower, upper), method='bvls')
    return np.asarray(nominal + scale * fit.x)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
