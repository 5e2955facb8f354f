"""Largest torque the robust controller can ask for.

It asks for tau_0 + v. tau_0 = W_s theta_0 is a polynomial in k with a remainder. v = lambda M r
with 0 <= lambda <= |r|' w_M / r' M r (see `track.robust_law`) is bounded as `track.invariance`
says, by w_M and by the nominal mass matrix M over all positions of a step (`nominal_inertia`). The
bound grows with both, so w_M may be taken over all states of a time step: the controller, which
evaluates it where the arm is, does not find more.

Friction in tau_0 is Fc_0 tanh(qd_d / coulomb_speed) + Fv_0 qd_a + Ia_0 qdd_a + beta_0. The arm has
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
from safe_sysid.reach.joint_reach import QD, QD_A, QD_D, QDD_A, JointReach
from safe_sysid.reach.newton_euler import RigidBodyTorque, rigid_body_torque
from safe_sysid.reach.nominal_inertia import nominal_inertia
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.steps import Steps, over_steps
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
from safe_sysid.track.invariance import Disturbance, Shell, StateError, invariance

TANH_MARGIN = 8 * EPS  # absolute: library functions promise 4 units in the last place of 1
NOMINAL, OFFSET, VELOCITY, AUXILIARY, ACCELERATION, DESIRED = range(6)  # rows of a pool
EXACT = StateError(0.0, 0.0, 0.0, 0.0, 0.0)


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
    model: RobotModel,
    estimate: ParameterEstimate,
    reach: JointReach,
    gains: Gains,
    known: Array | None = None,
) -> TorqueReach:
    """Torques of the robust controller with nominal `estimate.theta` over the joint states.

    `known` (T, n, n) bounds the inverse of the nominal mass matrix, see `nominal_inertia`.
    """
    if estimate.layout.n != model.n or reach.q.shape[1] != model.n:
        raise BoundError(
            f'the arm has {model.n} joints, the estimate {estimate.layout.n}, the joint states '
            f'{reach.q.shape[1]}'
        )
    rows, disturbance = nominal_torque(model, estimate, reach, gains)
    M = nominal_inertia(model, reach, estimate.theta, known)
    ratio = np.asarray(gains.torque_ratio)
    against = Disturbance(disturbance, M.diagonal, M.inverse, ratio)
    bounds = invariance(Shell(gains.V_M), against, EXACT)
    disturbance, radius = bounds.box, bounds.robust
    for part in (rows, disturbance, radius):
        part.setflags(write=False)
    return TorqueReach(reach.monomials, rows, disturbance, radius)


def nominal_torque(
    model: RobotModel, estimate: ParameterEstimate, reach: JointReach, gains: Gains
) -> tuple[Array, Array]:
    """W_s theta_0 as rows (T, n, M + 1), and w_M but for actuators' errors of v (T, n)."""
    rigid = rigid_body_torque(model, reach, estimate.theta, estimate.bounds)
    T, n, count = *reach.q.shape[:2], reach.monomials.count
    rows, disturbance = np.full((T, n, count + 1), np.nan), np.full((T, n), np.nan)
    friction = _friction(estimate, gains)
    arguments = (reach.rows, rigid, friction, reach.monomials.kernel, rows, disturbance)
    over_steps(_add_friction, len(rows), *arguments)
    if not np.all(np.isfinite(rows)) or not np.all(np.isfinite(disturbance)):
        raise BoundError('torques over the horizon are larger than a float can hold')
    return rows, disturbance


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


@jit
def _add_friction(
    steps: Steps,
    states: Array,
    rigid: RigidBodyTorque,
    friction: _Friction,
    table: IntArray,
    rows: Array,
    disturbance: Array,
) -> None:
    """Fill rows and the disturbance, step by step."""
    for t in range(steps[0], steps[1]):
        _add_friction_at(t, states, rigid, friction, table, rows, disturbance)


@part_jit
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
    pool = np.empty((6, width))
    for j in range(states.shape[2]):
        for i in range(width):
            pool[NOMINAL, i] = rigid.nominal[t, j, i]
            pool[OFFSET, i] = rigid.offset[t, j, i]
            pool[VELOCITY, i] = states[QD, t, j, i]
            pool[AUXILIARY, i] = states[QD_A, t, j, i]
            pool[ACCELERATION, i] = states[QDD_A, t, j, i]
            pool[DESIRED, i] = states[QD_D, t, j, i]
        _add_smooth(pool, friction.nominal, j, NOMINAL)
        _add_smooth(pool, friction.offset, j, OFFSET)
        spread = rigid.spread[t, j] + friction.spread[3, j]
        spread += friction.spread[1, j] * magnitude(pool, AUXILIARY, table)
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
    """Add Fv qd_a + Ia qdd_a + beta."""
    add_scaled(pool, AUXILIARY, parameters[1, j], 0.0, out)
    add_scaled(pool, ACCELERATION, parameters[2, j], 0.0, out)
    add_interval(pool, parameters[3, j], 0.0, out)


@part_jit
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
