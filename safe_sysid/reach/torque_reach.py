"""Largest torque the robust controller can ask for.

It asks for tau_0 + v. tau_0 = W_s theta_0 is a polynomial in k with a remainder. With
v = lambda r and 0 <= lambda <= |r|' w_M / |r|^2 (see `track.gains`), |v_j| is at most

    max over r of |r_j| |r|' w / |r|^2  =  max over unit r >= 0 of r' A r  =  1/2 (|w| + w_j),

A = 1/2 (e_j w' + w e_j'), whose eigenvalues other than 0 are 1/2 (w_j +- |w|). The largest belongs
to the vector w / |w| + e_j, which is not negative as w is not. The bound grows with w, so w_M may
be taken over all states of a time step: the controller, which evaluates it where the arm is, does
not find more.

Friction in tau_0 is Fc_0 tanh(qd_d / coulomb_speed) + Fv_0 qd + Ia_0 qdd_a + beta_0. The arm has
Fc s with s the sign of qd, anywhere in [-1, 1] for |qd| <= sign_speed. The error of the actuators
comes on top, as the law allows for it (`track.gains`): it grows with every part of w_M and with
|tau_0|, so here, too, largest values of a time step are above what the controller finds.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import QD, QD_D, QDD_A, JointReach
from safe_sysid.reach.newton_euler import RigidBodyTorque, rigid_body_torque
from safe_sysid.sets.compiled import jit, parallel_jit, prange
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.taylor_kernels import (
    add_interval,
    add_scaled,
    bounds,
    error_size,
    magnitude,
    rounded_up,
)
from safe_sysid.sets.taylor_model import TaylorModel
from safe_sysid.track.gains import Gains

TANH_MARGIN = 8 * EPS  # absolute: library functions promise 4 units in the last place of 1
NOMINAL, OFFSET, VELOCITY, ACCELERATION, DESIRED = range(5)  # rows of a pool


@dataclass(frozen=True, eq=False)
class TorqueReach:
    """Torques of every plan, time, tracking error and theta, joint by joint."""

    monomials: Monomials
    rows: Array  # (T, n, M + 1) tau_0
    disturbance: Array  # (T, n) w_M [N m]
    radius: Array  # (T, n) bound of |v| [N m]

    def bound(self) -> Interval:
        """Range of the torque over all k, (T, n)."""
        nominal = TaylorModel(self.monomials, self.rows).bound()
        return nominal + Interval(-self.radius, self.radius)


class _Friction(NamedTuple):
    """Parameters of the joints, rows Fc, Fv, Ia, beta: (4, n) each."""

    nominal: Array
    lower: Array
    upper: Array
    offset: Array  # centre of [theta] - theta_0
    spread: Array  # its radius
    speeds: Array  # coulomb_speed, sign_speed
    torque_error: Array  # (n,)
    torque_ratio: Array  # (n,)


def torque_reach(
    model: RobotModel, estimate: ParameterEstimate, reach: JointReach, gains: Gains
) -> TorqueReach:
    """Torques of the robust controller with nominal `estimate.theta` over the joint states."""
    if estimate.layout.n != model.n or reach.q.shape[1] != model.n:
        raise BoundError(
            f'the arm has {model.n} joints, the estimate {estimate.layout.n}, the joint states '
            f'{reach.q.shape[1]}'
        )
    rigid = rigid_body_torque(model, reach, estimate.theta, estimate.bounds)
    T, n, M = *reach.q.shape[:2], reach.monomials.count
    rows, disturbance = np.full((T, n, M + 1), np.nan), np.full((T, n), np.nan)
    friction = _friction(estimate, gains)
    _add_friction(reach.rows, rigid, friction, reach.monomials.kernel, rows, disturbance)
    disturbance = with_input_error(disturbance, gains.input_share)
    radius = input_bound(disturbance)
    for part in (rows, disturbance, radius):
        if not np.all(np.isfinite(part)):
            raise BoundError('torques over the horizon are larger than a float can hold')
        part.setflags(write=False)
    return TorqueReach(reach.monomials, rows, disturbance, radius)


def with_input_error(w_M: Array, share: Array) -> Array:
    """Disturbance bound with the actuators' error of v itself, rounded up; (..., n)."""
    rounding = 1.0 + (4 * w_M.shape[-1] + 32) * EPS
    own = w_M * (1.0 + share)
    largest = np.maximum(own.max(axis=-1, keepdims=True), 1e-300)
    length = largest * np.sqrt(((own / largest) ** 2).sum(axis=-1, keepdims=True))
    left = 1.0 - np.linalg.norm(share) * rounding
    if not left > 0.0:
        raise BoundError(
            f'errors of {2.0 * share} of the torque leave nothing to make up for them'
        )
    return np.asarray((own + share * length / left) * rounding)


