"""Random closed loops that try to leave the bounds the robust controller is promised to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO
from safe_sysid.bench.experiments.kinova_dumbbell import DUMBBELLS, kinova_prior
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.mass_matrix import inverse_length, mass_matrix
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.torque_reach import torque_reach
from safe_sysid.reach.tracking_error import TrackingError, tracking_error
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

MILLISECOND = 1_000_000  # [ns]
DURATION = 3.0  # [s] of a plan, and half of it until the next one
CLOCK = Clock(1_767_225_600_000_000_000)
ARMS = ('kinova_table_1', 'kinova', 'two_link', 'random_arm')
V_M, ALPHA, K_R, SIGN_SPEED = 0.02, 25.0, 5.0, 0.02
Law = Callable[[RobotModel, Gains, Clock], RobustPassivityController]


@dataclass(frozen=True, eq=False)
class TrackTrial:
    """An arm, what is known of it under each plan, and a start where V = V_M."""

    truth: RobotModel
    gains: Gains
    estimates: tuple[ParameterEstimate, ...]
    plans: tuple[Plan, ...]
    errors: tuple[TrackingError, ...]  # promised under each plan
    q: Array
    qd: Array


class TrackedRun(NamedTuple):
    """What happened, sample by sample."""

    t: Array  # (N,) [s]
    plan: IntArray  # (N,) which one is tracked
    q: Array  # (N, n)
    qd: Array
    torque: Array  # held from this sample on
    robust: Array
    disturbance: Array


def random_trial(rng: np.random.Generator, arm: str | None = None) -> TrackTrial:
    """Two plans, the second certified for smaller bounds, on any of the arms."""
    arm = str(rng.choice(ARMS)) if arm is None else arm
    nominal, first = _arm_and_estimate(rng, arm)
    gains = Gains(np.full(nominal.n, K_R), V_M, ALPHA, sign_speed=SIGN_SPEED)
    qd0, qdd0 = 0.3 * rng.normal(size=(2, nominal.n))
    start = Bezier(rng.uniform(-2.0, 2.0, nominal.n), qd0, qdd0, DURATION)
    plan = _certified(rng, 0.0, start, first)
    theta = _true_theta(rng, nominal, first)
    second = _narrowed(rng, first, theta)
    half = plan.switch_time
    following = _certified(rng, half, plan.curve_from(half, DURATION), second)
    before = tracking_error(nominal, first, gains)
    after = tracking_error(nominal, second, gains, before.position)
    truth = nominal.with_parameters(theta)
    q, qd = _worst_start(rng, truth, gains, plan, before)
    return TrackTrial(truth, gains, (first, second), (plan, following), (before, after), q, qd)


def loaded_joint(rng: np.random.Generator, load: float) -> TrackTrial:
    """One joint under a load [N m] that is all that is unknown, and at the end of its bounds.

    Then w = w_M in every state: the law is left no slack.
    """
    model = random_tree(rng, 1, True, 0.5)
    model = replace(model, tree=model.tree._replace(is_prismatic=np.zeros(1, dtype=bool)))
    theta, spread = model.theta.copy(), np.zeros(model.layout.size)
    for entry in ('Fc', 'Fv'):  # viscous friction would take energy from r
        theta[model.layout.joint_entries(entry)] = 0.0
    spread[model.layout.joint_entries('beta')] = load
    bounds = Interval(theta - spread, theta + spread)
    estimate = ParameterEstimate(model.layout, theta, bounds)
    gains = Gains(np.array([K_R]), V_M, ALPHA)
    rest = np.zeros(1)
    plan = Plan(0.0, 1.5, Bezier(rest, rest, rest, DURATION), rest + 0.7, bounds, theta_0=theta)
    following = Plan(1.5, 3.0, plan.curve_from(1.5, DURATION), rest, bounds, theta_0=theta)
    errors = (tracking_error(model, estimate, gains),) * 2
    truth = model.with_parameters(theta + (1.0 - 1e-12) * spread)
    return TrackTrial(truth, gains, (estimate,) * 2, (plan, following), errors, rest, rest)


def run(
    trial: TrackTrial,
    dynamics: Callable[[RobotModel], Dynamics],
    period: int = MILLISECOND,
    law: Law = RobustPassivityController,
    seconds: float = DURATION,
) -> TrackedRun:
    """Follow the plans; a torque is held for a period [ns], samples are a millisecond apart."""
    controller, body = law(trial.truth, trial.gains, CLOCK), dynamics(trial.truth)
    q, qd, torque = trial.q, trial.qd, np.zeros(trial.truth.n)
    parts = max(1, round(period / MILLISECOND))
    samples = []
    for i in range(round(seconds * 1e9 / period)):
        stamp = CLOCK.origin + i * period
        which = int(CLOCK.seconds(stamp) >= trial.plans[1].start_time)
        torque = controller.step(
            JointMeasurement(stamp, q, qd, torque), trial.plans[which], trial.estimates[which]
        )
        last = controller.last
        for part in range(parts):
            t = CLOCK.seconds(stamp) + part * period / parts / 1e9
            samples.append((t, which, q, qd, torque, last.robust, last.disturbance))
            q, qd = body.advance(q, qd, torque, period / parts / 1e9)
    return TrackedRun(*(np.array(column) for column in zip(*samples, strict=True)))


def desired(trial: TrackTrial, recording: TrackedRun) -> tuple[Array, Array]:
    """Desired position and velocity at every sample; a plan is held on to after its switch."""
    q_d, qd_d = np.empty_like(recording.q), np.empty_like(recording.qd)
    for i, plan in enumerate(trial.plans):
        at = recording.plan == i
        since = np.minimum(recording.t[at] - plan.start_time, plan.curve.duration)
        q_d[at] = plan.curve.position(since, plan.k)
        qd_d[at] = plan.curve.velocity(since, plan.k)
    return q_d, qd_d


def energy(trial: TrackTrial, q: Array, r: Array) -> Array:
    """V with the true parameters, (N,)."""
    W_m = momentum_regressors(trial.truth, q, r)[0]
    theta, layout = trial.truth.theta, trial.truth.layout
    rigid = np.einsum('ij,ijk,k->i', r, W_m, theta)
    return np.asarray(0.5 * rigid + 0.5 * r**2 @ theta[layout.joint_entries('Ia')])


def shares(trial: TrackTrial, recording: TrackedRun) -> dict[str, Array]:
    """How much of each promise is used, (N,) each; above 1 it is broken."""
    q_d, qd_d = desired(trial, recording)
    e, ed = q_d - recording.q, qd_d - recording.qd
    r = ed + trial.gains.K_r * e
    promised = {
        name: np.array([getattr(error, name) for error in trial.errors])[recording.plan]
        for name in ('r_max', 'position', 'velocity')
    }
    input_bound = _input_bound(trial, recording)
    largest = {
        'r': np.abs(r) / promised['r_max'],
        'position': np.abs(e) / promised['position'],
        'velocity': np.abs(ed) / promised['velocity'],
        'robust_input': np.abs(recording.robust) / input_bound,
    }
    used = {name: np.asarray(share.max(axis=1)) for name, share in largest.items()}
    return {'energy': energy(trial, recording.q, r) / trial.gains.V_M, **used}


def _input_bound(trial: TrackTrial, recording: TrackedRun) -> Array:
    """Bound of |v_j| by the w_M and the nominal mass matrix of each sample, (N, n)."""
    w_M, bound = recording.disturbance, np.empty_like(recording.disturbance)
    for i, estimate in enumerate(trial.estimates):
        at = recording.plan == i
        M = mass_matrix(trial.truth, estimate.theta, recording.q[at])
        length = inverse_length(M, w_M[at])[:, None]
        bound[at] = 0.5 * (np.sqrt(np.einsum('tjj->tj', M)) * length + w_M[at])
    return bound


def torque_share(trial: TrackTrial, recording: TrackedRun) -> Array:
    """Likewise for the torque: distance from the middle of its reachable set by its radius."""
    share = np.empty(len(recording.t))
    for i, (plan, estimate) in enumerate(zip(trial.plans, trial.estimates, strict=True)):
        horizon = Horizon(plan.curve, plan.k, np.zeros_like(plan.k))
        joints = joint_reach(trial.truth, horizon, trial.errors[i])
        reach = torque_reach(trial.truth, estimate, joints, trial.gains).bound()
        at = recording.plan == i
        step = (recording.t[at] - plan.start_time) / plan.curve.duration * horizon.intervals
        step = np.clip(step.astype(int), 0, horizon.intervals - 1)
        off = np.abs(recording.torque[at] - reach.center[step])
        share[at] = (off / reach.radius[step]).max(axis=1)
    return share


def _arm_and_estimate(rng: np.random.Generator, arm: str) -> tuple[RobotModel, ParameterEstimate]:
    if arm == 'random_arm':
        chain = bool(rng.random() < 0.5)
        model = random_tree(rng, int(rng.integers(1, 8)), chain, rng.uniform(0.2, 2.0))
    elif arm == 'two_link':
        model = RobotModel.named(arm)
    else:
        model = RobotModel.named('kinova_gen3')
        model = model.with_payload(read_payload(str(rng.choice(DUMBBELLS))))
    if arm == 'kinova_table_1':
        return model, kinova_prior(model)
    bounds = ratio_bounds(model.theta, PARAMETER_RATIO)
    return model, ParameterEstimate(model.layout, model.theta, bounds)


def _certified(
    rng: np.random.Generator, start: float, curve: Bezier, estimate: ParameterEstimate
) -> Plan:
    """Return a random plan for these parameters, without obstacles and torque limits."""
    k = rng.uniform(-0.7, 0.7, len(curve.q0))
    switch = start + 0.5 * curve.duration
    return Plan(start, switch, curve, k, estimate.bounds, theta_0=estimate.theta)


def _true_theta(rng: np.random.Generator, model: RobotModel, estimate: ParameterEstimate) -> Array:
    """Bodies that can exist, in the bounds: anywhere, or as heavy or light as can be.

    A body times a number can exist if the body can. Table I leaves theta_e as it is.
    """
    lower, upper = estimate.bounds.lower, estimate.bounds.upper
    share = rng.uniform(-1.0, 1.0, size=5 * model.n)
    if rng.random() < 0.7:
        share = rng.choice([-1.0, 1.0], size=5 * model.n)
    scale = 1.0 + PARAMETER_RATIO * (1.0 - 1e-12) * share
    theta: Array = model.theta.copy()
    for i in range(model.n):
        theta[model.layout.inertial(i)] *= scale[i]
    theta[10 * model.n :] *= scale[model.n :]
    tip = model.layout.end_effector
    if not np.all((lower[tip] <= theta[tip]) & (theta[tip] <= upper[tip])):
        theta[tip] = model.theta[tip]
    return theta


def _narrowed(
    rng: np.random.Generator, estimate: ParameterEstimate, truth: Array
) -> ParameterEstimate:
    """Return what an identifier may find later: smaller bounds, the truth anywhere in them."""
    bounds = estimate.bounds
    share = rng.uniform(0.0, 1.0, size=(2, len(truth)))
    lower = np.maximum(bounds.lower, truth - share[0] * (truth - bounds.lower))
    upper = np.minimum(bounds.upper, truth + share[1] * (bounds.upper - truth))
    lower, upper = np.minimum(lower, truth), np.maximum(upper, truth)
    theta = np.clip(estimate.theta, lower, upper)
    return ParameterEstimate(estimate.layout, theta, Interval(lower, upper))


def _worst_start(
    rng: np.random.Generator, truth: RobotModel, gains: Gains, plan: Plan, error: TrackingError
) -> tuple[Array, Array]:
    """State with V = V_M and every |e_j| as large as promised."""
    n = truth.n
    e = error.position * rng.choice([-1.0, 1.0], size=n)
    q_d, qd_d, _ = plan.desired(plan.start_time)
    q = q_d - e
    r = rng.normal(size=n)
    if rng.random() < 0.5:  # the joint with the largest error also moves as fast as it may
        r = np.where(np.arange(n) == rng.integers(n), np.sign(e), 0.0)
    W_m = momentum_regressors(truth, q, r)[0]
    Ia = truth.theta[truth.layout.joint_entries('Ia')]
    V = 0.5 * r @ W_m @ truth.theta + 0.5 * r**2 @ Ia
    r *= np.sqrt(gains.V_M / V)
    return q, qd_d - (r - gains.K_r * e)
