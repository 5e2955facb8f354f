"""Robust passivity-based law over interval parameters, compiled: one state in, one torque out.

With e = q_d - q, r = de/dt + K_r e, qd_a = qd_d + K_r e, qdd_a = qdd_d + K_r de/dt, a true theta
in [theta] and f the true Coulomb friction, the arm under tau = W_s theta_0 + v moves as

    (H + diag(Ia)) dr/dt + C r + Fv r = w - v,   w = W_s (theta - theta_0),  |w| <= w_M.

The viscous column of W_s is qd_a: Fv qd = Fv qd_a - Fv r, and Fv r only takes energy away.
W_s theta_0 has the Coulomb term c = Fc_0 tanh(qd_d / coulomb_speed) and w so has f - c. As
dH/dt - 2 C is skew, V = 1/2 r' (H + diag(Ia)) r changes by dV/dt <= r' (w - v).

The law. v = lambda M r, M = H(q, theta_0) + diag(Ia_0) the nominal mass matrix, so that a light
wrist is not damped with the gain of a shoulder, with

    lambda r' M r = max(0, |r|' w_M - alpha max(0, V_M - V_sup)) + beta max(0, V_inf - V_M)

for V_inf <= V <= V_sup, so that dV/dt <= |r|' w_M - lambda r' M r <= alpha max(0, V_M - V). Where
V >= V_M this is dV/dt <= 0: an arm that starts with V <= V_M keeps it. (Friction jumps, V does
not: it is absolutely continuous, and the inequality holds for almost all times. The same goes for
the pieces of a plan: q_d and qd_d have no jump between them, so neither has r, and theta_0 and
[theta] stay as they are.) This is the theorem of `invariance` for a law that sees r as it is. Any
M that is positive definite will do; where theta_0 gives another, which no certificate allows, it
is 1.

How large v is. |v_j| = lambda |(M r)_j| <= 1/2 (sqrt(M_jj) sqrt(w_M' |M^-1| w_M) + w_Mj), see
`invariance`. Near r = 0 the energy term wins and v = 0: nothing is divided by zero. The second
term, V_inf > V_M, is for an arm that broke its promise, which it can only where an assumption is
false: then it damps r by beta / 2 at most, more where V is larger, and leads the arm back. beta is
alpha, but at most RECOVERY of `invariance`, so that torques that are held do not throw r about.

w_M and V_sup are exact suprema over [theta], to the rounding of floats (about 1e-13 of the
torque), since both are linear in theta. The friction f is in s [Fc] with s = sign(qd), or with
any s in [-1, 1] while |qd| <= sign_speed. To w_M comes the error of the actuators: a torque u on
the joints that is not tau, but within torque_ratio |tau| + torque_error of it joint by joint, only
adds tau - u to w, and all of the above holds. |tau| contains |v| = lambda |M r|, so lambda is
what solves lambda r' M r = |r|' w + lambda |r|' torque_ratio |M r| - ..., w the rest of w_M. That
is how a torque that is held or an actuator that errs is allowed for; with neither, continuous
time and exact torques are assumptions. Exact measurements are one in any case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.model.dynamics.regressors import momentum_into, slotine_li_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.tree import Tree
from safe_sysid.sets.compiled import jit, part_jit
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.track.invariance import LawBounds, damping, energy_range
from safe_sysid.track.seen_law import SeenLaw
from safe_sysid.trajectory.bezier import BASIS, END_BASIS
from safe_sysid.trajectory.plan import Plan
from safe_sysid.trajectory.task_motion import Piece

FINITE = -1  # what the law returns when all it was given is finite


class LawModel(NamedTuple):
    """What does not change while the controller lives."""

    tree: Tree
    is_continuous: AnyArray  # (n,) bool
    K_r: Array  # (n,)
    speeds: Array  # coulomb_speed, sign_speed
    torque_error: Array  # (n,) [N m]
    torque_ratio: Array  # (n,)
    room: Array  # (n,) [N m] for states that are seen late and wrong
    shell: tuple[float, float]  # mu and kappa of `invariance`
    bounds: LawBounds


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
    result: Array  # (5, n), see below
    energy: Array  # lower and upper bound of V, and lambda


Q, QD, QD_A, QDD_A, R, QD_D, E = range(7)  # rows of `state`
TORQUE, NOMINAL, ROBUST, W_M, MR = range(5)  # rows of `result`
GAIN = 2  # in `energy`


def arm_of(model: RobotModel, gains: Gains) -> LawModel:
    """Arm and gains as the kernel wants them; copies, so that every array can be written to."""
    tree = Tree(*(np.ascontiguousarray(x).copy() for x in model.tree))
    return LawModel(
        tree,
        model.limits.is_continuous.copy(),
        gains.K_r.copy(),
        np.array([gains.coulomb_speed, gains.sign_speed]),
        np.array(gains.torque_error),
        np.array(gains.torque_ratio),
        np.zeros(model.n),
        (1.0, 1.0),
        LawBounds(float(gains.V_M), float(gains.alpha)),
    )


def seen_arm(arm: LawModel, seen: SeenLaw) -> LawModel:
    """Return the same for an arm that is seen late and wrong."""
    return arm._replace(
        speeds=np.array([arm.speeds[0], seen.sign_speed]),
        room=np.array(seen.room),
        shell=(float(seen.shell.mu), float(seen.shell.kappa)),
        bounds=LawBounds(*(float(x) for x in seen.bounds)),
    )


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
    return Work(np.zeros((7, 1, n)), W_s, W_m, W_c, np.zeros((5, n)), np.zeros(3))


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
    square = _set_energy(arm, uncertainty, work)
    power = own = 0.0
    for j in range(len(arm.K_r)):
        size = abs(state[R, 0, j])
        power += size * result[W_M, j]
        own += size * arm.torque_ratio[j] * abs(result[MR, j])
    if arm.bounds.y > 0.0:
        low, high = energy_range(square, arm.shell, arm.bounds.sigma)
        work.energy[0], work.energy[1] = low, high
    gain = damping(power, own, square, (work.energy[0], work.energy[1]), arm.bounds)
    work.energy[GAIN] = gain
    for j in range(len(arm.K_r)):
        result[ROBUST, j] = gain * result[MR, j]
        result[W_M, j] += arm.torque_ratio[j] * abs(result[ROBUST, j])
        result[TORQUE, j] = result[NOMINAL, j] + result[ROBUST, j]
    return FINITE


@part_jit
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
        if arm.bounds.y > 0.0:  # r is in the state, as it is seen by itself
            ed = state[R, 0, j] - arm.K_r[j] * e
        state[E, 0, j] = e
        state[R, 0, j] = ed + arm.K_r[j] * e
        state[QD_D, 0, j] = velocity
        state[QD_A, 0, j] = velocity + arm.K_r[j] * e
        state[QDD_A, 0, j] = acceleration + arm.K_r[j] * ed


@jit
def desired_into(curve: Curve, since_start: float, desired: Array) -> None:
    """Position and velocity of a plan, (2, n); at its start before that."""
    piece, T, s = _piece_at(curve, max(since_start, 0.0))
    for j in range(len(curve.end)):
        position, velocity = curve.end[j], 0.0
        if piece < len(curve.duration):
            position = velocity = 0.0
            for power in range(5, -1, -1):
                velocity = velocity * s + position
                position = position * s + curve.coefficients[piece, j, power]
            velocity = velocity / T
        desired[0, j], desired[1, j] = position, velocity


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


@part_jit
def _set_nominal_and_disturbance(
    arm: LawModel, uncertainty: ParameterDeviation, work: Work
) -> None:
    """W_s theta_0, and w_M but for the actuators' error of v."""
    n = len(arm.K_r)
    theta_0, offset, radius = (
        uncertainty.theta_0,
        uncertainty.offset,
        uncertainty.offset_radius,
    )
    for j in range(n):
        row = work.W_s[0, j]
        row[10 * n + j] = 0.0  # Coulomb friction is dealt with on its own
        row[11 * n + j] = work.state[QD_A, 0, j]
        nominal = middle = spread = 0.0
        for p in range(14 * n):
            nominal += row[p] * theta_0[p]
            middle += row[p] * offset[p]
            spread += abs(row[p]) * radius[p]
        compensated = theta_0[10 * n + j] * np.tanh(work.state[QD_D, 0, j] / arm.speeds[0])
        low, high = _coulomb(
            uncertainty.coulomb[0, j],
            uncertainty.coulomb[1, j],
            work.state[QD, 0, j],
            arm.speeds[1],
        )
        middle += 0.5 * (low + high) - compensated
        spread += 0.5 * (high - low)
        work.result[NOMINAL, j] = nominal + compensated
        off = arm.torque_ratio[j] * abs(work.result[NOMINAL, j]) + arm.torque_error[j]
        off += arm.room[j]
        work.result[W_M, j] = abs(middle) + spread + off


