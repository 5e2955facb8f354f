"""The Kinova as its encoders and its bus show and move it, and what may be unknown of it.

Steps of the encoders are published; the rest is an assumption of ours, of a driver that waits for
the next cycle of its bus, a calibrated model, and friction and offsets that drift.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import SensingFacts
from safe_sysid.sets.interval import Interval
from safe_sysid.track.described_sampling import described_sampling
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

PERIOD = 0.001  # [s]
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])
SHARE, COULOMB, OFFSET = 0.01, 0.2, 0.05  # of every figure; [N m]; [N m]
V_M = 0.035  # [J]
RATIO = 0.01  # of torques, by which drives are off


def late_kinova(slow: float = 0.0, least: float = 1.0) -> RobotModel:
    """Return the arm with what it states of sensors and drives, which follow in `slow` seconds.

    Torques are late by a period, or by a constant that is `least` periods at least.
    """
    model = RobotModel.named('kinova_gen3')
    drives = replace(
        Actuation.exact(model.n),
        ratio=np.full(model.n, RATIO),
        bandwidth=np.full(model.n, slow),
        delay_periods=(least, 1.0),
        jitter=0.0,
    )
    sensing = SensingFacts(stamp_error=0.0, zero_error=(0.0,))
    sensors = replace(model.sensors, sensing=sensing)
    return replace(model, actuation=drives, sensors=sensors, gravity_tilt=0.0)


def sampling_of(model: RobotModel) -> Sampling:
    """How the arm is seen."""
    sampling = described_sampling(model, PERIOD).sampling
    assert sampling is not None
    return sampling


def gains_of(model: RobotModel) -> Gains:
    """Gains that certificates are found for."""
    drives = model.actuation
    return Gains(np.full(model.n, 5.0), V_M, 1000.0, 0.05, 0.0, drives.absolute, drives.ratio)


def known(model: RobotModel) -> ParameterEstimate:
    """Return what a calibration leaves open."""
    spread = SHARE * np.abs(model.theta)
    spread[model.layout.joint_entries('Fc')] = COULOMB
    spread[model.layout.joint_entries('beta')] = OFFSET
    bounds = Interval(model.theta - spread, model.theta + spread)
    return ParameterEstimate(model.layout, model.theta, bounds)


def truth_of(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return an arm whose bodies can exist, with all that is unknown at ends of its bounds."""
    n = model.n
    links = np.array([rng.choice([-1.0, 1.0]) for _ in range(n)])
    joints = rng.choice([-1.0, 1.0], 4 * n)
    return truth_at(model, links, np.concatenate([joints[: 3 * n], rng.choice([-1.0, 1.0], n)]))


def truth_at(model: RobotModel, links: Array, joints: Array) -> RobotModel:
    """Return the arm at these ends: signs of every link (n,) and of Fc, Fv, Ia, beta (4 n,)."""
    theta: Array = model.theta.copy()
    n = model.n
    for i, sign in enumerate(links):
        theta[model.layout.inertial(i)] *= 1.0 + SHARE * sign
    theta[10 * n :] *= 1.0 + SHARE * joints
    theta[model.layout.joint_entries('Fc')] = COULOMB
    theta[model.layout.joint_entries('beta')] = OFFSET * joints[3 * n :]
    return model.with_parameters(theta * (1.0 - 1e-12) + model.theta * 1e-12)
