"""Where an arm is compared with its plan: errors, and the regressor a law multiplies by theta."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True, eq=False)
class Tracking:
    """Measured and desired state of n joints at one instant."""

    q: Array  # (n,) [rad] measured
    qd: Array
    qd_d: Array  # (n,) [rad/s] desired
    qdd_d: Array
    e: Array  # (n,) [rad] desired minus measured, wrapped on continuous joints
    ed: Array  # (n,) [rad/s]


def compared(
    model: RobotModel, clock: Clock, measurement: JointMeasurement, plan: Plan
) -> Tracking:
    """Measured state against that of the plan at the time of the stamp."""
    q, qd = checked_state(model, measurement)
    q_d, qd_d, qdd_d = plan.desired(clock.seconds(measurement.stamp))
    return Tracking(
        q, qd, qd_d, qdd_d, shortest_turn(q_d - q, model.limits.is_continuous), qd_d - qd
    )


def checked_state(model: RobotModel, measurement: JointMeasurement) -> tuple[Array, Array]:
    """Measured position and velocity, if they are n finite numbers each."""
    state = []
    for name in ('position', 'velocity'):
        value = np.asarray(getattr(measurement, name), dtype=np.float64)
        if value.shape != (model.n,):
            raise MeasurementError(
                f'measured {name} has shape {value.shape}; {model.name} has {model.n} joints'
            )
        if not np.isfinite(value).all():
            joint = int(np.flatnonzero(~np.isfinite(value))[0])
            raise MeasurementError(
                f'measured {name} of joint {model.layout.joint_names[joint]} is '
                f'{value[joint]}; it has to be finite'
            )
        state.append(value)
    return state[0], state[1]


def shortest_turn(e: Array, is_continuous: Array) -> Array:
    """Return the same error, on continuous joints without full turns."""
    turns = np.where(is_continuous, np.round(e / (2.0 * np.pi)), 0.0)
    return np.asarray(e - 2.0 * np.pi * turns)


def smooth_regressor(
    model: RobotModel, tracking: Tracking, qd_a: Array, qdd_a: Array, coulomb_speed: float
) -> Array:
    """W_s whose Coulomb columns have tanh(qd_d / coulomb_speed): no jumps where qd is noise."""
    W_s = slotine_li_regressor(model, tracking.q, tracking.qd, qd_a, qdd_a)
    Fc = model.layout.joint_entries('Fc')
    np.fill_diagonal(W_s[:, Fc], np.tanh(tracking.qd_d / coulomb_speed))
    return W_s


def law_regressor(model: RobotModel, q: Array, qd: Array, qd_a: Array, qdd_a: Array) -> Array:
    """W_s of the robust law: viscous friction of qd_a, and no Coulomb friction; rows as for W."""
    W_s = slotine_li_regressor(model, q, qd, qd_a, qdd_a)
    joints = np.arange(model.n)
    W_s[..., joints, 10 * model.n + joints] = 0.0
    W_s[..., joints, 11 * model.n + joints] = qd_a
    return W_s


def passivity_form(
    model: RobotModel, tracking: Tracking, K_r: Array, coulomb_speed: float
) -> tuple[Array, Array]:
    """r = de/dt + K_r e, and W_s at the reference motion that r is measured from."""
    qd_a = tracking.qd_d + K_r * tracking.e
    qdd_a = tracking.qdd_d + K_r * tracking.ed
    r: Array = tracking.ed + K_r * tracking.e
    return r, smooth_regressor(model, tracking, qd_a, qdd_a, coulomb_speed)


def per_joint(values: tuple[float, ...], model: RobotModel, name: str) -> Array:
    """Return a setting as one number per joint; a single number counts for all of them."""
    if len(values) not in (1, model.n):
        raise ConfigError(
            f'{name} has {len(values)} entries; 1 or {model.n} are allowed for {model.name}'
        )
    return np.full(model.n, values, dtype=np.float64)