@part_jit
def _coulomb(lower: float, upper: float, qd: float, sign_speed: float) -> tuple[float, float]:
    """Range of the true Coulomb friction, for Fc in [lower, upper]."""
    if abs(qd) <= sign_speed:
        most = max(abs(lower), abs(upper))
        return -most, most
    return (lower, upper) if qd > 0.0 else (-upper, -lower)


@part_jit
def _set_energy(arm: LawModel, uncertainty: ParameterDeviation, work: Work) -> float:
    """Range of V over [theta], and M r; r' M r is returned.

    Below, the rigid part of V counts for nothing, as it is not negative.
    """
    n, r = len(arm.K_r), work.state[R]
    momentum_into(arm.tree, work.state[Q], r, work.W_m, work.W_c)
    for j in range(n):
        work.result[MR, j] = uncertainty.theta_0[12 * n + j] * r[0, j]
    middle = spread = low_armature = high_armature = 0.0
    for p in range(10 * n):
        entry = 0.0
        for j in range(n):
            entry += r[0, j] * work.W_m[0, j, p]
            work.result[MR, j] += work.W_m[0, j, p] * uncertainty.theta_0[p]
        middle += 0.5 * entry * uncertainty.middle[p]
        spread += 0.5 * abs(entry) * uncertainty.radius[p]
    square = 0.0
    for j in range(n):
        p = 12 * n + j
        low_armature += 0.5 * (uncertainty.middle[p] - uncertainty.radius[p]) * r[0, j] ** 2
        high_armature += 0.5 * (uncertainty.middle[p] + uncertainty.radius[p]) * r[0, j] ** 2
        square += r[0, j] * work.result[MR, j]
    work.energy[0] = max(0.0, middle - spread) + low_armature
    work.energy[1] = max(0.0, middle + spread) + high_armature
    if square > 0.0:
        return square
    square = 0.0
    for j in range(n):  # no mass matrix: 1 in its place
        work.result[MR, j] = r[0, j]
        square += r[0, j] ** 2
    return square
