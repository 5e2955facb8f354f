"""Robust passivity-based law over interval parameters, compiled: one state in, one torque out.

With e = q_d - q, r = de/dt + K_r e, qd_a = qd_d + K_r e, qdd_a = qdd_d + K_r de/dt, a true theta
in [theta] and f the true Coulomb friction, the arm under tau = W_s theta_0 + v moves as

    (H + diag(Ia)) dr/dt + C r = w - v,     w = W_s (theta - theta_0),  |w| <= w_M,

where W_s theta_0 has the Coulomb term c = Fc_0 tanh(qd_d / coulomb_speed) and w so has f - c. As
dH/dt - 2 C is skew, V = 1/2 r' (H + diag(Ia)) r changes by dV/dt = r' (w - v).

The law. v = lambda r with lambda |r|^2 = max(0, |r|' w_M - alpha max(0, V_M - V_sup)), so that
dV/dt <= |r|' w_M - lambda |r|^2 <= alpha max(0, V_M - V_sup) <= alpha max(0, V_M - V), because
V <= V_sup. Where V >= V_M this is dV/dt <= 0: an arm that starts with V <= V_M keeps it. (Friction
jumps, V does not: it is absolutely continuous, and the inequality holds for almost all times. The
same goes for the pieces of a plan: q_d and qd_d have no jump between them, so neither has r, and
theta_0 and [theta] stay as they are.)

How large v is. |v_j| = lambda |r_j| <= |r_j| |r|' w_M / |r|^2 = u_j (u' w_M) for the unit vector
u = |r| / ||r||, at most the largest eigenvalue of 1/2 (e_j w_M' + w_M e_j'), which is
1/2 (||w_M|| + w_Mj). Near r = 0 the energy term wins and v = 0: nothing is divided by zero.

w_M and V_sup are exact suprema over [theta], to the rounding of floats (about 1e-13 of the
torque), since both are linear in theta. The friction f is in s [Fc] with s = sign(qd), or with
any s in [-1, 1] while |qd| <= sign_speed. To w_M comes the error of the actuators: a torque u on
the joints that is not tau, but within torque_ratio |tau| + torque_error of it joint by joint, only
adds tau - u to w, and all of the above holds. `gains` shows how much that is, as |tau| contains
|v|. That is how a torque that is held or an actuator that errs is allowed for; with neither,
continuous time and exact torques are assumptions. Exact measurements are one in any case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.dynamics.regressors import momentum_into, slotine_li_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import BASIS, END_BASIS
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

FINITE = -1  # what the law returns when all it was given is finite


class LawModel(NamedTuple):
    """What does not change while the controller lives."""

    tree: Tree
    is_continuous: AnyArray  # (n,) bool
    K_r: Array  # (n,)
    scalars: Array  # V_M, alpha, coulomb_speed, sign_speed
    torque_error: Array  # (n,) [N m]
    torque_ratio: Array  # (n,)
    input_share: Array  # (n,) see `gains`


class ParameterDeviation(NamedTuple):
    """Nominal parameters, and where the true ones may be."""

    theta_0: Array  # (14 n,)
    offset: Array  # (14 n,) middle of [theta] - theta_0
    offset_radius: Array  # (14 n,)
    middle: Array  # (14 n,) of [theta]
    radius: Array  # (14 n,)
    coulomb: Array  # (2, n) lower and upper Fc


class Curve(NamedTuple):
    """The P pieces of a plan as polynomials in s = (t - start of the piece) / duration."""

    coefficients: Array  # (P, n, 6)
    end: Array  # (n,)
    duration: Array  # (P,) [s]


class Work(NamedTuple):
    """Arrays that are written anew in every step."""

    state: Array  # (7, 1, n), see below
    W_s: Array  # (1, n, 14 n)
    W_m: Array
    W_c: Array
    result: Array  # (4, n), see below
    energy: Array  # lower and upper bound of V


Q, QD, QD_A, QDD_A, R, QD_D, E = range(7)  # rows of `state`
TORQUE, NOMINAL, ROBUST, W_M = range(4)  # rows of `result`


def arm_of(model: RobotModel, gains: Gains) -> LawModel:
    """Arm and gains as the kernel wants them; copies, so that every array can be written to."""
    tree = Tree(*(np.ascontiguousarray(x).copy() for x in model.tree))
    speeds = gains.coulomb_speed, gains.sign_speed
    scalars = np.array([gains.V_M, gains.alpha, *speeds])
    torque = (np.array(gains.torque_error), np.array(gains.torque_ratio), gains.input_share)
    return LawModel(tree, model.limits.is_continuous.copy(), gains.K_r.copy(), scalars, *torque)


def uncertainty_of(model: RobotModel, theta_0: Array, bounds: Interval) -> ParameterDeviation:
    """Return the same for parameters; theta_0 may be outside of the bounds."""
    delta = bounds - theta_0
    Fc = bounds[model.layout.joint_entries('Fc')]
    return ParameterDeviation(
        theta_0.copy(),
        delta.center,
        delta.radius,
        bounds.center,
        bounds.radius,
        np.stack([Fc.lower, Fc.upper]),
    )


def curve_of(plan: Plan) -> Curve:
    """Return the same for a plan."""
    pieces = plan.motion.pieces
    coefficients = np.stack([_coefficients(piece) for piece in pieces])
    duration = np.array([piece.curve.duration for piece in pieces])
    return Curve(coefficients, plan.end_position.copy(), duration)


def _coefficients(piece: Piece) -> Array:
    """Polynomials of all joints in s, (n, 6)."""
    curve, T = piece.curve, piece.curve.duration
    ends = (curve.qd0 * T, curve.qdd0 * T**2, piece.k, curve.qd1 * T, curve.qdd1 * T**2)
    coefficients: Array = np.stack(ends, axis=1) @ np.concatenate([BASIS, END_BASIS])
    coefficients[:, 0] += curve.q0
    return coefficients


def work_for(n: int) -> Work:
    """Arrays for an arm of n joints."""
    W_s, W_m, W_c = np.zeros((3, 1, n, 14 * n))
    return Work(np.zeros((7, 1, n)), W_s, W_m, W_c, np.zeros((4, n)), np.zeros(2))


@jit
def law_into(
    arm: LawModel, uncertainty: ParameterDeviation, curve: Curve, since_start: float, work: Work
) -> int:
    """Torque for the state in work, into work; first joint with a state that is not finite."""
    state, result = work.state, work.result
    for j in range(len(arm.K_r)):
        if not (np.isfinite(state[Q, 0, j]) and np.isfinite(state[QD, 0, j])):
            return j
    _set_reference(arm, curve, since_start, state)
    slotine_li_into(arm.tree, state[Q], state[QD], state[QD_A], state[QDD_A], work.W_s)
    _set_nominal_and_disturbance(arm, uncertainty, work)
    _set_energy(arm, uncertainty, work)
    V_M, alpha = arm.scalars[0], arm.scalars[1]
    power = square = 0.0
    for j in range(len(arm.K_r)):
        power += abs(state[R, 0, j]) * result[W_M, j]
        square += state[R, 0, j] ** 2
    excess = power - alpha * max(0.0, V_M - work.energy[1])
    gain = excess / square if excess > 0.0 and square > 0.0 else 0.0
    for j in range(len(arm.K_r)):
        result[ROBUST, j] = gain * state[R, 0, j]
        result[TORQUE, j] = result[NOMINAL, j] + result[ROBUST, j]
    return FINITE


@jit
def _set_reference(arm: LawModel, curve: Curve, since_start: float, state: Array) -> None:
    """Errors and reference motion from the desired state."""
    piece, T, s = _piece_at(curve, since_start)
    for j in range(len(arm.K_r)):
        position, velocity, acceleration = curve.end[j], 0.0, 0.0
        if piece < len(curve.duration):
            position = velocity = acceleration = 0.0
            for power in range(5, -1, -1):  # Horner's rule for all three at once
                acceleration = acceleration * s + 2.0 * velocity
                velocity = velocity * s + position
                position = position * s + curve.coefficients[piece, j, power]
            velocity, acceleration = velocity / T, acceleration / T**2
        e = position - state[Q, 0, j]
        if arm.is_continuous[j]:
            e -= 2.0 * np.pi * np.round(e / (2.0 * np.pi))
        ed = velocity - state[QD, 0, j]
        state[E, 0, j] = e
        state[R, 0, j] = ed + arm.K_r[j] * e
        state[QD_D, 0, j] = velocity
        state[QD_A, 0, j] = velocity + arm.K_r[j] * e
        state[QDD_A, 0, j] = acceleration + arm.K_r[j] * ed


@jit
def _piece_at(curve: Curve, since_start: float) -> tuple[int, float, float]:
    """Piece, its duration, and s in it; after the end the number of pieces."""
    t = since_start
    for piece in range(len(curve.duration)):
        T = curve.duration[piece]
        if t < T:
            return piece, T, t / T
        t -= T
    return len(curve.duration), 1.0, 1.0


@jit
def _set_nominal_and_disturbance(
    arm: LawModel, uncertainty: ParameterDeviation, work: Work
) -> None:
    """W_s theta_0 and w_M."""
    n = len(arm.K_r)
    theta_0, offset, radius = (
        uncertainty.theta_0,
        uncertainty.offset,
        uncertainty.offset_radius,
    )
    for j in range(n):
        row = work.W_s[0, j]
        row[10 * n + j] = 0.0  # Coulomb friction is dealt with on its own
        nominal = middle = spread = 0.0
        for p in range(14 * n):
            nominal += row[p] * theta_0[p]
            middle += row[p] * offset[p]
            spread += abs(row[p]) * radius[p]
        compensated = theta_0[10 * n + j] * np.tanh(work.state[QD_D, 0, j] / arm.scalars[2])
        low, high = _coulomb(
            uncertainty.coulomb[0, j],
            uncertainty.coulomb[1, j],
            work.state[QD, 0, j],
            arm.scalars[3],
        )
        middle += 0.5 * (low + high) - compensated
        spread += 0.5 * (high - low)
        work.result[NOMINAL, j] = nominal + compensated
        off = arm.torque_ratio[j] * abs(work.result[NOMINAL, j]) + arm.torque_error[j]
        work.result[W_M, j] = abs(middle) + spread + off
    _add_input_error(arm, work.result[W_M])


@jit
def _add_input_error(arm: LawModel, w_M: Array) -> None:
    """Room for the actuators' error of v itself, see `gains`."""
    square = share = 0.0
    for j in range(len(w_M)):
        square += (w_M[j] * (1.0 + arm.input_share[j])) ** 2
        share += arm.input_share[j] ** 2
    length = np.sqrt(square) / (1.0 - np.sqrt(share))
    for j in range(len(w_M)):
        w_M[j] = w_M[j] * (1.0 + arm.input_share[j]) + arm.input_share[j] * length


