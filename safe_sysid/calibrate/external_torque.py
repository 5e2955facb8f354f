"""External torque of an arm nobody touches, and how far hand guiding would drift because of it.

    tau_ext = tau - tau_model        F = (J J' + lambda^2 1)^-1 J tau_ext
    F~ = sign(F) max(|F| - F_th, 0)  dx/dt = Lambda F~

tau is the torque that the drives exert, so tau_ext is what the arm exerts on its surroundings;
a person pushing feels it, and the push is its negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.settings import AdmittanceSettings
from safe_sysid.calibrate.torque_rows import ENDS, MOTION, SmoothedMotion, motion_of
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.filters import zero_phase
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class Drift:
    """What hand guiding would do while nobody touches the arm."""

    active: float  # share of samples outside the dead zone
    path: float  # [m] integral of |dx/dt|
    displacement: Array  # (6,) [m], [rad] integral of dx/dt
    turned: float  # [rad] integral of the angular speed
    seconds: float
    smallest_dead_zone: Array  # (6,) [N], [N m] that gives no drift at all
    wrench_rms: Array  # (6,) [N], [N m]

    @property
    def per_minute(self) -> float:
        """Drift of the tip [m per 60 s]."""
        return self.path * 60.0 / self.seconds


def external_torque(
    model: RobotModel, columns: FitColumns, motion: SmoothedMotion, x: Array, cutoff: float
) -> Array:
    """Measured torque less that of the model with factors x, both filtered, (N, n) [N m]."""
    predicted = columns.regressor(model, motion.q, motion.qd, motion.qdd) @ x
    filtered: Array = zero_phase(motion.tau - predicted, motion.rate, cutoff)
    return filtered


def wrench(model: RobotModel, q: Array, tau: Array, damping: float) -> Array:
    """Force [N] and moment [N m] at the tip joint, axes of the base, from torques (N, n)."""
    found = np.empty((len(q), 6))
    for k, (row, torque) in enumerate(zip(q, tau, strict=True)):
        J = tip_jacobian(model, row)
        found[k] = np.linalg.solve(J @ J.T + damping**2 * np.eye(6), J @ torque)
    return found


def past_dead_zone(F: Array, threshold: Array) -> Array:
    """Part of each component beyond its threshold: 0 inside, continuous."""
    beyond: Array = np.sign(F) * np.maximum(np.abs(F) - threshold, 0.0)
    return beyond


def drift(F: Array, rate: float, settings: AdmittanceSettings) -> Drift:
    """Motion that the admittance law makes of wrenches (N, 6) nobody exerts."""
    beyond = past_dead_zone(F, np.array(settings.dead_zone))
    speed = beyond * np.array(settings.mobility)
    return Drift(
        active=float(np.mean(np.any(beyond != 0.0, axis=1))),
        path=float(np.sum(np.linalg.norm(speed[:, :3], axis=1)) / rate),
        displacement=np.sum(speed, axis=0) / rate,
        turned=float(np.sum(np.linalg.norm(speed[:, 3:], axis=1)) / rate),
        seconds=len(F) / rate,
        smallest_dead_zone=np.max(np.abs(F), axis=0),
        wrench_rms=np.sqrt(np.mean(F**2, axis=0)),
    )


def drift_of(
    model: RobotModel,
    motion: SmoothedMotion,
    columns: FitColumns,
    x: Array,
    cutoff: float,
    settings: AdmittanceSettings,
) -> Drift:
    """Drift of a recording; torques of joints that stand are gated, their friction is unknown.

    A joint that stands holds up to its Coulomb friction either way, so as much of its external
    torque is not counted. The ends, where filters ring, are left out.
    """
    tau = external_torque(model, columns, motion, x, cutoff)
    holding = columns.layout.friction(x[: columns.layout.size])[0]
    stands = np.abs(motion.qd) < settings.standing
    tau = np.where(stands, past_dead_zone(tau, holding), tau)
    step = max(int(motion.rate / (4.0 * cutoff)), 1)
    ends = round(ENDS * motion.rate / cutoff)
    if len(tau) <= 2 * ends:
        raise MeasurementError(
            f'{len(tau) / motion.rate:.2g} s are too short for a cut-off of {cutoff} Hz'
        )
    seen = slice(ends, len(tau) - ends, step)
    F = wrench(model, motion.q[seen], tau[seen], settings.damping)
    return drift(F, motion.rate / step, settings)


def worst_drift(
    model: RobotModel, logs: list[EvenLog], cutoff: float, settings: AdmittanceSettings
) -> Drift:
    """Drift of the piece of some recordings that has the largest."""
    columns = FitColumns(model.layout, settings.standing)
    found = [
        drift_of(model, motion_of(log, MOTION * cutoff), columns, model.theta, cutoff, settings)
        for log in logs
    ]
    return max(found, key=lambda one: one.per_minute)
