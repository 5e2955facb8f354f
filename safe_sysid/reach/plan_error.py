"""Tracking error of one plan, by the inertia that the arm has along it.

e is needed for q, q for the inertia, the inertia for r, and r for e. So ellipsoids E(P') are
guessed for all steps of time. Over q = q_d - e, e in E(P'), the mass matrix is bounded
(`plan_inertia`), which gives Q; with r in E(Q) the errors are in E(P) (`error_tube`); and E(P) in
the interior of E(P') proves the guess. Let t be the first time at which e leaves that interior.
Until then H + diag(Ia) is as bounded, r in E(Q), and e in E(P) also at t: a contradiction.

Of bodies that are not known well it is tried at the start of the plan what they had best count as
(`inertia_floors`); every way is a bound.

Assumed: V <= V_M (as the controller promises, for which `robust_law` is the proof), bodies that
can exist, and that e is in E(`error_at_start`) at the start of the plan. Where the arm begins anew
nothing is known of e but (K_r e)' (H(q_d) + diag(Ia)) (K_r e) <= 2 V_M for the desired position
q_d, which `takeover` asks of it; then K_r e is in E(Q) of the first step.

For arms whose armature is large the bound for all poses (`tracking_error`) is not much wider;
then it is taken, as it asks for nothing but V <= V_M.
"""

from __future__ import annotations

from functools import lru_cache
import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import BodyParameters, Ellipsoids
from safe_sysid.reach.error_balls import ErrorSet, error_set
from safe_sysid.reach.error_tube import ErrorTube, position_shapes, rest_shape
from safe_sysid.reach.inertia_floors import Counts, inertia_floors
from safe_sysid.reach.joint_inertia import joint_inertia
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.motion_transport import kernel_joints
from safe_sysid.reach.nominal_inertia import missing_inertia
from safe_sysid.reach.plan_inertia import (
    ArmInertia,
    congruence,
    inverse_factors,
    largest_gap,
)
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.tracking_error import TrackingError, bounded_by_inertia, check_joints
from safe_sysid.sets.elementary import sqrt
from safe_sysid.sets.ellipsoids import contains, factor, sum_of, upper_factor
from safe_sysid.sets.interval import EPS, Interval
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import BASIS, END_BASIS, Bezier, unit_time

STEPS = 32  # of time, in which the inertia is bounded
WORTH = 0.5  # of the inertia that joints feel; a bound for all poses that is above is good enough
MOST_JOINTS = 12  # of an arm whose inertia is bounded along plans; the work grows with n^5
FIRST_GAP = 0.4  # that is guessed; larger ones take more than one round
WIDER = 1.03  # times what was found, for the next guess
ROUNDS = 8
LARGEST_GAP = 0.9  # above which nothing is hoped for
DEGREES = (2, 3)
UP = 1.0 + 1e-12  # of sums of positive terms, a few deep


def plan_error(problem: Problem) -> TrackingError:
    """Tracking error under the plan in the middle of a horizon, for theta in its bounds."""
    model, estimate, gains = problem.model, problem.bounds, problem.promised
    check_joints(model, estimate, gains)
    ways, floors = _ways(problem), inertia_floors(model, estimate.bounds)
    for way in ways:
        tube = _tube(
            floors.of(np.array(way)), model, gains, problem.horizon, problem.error_at_start
        )
        if tube is not None:
            return _error_of(tube, model, estimate.bounds, gains)
    if not ways:
        return _error_in_all_poses(model, estimate.bounds, gains)
    try:
        return _error_in_all_poses(model, estimate.bounds, gains)
    except BoundError as error:
        raise BoundError(
            f'{error}. Nor is the inertia along the plan bounded for V_M = {gains.V_M} J: take a '
            'smaller V_M'
        ) from error


@lru_cache(maxsize=8)  # plans of a search differ in their curves alone
def _error_in_all_poses(model: RobotModel, theta: Interval, gains: Gains) -> TrackingError:
    """Tracking error by the least inertia that joints have anywhere."""
    return bounded_by_inertia(model, gains, joint_inertia(model, theta))