@jit
def _coulomb(lower: float, upper: float, qd: float, sign_speed: float) -> tuple[float, float]:
    """Range of the true Coulomb friction, for Fc in [lower, upper]."""
    if abs(qd) <= sign_speed:
        most = max(abs(lower), abs(upper))
        return -most, most
    return (lower, upper) if qd > 0.0 else (-upper, -lower)


@jit
def _set_energy(arm: LawModel, uncertainty: ParameterDeviation, work: Work) -> None:
    """Range of V over [theta]; below, the rigid part counts for nothing, as it is not negative."""
    n, r = len(arm.K_r), work.state[R]
    momentum_into(arm.tree, work.state[Q], r, work.W_m, work.W_c)
    middle = spread = low_armature = high_armature = 0.0
    for p in range(10 * n):
        entry = 0.0
        for j in range(n):
            entry += r[0, j] * work.W_m[0, j, p]
        middle += 0.5 * entry * uncertainty.middle[p]
        spread += 0.5 * abs(entry) * uncertainty.radius[p]
    for j in range(n):
        p = 12 * n + j
        low_armature += 0.5 * (uncertainty.middle[p] - uncertainty.radius[p]) * r[0, j] ** 2
        high_armature += 0.5 * (uncertainty.middle[p] + uncertainty.radius[p]) * r[0, j] ** 2
    work.energy[0] = max(0.0, middle - spread) + low_armature
    work.energy[1] = max(0.0, middle + spread) + high_armature
