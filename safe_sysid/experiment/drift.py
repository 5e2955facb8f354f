"""Hand guiding by an identified model: how far the arm drifts untouched, and whether pushes show.

An LBR Med 7 with a rod moves slowly for a minute and nobody touches it; what its torque sensors
feel beyond the model moves the tip, past the published dead zone. Then the same with a push.
"""

from __future__ import annotations

from dataclasses import dataclass
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibration import (
    ENCODER_NOISE,
    TORQUE_NOISE,
    motion_in_limits,
)
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.external_torque import (
    drift_of,
    external_torque,
    past_dead_zone,
    wrench,
)
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.settings import AdmittanceSettings
from safe_sysid.calibrate.torque_rows import MOTION, motion_of
from safe_sysid.experiment.trial import Row
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import SimulatedMotion, true_torque

SECONDS, SLOWER = 60.0, 6.0  # of the motion, and than what excites
RATE, CUTOFF = 100.0, 5.0  # [Hz] of samples, and of the filter of torques
PUSH = np.array([0.0, 15.0, 0.0, 0.0, 0.0, 0.0])  # [N], [N m] at the tip, axes of the base
PUSHED = (20.0, 40.0)  # [s] of the minute
EVERY = 25  # samples from one point of a plot to the next
SETTLED = 1.0  # [s] beside ends of the push that do not count


@dataclass(frozen=True, eq=False)
class Guided:
    """An arm, and the model that it is compared with."""

    truth: RobotModel
    model: RobotModel
    columns: FitColumns
    x: Array  # factors of the model


def drift_row(guided: Guided, rng: np.random.Generator) -> Row:
    """Return the drift of a minute untouched, and how a push is felt in the same minute."""
    motion = _slow_motion(guided.model, rng)
    torque = true_torque(guided.truth, motion)
    scale = TORQUE_NOISE * np.sqrt(np.mean(torque**2, axis=0))
    torque += scale * rng.normal(size=torque.shape)
    q = motion.q + rng.normal(scale=ENCODER_NOISE, size=motion.q.shape)
    settings = AdmittanceSettings()
    free = motion_of(EvenLog(RATE, q, torque), MOTION * CUTOFF)
    found = drift_of(guided.model, free, guided.columns, guided.x, CUTOFF, settings)
    pushed = (motion.t >= PUSHED[0]) & (motion.t < PUSHED[1])
    felt = np.zeros_like(torque)
    for i in np.flatnonzero(pushed):
        felt[i] = tip_jacobian(guided.model, motion.q[i]).T @ PUSH
    touched = torque + felt
    both = motion_of(EvenLog(RATE, q, touched), MOTION * CUTOFF)
    tau = external_torque(guided.model, guided.columns, both, guided.x, CUTOFF)
    seen = slice(0, len(tau), EVERY)
    F = wrench(guided.model, both.q[seen], tau[seen], settings.damping)
    exact = wrench(guided.model, motion.q[seen], felt[seen], settings.damping)
    t = motion.t[seen]
    inside = (t > PUSHED[0] + SETTLED) & (t < PUSHED[1] - SETTLED)
    beyond = past_dead_zone(F, np.array(settings.dead_zone))
    return {
        'drift_mm': 1e3 * found.per_minute,
        'moved_mm': 1e3 * float(np.linalg.norm(found.displacement[:3])),
        'active': found.active,
        'force_rms': float(np.sqrt(np.mean(found.wrench_rms[:3] ** 2))),
        'force_largest': float(found.smallest_dead_zone[:3].max()),
        'push_error': float(np.median(np.linalg.norm((F - exact)[inside, :3], axis=1))),
        'push_noticed': float(np.mean(np.any(beyond[inside] != 0.0, axis=1))),
        'force_history': json.dumps([float(f'{x:.4g}') for x in F[:, 1]]),
    }


def _slow_motion(model: RobotModel, rng: np.random.Generator) -> SimulatedMotion:
    """Return an exciting motion, so many times as slow."""
    fast = motion_in_limits(model, rng, SECONDS / SLOWER, SLOWER * RATE)
    return SimulatedMotion(SLOWER * fast.t, fast.q, fast.qd / SLOWER, fast.qdd / SLOWER**2)