def _ways(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return what bodies count as along the plans of a problem: `Counts`, (n,) for each try."""
    q0 = tuple(problem.horizon.curve.q0.tolist())
    return _ways_from(problem.model, problem.bounds.bounds, problem.promised, q0)


@lru_cache(maxsize=8)  # as above
def _ways_from(
    model: RobotModel, theta: Interval, gains: Gains, start: tuple[float, ...]
) -> tuple[tuple[int, ...], ...]:
    """Return what bodies count as along plans from a position, what is best there first.

    Nothing where the bound for all poses is good enough.
    """
    floors, q0 = inertia_floors(model, theta), np.array(start)[None]
    inertia = joint_inertia(model, theta)
    ways = floors.most, floors.plain, floors.points
    each = (_factors(model, floors.of(way), q0) for way in ways)
    X = next((factors for factors in each if factors is not None), None)
    if model.n > MOST_JOINTS or X is None or np.all(inertia >= WORTH * _felt(X[0])):
        return ()

    def size(bodies: BodyParameters) -> float:
        return _size_at_rest(bodies, model, theta, gains, np.array(start))

    best_first = floors.closest(size), floors.plain  # often the same
    return tuple(dict.fromkeys(tuple(way.tolist()) for way in best_first))


def _size_at_rest(
    bodies: BodyParameters, model: RobotModel, theta: Interval, gains: Gains, q: Array
) -> float:
    """How large the error of an arm at rest is: the sum of the logarithms over its joints."""
    still = np.zeros(model.n)
    standing = Horizon(Bezier(q, still, still, 1.0), still, still, 1)
    tube = _tube(bodies, model, gains, standing, None)
    if tube is None:
        return np.inf
    return float(np.log(_error_of(tube, model, theta, gains).position).sum())


def _error_of(tube: ErrorTube, model: RobotModel, theta: Interval, gains: Gains) -> TrackingError:
    """Tracking error in a tube; that for all poses counts where it is smaller."""
    r_max = _for_all_poses(gains.V_M, joint_inertia(model, theta))
    return TrackingError.of_tube(gains.K_r, tube, r_max)


def errors_of(problem: Problem, error: TrackingError) -> ErrorSet:
    """Return sets of errors of a plan with these bounds."""
    bounds = problem.bounds
    armature = bounds.bounds.lower[bounds.layout.joint_entries('Ia')]
    return error_set(error, armature, problem.promised.V_M)


def position_shape(problem: Problem, error: TrackingError, t: float) -> Array:
    """Shape of an ellipsoid with e at a time since the start of the plan, (n, n)."""
    if error.tube is not None:
        return error.tube.position_shape(t)
    half_axes = errors_of(problem, error).half_axes
    box = np.sqrt(len(half_axes)) * error.position  # half axes of an ellipsoid about the box
    return np.diag(np.where(np.all(np.isfinite(half_axes)), half_axes, box) ** 2 * UP)


def nominal_inverse(problem: Problem, error: TrackingError) -> Array | None:
    """Bounds N (T, n, n), w' M^-1 w <= |w|' N |w|, of the nominal mass matrix M along a plan.

    r of energy V_M is in E(Q) for every theta in its bounds, so (H + diag(Ia))^-1 is at most
    Q / (2 V_M); M is one of these matrices, as theta_0 is within the bounds, if those of its
    bodies can exist that `inertia_floors` takes for less than their bounds. Else None, as without
    a tube.
    """
    estimate, n = problem.bounds, problem.model.n
    if error.tube is None:
        return None
    some = (np.array(_ways(problem)) != Counts.BOUNDED).any(axis=0)
    if np.any(missing_inertia(estimate.theta[: 10 * n].reshape(n, 10)[some]) > 0.0):
        return None
    L = error.tube.r
    Q, size = L @ np.swapaxes(L, 1, 2), np.abs(L) @ np.swapaxes(np.abs(L), 1, 2)
    return np.asarray((np.abs(Q) + (n + 8) * EPS * size) / (2.0 * problem.promised.V_M) * UP)


def _tube(
    bodies: BodyParameters,
    model: RobotModel,
    gains: Gains,
    horizon: Horizon,
    at_start: Array | None,
) -> ErrorTube | None:
    """Ellipsoids along the plan; None where none are proven."""
    arm, steps = ArmInertia(kernel_joints(model.tree), bodies), _steps(horizon)
    X = _factors(model, bodies, steps.center)
    for degree in DEGREES:
        along = None if X is None else _Along(arm, gains, steps, X, degree)
        factors = None if along is None else _ellipsoids(along, at_start)
        if factors is not None:
            return ErrorTube(horizon.time, *(x[steps.of] for x in factors))
    return None


def _felt(X: Array) -> Array:
    """Inertia that joints feel where X H X' = 1: 1 / (X'X)_jj, (n,)."""
    felt: Array = 1.0 / (X**2).sum(axis=0)
    return felt


def _for_all_poses(V_M: float, inertia: Array) -> Array:
    """Bounds of |r_j| wherever the arm is, infinite where there is none."""
    known = inertia > 0.0
    bound = sqrt(2.0 * V_M / Interval.of(np.where(known, inertia, 1.0))).upper
    return np.where(known, bound, np.inf)


class _Steps(NamedTuple):
    """Steps of time of one plan: q_d is q_d(middle) + along s + a rest, with s in [-1, 1]."""

    duration: Array  # (S,) [s]
    center: Array  # (S, n)
    along: Array  # (S, n)
    rest: Array  # (S, n)
    of: IntArray  # (T,) step of every time interval of the horizon


class _Along(NamedTuple):
    """What the inertia along a plan is bounded for."""

    arm: ArmInertia
    gains: Gains
    steps: _Steps
    X: Array  # (S, n, n)
    degree: int


def _steps(horizon: Horizon) -> _Steps:
    """Group time intervals of a horizon, and expand the plan about the middle of each group."""
    T, S = horizon.intervals, min(horizon.intervals, STEPS)
    of = np.arange(T) * S // T
    first = np.searchsorted(of, np.arange(S))
    last = np.append(first[1:], T) - 1
    time = Interval(horizon.time.lower[first], horizon.time.upper[last])
    s = unit_time(time, horizon.curve.duration)
    q, size = _expanded(horizon, s.center)
    powers = s.radius[:, None, None] ** np.arange(6)[:, None]  # (S, 6, 1)
    away = np.abs(q) * powers
    rest = (away[:, 2:].sum(axis=1) + 1e3 * EPS * (size * powers).sum(axis=1)) * UP
    return _Steps(time.upper - time.lower, q[:, 0], q[:, 1] * powers[:, 1], rest, of)


def _expanded(horizon: Horizon, s: Array) -> tuple[Array, Array]:
    """Coefficients of the plan about every s in floats, and absolute values of their terms.

    Degree 5 in s = t / duration; (S, 6, n) each. Floats are off by less than 1e3 EPS of the
    terms: each is a sum of at most 6 x 5 products.
    """
    curve, T = horizon.curve, horizon.curve.duration
    ends = (curve.qd0 * T, curve.qdd0 * T**2, horizon.k_center, curve.qd1 * T, curve.qdd1 * T**2)
    basis = np.concatenate([BASIS, END_BASIS])
    c, size = np.stack(ends, axis=1) @ basis, np.abs(np.stack(ends, axis=1)) @ np.abs(basis)
    c[:, 0] += curve.q0
    size[:, 0] += np.abs(curve.q0)
    order = np.arange(6)
    choose = np.array([[math.comb(i, m) for i in order] for m in order], dtype=np.float64)
    shift = choose * s[:, None, None] ** np.maximum(order - order[:, None], 0)  # (S, m, i)
    return shift @ c.T, shift @ size.T


def _ellipsoids(along: _Along, at_start: Array | None) -> tuple[Array, Array] | None:
    """Factors of the ellipsoids of r and e in every step; None where none are proven."""
    try:
        return _proven(along, at_start)
    except np.linalg.LinAlgError:
        return None


def _proven(along: _Along, at_start: Array | None) -> tuple[Array, Array] | None:
    """Guess, compute and compare, until ellipsoids prove themselves."""
    P = _positions(along, np.full(len(along.X), FIRST_GAP), at_start)
    for _ in range(ROUNDS):
        if P is None:
            return None
        guess = WIDER * P
        gap = _gap_over(along, guess)
        P = _positions(along, gap, at_start)
        if P is not None and contains(guess, P):
            e = factor(P)
            r = np.swapaxes(along.X, 1, 2) * np.sqrt(_scale(along, gap))[:, None, None] * UP
            return (r, e) if np.all(np.isfinite(e)) else None
    return None


def _scale(along: _Along, gap: Array) -> Array:
    """Upper bounds of 2 V_M / (1 - gap), (S,)."""
    return np.asarray((2.0 * along.gains.V_M / (1.0 - Interval.of(gap))).upper)


def _positions(along: _Along, gap: Array, at_start: Array | None) -> Array | None:
    """Shapes of e in every step, if inertia is bounded with these gaps; None: not proven."""
    if not np.all(gap < LARGEST_GAP):
        return None
    Q = np.swapaxes(along.X, 1, 2) @ along.X * _scale(along, gap)[:, None, None]
    K_r = along.gains.K_r
    start = rest_shape(K_r, Q[0]) if at_start is None else at_start
    return position_shapes(K_r, Q, along.steps.duration, start)


def _gap_over(along: _Along, P: Array) -> Array:
    """Gap of the mass matrix over q_d - e, e in E(P), (S,)."""
    steps, n = along.steps, P.shape[-1]
    way = steps.along[:, :, None] * steps.along[:, None, :]
    rest = n * steps.rest[:, :, None] ** 2 * np.eye(n)
    inverse = np.linalg.inv(P)
    sizes = [np.sqrt(np.abs((inverse * part).sum(axis=(1, 2)))) for part in (P, way, rest)]
    sizes = [np.where(size > 1e-12, size, 1e-12) for size in sizes]
    G = upper_factor(sum_of([P, way, rest], sizes))
    if not np.all(np.isfinite(G)):
        return np.full(len(P), np.inf)
    return largest_gap(congruence(along.arm, Ellipsoids(steps.center, G, along.X), along.degree))


def _factors(model: RobotModel, bodies: BodyParameters, q: Array) -> Array | None:
    """X of every position, or None where the middle of theta has no mass matrix above zero."""
    try:
        return inverse_factors(model, bodies, q)
    except np.linalg.LinAlgError:
        return None
