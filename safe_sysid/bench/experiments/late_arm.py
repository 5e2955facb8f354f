"""The Kinova as config/described/kinova_gen3.yaml has it, and what may be unknown of it.

Sensors, delays, drives and what a calibration leaves open are those of that loop and of the file
of the arm; no figure of it is repeated here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import read_yaml
from safe_sysid.loop_settings import LoopSettings, agreed_settings
from safe_sysid.model.inertia import pseudo_inertia
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.parameter_files import parameters_of
from safe_sysid.sets.interval import Interval
from safe_sysid.share import share_directory
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

SIMULATOR = 'builtin_sim_bridge'
SLOW = 1e-4  # [s] time constant of drives with which plans are certified, too
PRODUCTS = (5, 7, 8)  # Ixy, Ixz, Iyz of ten inertial parameters
SMALLER = 0.95  # from one share of a corner to the next that is tried
INSIDE = 1e-12  # share of the way back to the figures, so that rounding leaves no bound


def _told() -> dict[str, Any]:
    """Return what the loop file says to the simulator, and so to all nodes."""
    path = share_directory() / 'config' / 'described' / 'kinova_gen3.yaml'
    return parameters_of(read_yaml(path), f'/{SIMULATOR}')


def _loop(told: dict[str, Any]) -> LoopSettings:
    return replace(agreed_settings({SIMULATOR: told}), simulated=True)


_TOLD = _told()
LOOP = _loop(_TOLD)
PERIOD = LOOP.period  # [s]
START: Array = np.array(_TOLD['start'])


def late_kinova(slow: float | None = None) -> RobotModel:
    """Return the arm with all that is assumed of it, with drives that follow in `slow` seconds."""
    model = LOOP.described()
    if slow is None:
        return model
    drives = replace(model.actuation, bandwidth=np.full(model.n, slow))
    return replace(model, actuation=drives)


def sampling_of(model: RobotModel) -> Sampling:
    """How the arm is seen."""
    sampling = LOOP.seen(model).sampling
    assert sampling is not None
    return sampling


def gains_of(model: RobotModel) -> Gains:
    """Gains that certificates are found for."""
    return LOOP.gains.gains(model)


def known(model: RobotModel) -> ParameterEstimate:
    """Return what a calibration leaves open."""
    return LOOP.prior.estimate(model)


def truth_of(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return an arm whose bodies can exist, with all that is unknown at ends of its bounds."""
    return truth_at(model, rng.choice([-1.0, 1.0], model.n), rng.choice([-1.0, 1.0], 4 * model.n))


def truth_at(model: RobotModel, links: Array, joints: Array) -> RobotModel:
    """Return the arm at these ends: signs of every link (n,) and of Fc, Fv, Ia, beta (4 n,)."""
    n, estimate = model.n, known(model)
    lower, upper = estimate.bounds.lower, estimate.bounds.upper
    theta: Array = estimate.theta.copy()
    for i, sign in enumerate(links[:-1]):
        theta[model.layout.inertial(i)] *= 1.0 + LOOP.prior.ratio * sign
    place = model.layout.end_effector
    theta[place] = _held(estimate.theta[place], estimate.bounds[place], links[-1])
    signs = joints.copy()
    signs[:n] = 1.0  # more friction than is counted on, whatever the others are
    theta[10 * n :] = np.where(signs > 0.0, upper[10 * n :], lower[10 * n :])
    return model.with_parameters(theta * (1.0 - INSIDE) + estimate.theta * INSIDE)


def _held(body: Array, bounds: Interval, sign: float) -> Array:
    """Return the heaviest body with its mass farthest off, or the lightest with it nearest.

    Its moments are the largest; products are those of its mass at its centre, so that it exists.
    """
    ends, corner = np.stack([bounds.lower, bounds.upper]), bounds.upper.copy()
    farther = sign * np.where(body[1:4] < 0.0, -1.0, 1.0)
    corner[0], corner[1:4] = ends[int(sign > 0.0), 0], ends[(farther > 0.0).astype(int), [1, 2, 3]]
    m, x, y, z = corner[:4]
    corner[list(PRODUCTS)] = -np.array([x * y, x * z, y * z]) / m
    return _body_towards(body, np.clip(corner, bounds.lower, bounds.upper))


def _body_towards(body: Array, corner: Array) -> Array:
    """Return a body that can exist, as far on the way to ten numbers as there is one."""
    share = 1.0
    while np.linalg.eigvalsh(pseudo_inertia(body + share * (corner - body)))[0] <= 0.0:
        share *= SMALLER
    return np.asarray(body + share * (corner - body))