def input_bound(w_M: Array) -> Array:
    """Bound of |v| for a disturbance bound w_M, rounded up; (..., n)."""
    n = w_M.shape[-1]
    largest = np.maximum(w_M.max(axis=-1, keepdims=True), 1e-300)
    length = largest * np.sqrt(((w_M / largest) ** 2).sum(axis=-1, keepdims=True))
    return np.asarray(0.5 * (length + w_M) * (1.0 + (2 * n + 16) * EPS) + 1e-300)


def _friction(estimate: ParameterEstimate, gains: Gains) -> _Friction:
    layout, theta = estimate.layout, estimate.bounds
    nominal, lower, upper = (
        np.array(layout.friction(x)) for x in (estimate.theta, theta.lower, theta.upper)
    )
    delta = Interval(lower, upper) - nominal
    speeds = np.array([gains.coulomb_speed, gains.sign_speed])
    return _Friction(
        nominal,
        lower,
        upper,
        delta.center,
        delta.radius,
        speeds,
        np.array(gains.torque_error),
        np.array(gains.torque_ratio),
    )


@parallel_jit
def _add_friction(
    states: Array,
    rigid: RigidBodyTorque,
    friction: _Friction,
    table: IntArray,
    rows: Array,
    disturbance: Array,
) -> None:
    """Fill rows and the disturbance, step by step."""
    for t in prange(rows.shape[0]):
        _add_friction_at(t, states, rigid, friction, table, rows, disturbance)


@jit
def _add_friction_at(
    t: int,
    states: Array,
    rigid: RigidBodyTorque,
    friction: _Friction,
    table: IntArray,
    rows: Array,
    disturbance: Array,
) -> None:
    """Torque with friction, and what theta may change in it, at one time step."""
    width = states.shape[3]
    pool = np.empty((5, width))
    for j in range(states.shape[2]):
        for i in range(width):
            pool[NOMINAL, i] = rigid.nominal[t, j, i]
            pool[OFFSET, i] = rigid.offset[t, j, i]
            pool[VELOCITY, i] = states[QD, t, j, i]
            pool[ACCELERATION, i] = states[QDD_A, t, j, i]
            pool[DESIRED, i] = states[QD_D, t, j, i]
        _add_smooth(pool, friction.nominal, j, NOMINAL)
        _add_smooth(pool, friction.offset, j, OFFSET)
        spread = rigid.spread[t, j] + friction.spread[3, j]
        spread += friction.spread[1, j] * magnitude(pool, VELOCITY, table)
        spread += friction.spread[2, j] * magnitude(pool, ACCELERATION, table)
        spread += _add_coulomb(pool, friction, j, table) + friction.torque_error[j]
        spread += friction.torque_ratio[j] * magnitude(pool, NOMINAL, table)
        M = rows.shape[2] - 1
        for i in range(M):
            rows[t, j, i] = pool[NOMINAL, i]
        radius = pool[NOMINAL, width - 1]
        if width > M + 1:
            radius += error_size(pool, NOMINAL, M)
        rows[t, j, M] = rounded_up(radius, width)
        disturbance[t, j] = rounded_up(spread + magnitude(pool, OFFSET, table), 7)


@jit
def _add_smooth(pool: Array, parameters: Array, j: int, out: int) -> None:
    """Add Fv qd + Ia qdd_a + beta."""
    add_scaled(pool, VELOCITY, parameters[1, j], 0.0, out)
    add_scaled(pool, ACCELERATION, parameters[2, j], 0.0, out)
    add_interval(pool, parameters[3, j], 0.0, out)


@jit
def _add_coulomb(pool: Array, friction: _Friction, j: int, table: IntArray) -> float:
    """Add Fc_0 tanh(qd_d / coulomb_speed); return how far Fc s may be from it."""
    slowest, fastest = bounds(pool, DESIRED, table)
    coulomb_speed, sign_speed = friction.speeds
    low = max(-1.0, math.tanh(slowest / coulomb_speed) - TANH_MARGIN)
    high = min(1.0, math.tanh(fastest / coulomb_speed) + TANH_MARGIN)
    Fc = friction.nominal[0, j]
    first, last = min(Fc * low, Fc * high), max(Fc * low, Fc * high)
    center = 0.5 * (first + last)
    slack = 4.0 * EPS * abs(Fc)
    add_interval(pool, center, max(last - center, center - first) + slack, NOMINAL)
    slowest, fastest = bounds(pool, VELOCITY, table)
    way_back = 1.0 if slowest > sign_speed else -1.0
    way_there = -1.0 if fastest < -sign_speed else 1.0
    largest = 0.0
    for true_Fc in (friction.lower[0, j], friction.upper[0, j]):
        for s in (way_back, way_there):
            largest = max(largest, abs(true_Fc * s - first), abs(true_Fc * s - last))
    return largest + slack  # type: ignore[no-any-return]
