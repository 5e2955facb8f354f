"""Motions in which a rigid body is held all the time, and whether the tests of it are silent.

An arm of the bench goes from pose to pose and rests between. Its torques have errors of sensors,
friction that is anything up to its bound while a joint stands, and what no model has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.changing_payload import ROWS
from safe_sysid.bench.experiments.handling import PERIOD, RATIO, WINDOW
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO
from safe_sysid.bench.experiments.pick_and_place import (
    CELLS,
    LEAST_FRICTION,
    UNMODELLED,
    held_thing,
)
from safe_sysid.bench.experiments.unmodelled_torque import MEMORY
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import LooksAtOnce
from safe_sysid.identify.change.held_next import from_library
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.grasp import GraspError
from safe_sysid.model.held_body import placed
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import felt_parameters
from safe_sysid.sets.interval import Interval

SECONDS = 60.0  # of a trial
NOISE = 0.001  # [rad/s] of measured velocities, which the test has to find out
MOVES, RESTS = (1.0, 3.0), (0.0, 1.0)  # [s]
FARTHEST = 0.8  # [rad] of a move, in every joint
SHARE = 0.98 * PARAMETER_RATIO  # that the arm is off its description
CHUNK = 2000  # samples


@dataclass(frozen=True)
class Quiet:
    """What the test said of a trial."""

    arm: str
    seconds: float
    alarms: int
    statistic: float  # the largest
    called_not_rigid: int  # times


def quiet(seed: int, number: int) -> Quiet:
    """Look at one trial."""
    rng = np.random.default_rng([seed, number, 1])
    cell = CELLS[number % len(CELLS)]
    model = RobotModel.named(cell.arm)
    theta, layout = model.theta.copy(), model.layout
    dry = layout.joint_entries('Fc')
    theta[dry] = np.maximum(theta[dry], LEAST_FRICTION)
    nominal = model.with_parameters(theta)
    true = theta.copy()
    true[layout.rest] *= 1.0 + SHARE * rng.uniform(-1.0, 1.0, len(layout.rest))
    load = held_thing(cell, float(rng.uniform(0.0, cell.heaviest)))
    true[layout.end_effector] += placed(nominal, load)
    samples = _samples(rng, nominal.with_parameters(true), np.array(cell.pick))
    settings = _settings()
    known = _known(nominal, held_thing(cell, cell.heaviest))
    looks = LooksAtOnce(nominal, known, *settings)
    alarms = called_not_rigid = 0
    largest = 0.0
    stamps = np.arange(len(samples), dtype=np.int64) * round(PERIOD * 1e9)
    for first in range(0, len(samples), WINDOW):
        part = slice(first, first + WINDOW)
        looks.add((stamps[part], samples[part]))
        largest = max(largest, looks.statistic)
        if looks.found() is not None:
            alarms += 1
            looks.new_payload(known.end_effector_bounds, int(stamps[part][-1]))
        if looks.not_rigid():
            called_not_rigid += 1
            looks.trust()
    return Quiet(cell.arm, len(samples) * PERIOD, alarms, largest, called_not_rigid)


def _known(model: RobotModel, heaviest: Payload) -> ParameterEstimate:
    """5 % on everything, and anything up to the heaviest in the hand."""
    bounds, place = ratio_bounds(model.theta, PARAMETER_RATIO), model.layout.end_effector
    held = from_library(model, [heaviest], GraspError(), bounds[place])
    theta, lower, upper = model.theta.copy(), bounds.lower.copy(), bounds.upper.copy()
    theta[place], lower[place], upper[place] = held.nominal, held.bounds.lower, held.bounds.upper
    return ParameterEstimate(model.layout, theta, Interval(lower, upper))


def _settings() -> tuple[ObservationSettings, ChangeSettings]:
    """Nobody says how velocities scatter."""
    observed = replace(ROWS, window=WINDOW, longest_step=1.5 * PERIOD, velocity_error=None)
    return observed, ChangeSettings(unmodelled_torque=UNMODELLED)


def _samples(rng: np.random.Generator, truth: RobotModel, about: Array) -> Array:
    """Return positions, velocities and torques as measured, (N, 3, n)."""
    q, qd, qdd, rests = _motion(rng, about)
    motion = (q, qd, qdd)
    felt = felt_parameters(truth)
    torque = np.concatenate([
        standard_regressor(truth, *(x[i : i + CHUNK] for x in motion)) @ felt
        for i in range(0, len(q), CHUNK)
    ])  # fmt: skip
    coulomb = felt[truth.layout.joint_entries('Fc')]
    torque += rests * coulomb  # instead of none, where a joint stands
    torque += UNMODELLED * _coloured(rng, torque.shape)
    lasting, fresh = rng.uniform(-1.0, 1.0, truth.n), rng.uniform(-1.0, 1.0, torque.shape)
    torque /= 1.0 + RATIO * 0.5 * (lasting + fresh)
    measured = qd + NOISE * rng.normal(size=qd.shape)
    return np.stack([q, measured, torque], axis=1)


def _motion(rng: np.random.Generator, about: Array) -> tuple[Array, Array, Array, Array]:
    """Return moves from pose to pose with rests between, and friction there in its bound."""
    parts: list[tuple[Array, Array, Array, Array]] = []
    at, count = about, 0
    while count * PERIOD < SECONDS:
        to = about + rng.uniform(-0.5, 0.5, len(about)) * FARTHEST
        duration, rest = rng.uniform(*MOVES), rng.uniform(*RESTS)
        s = np.arange(0.0, 1.0, PERIOD / duration)[:, None]
        way = to - at
        none = np.zeros((len(s), len(about)))
        parts.append((
            at + way * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5),
            way * (30.0 * s**2 - 60.0 * s**3 + 30.0 * s**4) / duration,
            way * (60.0 * s - 180.0 * s**2 + 120.0 * s**3) / duration**2,
            none,
        ))  # fmt: skip
        still = np.zeros((round(rest / PERIOD), len(about)))
        parts.append((to + still, still, still, still + rng.uniform(-1.0, 1.0, len(about))))
        at, count = to, count + len(s) + len(still)
    q, qd, qdd, rests = (np.concatenate(each) for each in zip(*parts, strict=True))
    return q, qd, qdd, rests


def _coloured(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Noise of unit deviation that forgets itself over `MEMORY`."""
    keep = np.exp(-PERIOD / MEMORY)
    fresh = np.sqrt(1.0 - keep**2) * rng.normal(size=shape)
    fresh[0] /= np.sqrt(1.0 - keep**2)
    return np.asarray(lfilter([1.0], [1.0, -keep], fresh, axis=0))
