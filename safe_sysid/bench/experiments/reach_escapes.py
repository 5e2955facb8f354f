"""Random states, parameters and errors that try to leave the reachable sets, and how many do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.reach import MotionSamples, placed_points
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.tracking import law_regressor

FLOAT_ERROR = 1e-9  # of the sampled torques [N m] and positions [m] themselves


@dataclass(frozen=True)
class Excess:
    """By how much each sample is outside its set; not above zero when inside. (N,) each."""

    joint: Array  # [rad, rad/s, rad/s^2]
    disturbance: Array  # [N m] |W_s (theta - theta_0)| above w_M
    torque: Array  # [N m] tau_0 + v
    occupancy: Array  # [m] end points of capsules

    @property
    def worst(self) -> Array:
        """Largest of all kinds, (N,)."""
        kinds = (self.joint, self.disturbance, self.torque, self.occupancy)
        return np.asarray(np.max(kinds, axis=0))

    def escapes(self) -> int:
        """Return samples that are outside some set by more than what floats explain."""
        return int((~(self.worst <= FLOAT_ERROR)).sum())


def excess(rng: np.random.Generator, sets: ReachableSet, samples: MotionSamples) -> Excess:
    """Return what samples of the motion do to every set, each with parameters of its own."""
    problem = sets.problem
    at = sets.joints.monomials.values(samples.x[:, : sets.joints.monomials.variables])
    t = samples.interval
    nominal, disturbance, true = torques(rng, problem, samples)
    torque = controller_torque(problem, samples, nominal, disturbance)
    return Excess(
        _joint_excess(sets, samples, at),
        (true - sets.torque.disturbance[t]).max(axis=1),
        (_outside(sets.torque.rows[t], at, torque) - sets.torque.radius[t]).max(axis=1),
        _occupancy_excess(sets, samples, at),
    )


def _outside(rows: Array, at: Array, values: Array) -> Array:
    """Distance of values (N, ...) from polynomials (N, ..., M + 1), less their remainder."""
    center = np.einsum('n...m,nm->n...', rows[..., :-1], at)
    outside: Array = np.abs(values - center) - rows[..., -1]
    return outside


def _joint_excess(sets: ReachableSet, samples: MotionSamples, at: Array) -> Array:
    joints, t = sets.joints, samples.interval
    at = np.concatenate([at, _error_variables(sets, samples)], axis=1)
    pairs = [
        (joints.q, samples.q),
        (joints.qd, samples.qd),
        (joints.qd_a, samples.qd_a),
        (joints.qdd_a, samples.qdd_a),
        (joints.qd_d, samples.qd_d),
    ]
    worst = np.array([_outside(rows[t], at, x).max(axis=1) for rows, x in pairs])
    excess: Array = worst.max(axis=0)
    return excess


def _error_variables(sets: ReachableSet, samples: MotionSamples) -> Array:
    """Return the z_1 and z_2 of `reach.error_terms` of every sample; none where rows have none."""
    K_r, n = sets.error.K_r, samples.q.shape[1]
    e = (samples.qd_a - samples.qd_d) / K_r
    if len(sets.errors.e):
        pairs = ((sets.errors.r, samples.r), (sets.errors.e, e))
        each = (np.linalg.solve(L[samples.interval], x[..., None])[..., 0] for L, x in pairs)
        return np.concatenate(list(each), axis=1)
    z = np.concatenate([samples.r / K_r.min(), e], axis=1) / np.tile(sets.errors.half_axes, 2)
    return z[:, : 2 * n if sets.joints.error_variables else 0]


def _occupancy_excess(sets: ReachableSet, samples: MotionSamples, at: Array) -> Array:
    """Only of capsules that move: the others are where they are."""
    model, occupancy, t = sets.problem.model, sets.occupancy, samples.interval
    capsules = model.capsules
    joint = np.concatenate([capsules.joint, capsules.joint])
    moving = np.flatnonzero(joint >= 0)
    local = np.concatenate([capsules.a, capsules.b])[moving]
    points = placed_points(model.tree, samples.q, joint[moving], local)
    rows = occupancy.rows[:, moving][t]
    outside = np.linalg.norm(np.maximum(_outside(rows, at, points), 0.0), axis=-1)
    excess: Array = (outside - occupancy.tracking[:, moving][t]).max(axis=1)
    return excess


def controller_torque(
    problem: Problem, samples: MotionSamples, nominal: Array, disturbance: Array
) -> Array:
    """Torque tau_0 + v of the robust law with its largest gain, where V = V_M; (N, n)."""
    r = samples.r
    M = mass_matrix(problem.model, problem.bounds.theta, samples.q)
    Mr = (M @ r[..., None])[..., 0]
    square = np.maximum((r * Mr).sum(axis=1, keepdims=True), 1e-300)
    share = (np.abs(r) * disturbance).sum(axis=1, keepdims=True) / square
    torque: Array = nominal + share * Mr
    return torque


def torques(
    rng: np.random.Generator, problem: Problem, samples: MotionSamples
) -> tuple[Array, Array, Array]:
    """tau_0, w_M as a controller computes it, and |W_s (theta - theta_0)| for a random theta."""
    model, gains = problem.model, problem.gains
    n, theta_0, theta = model.n, problem.bounds.theta, problem.bounds.bounds
    rest = law_regressor(model, samples.q, samples.qd, samples.qd_a, samples.qdd_a)
    smooth = np.tanh(samples.qd_d / gains.coulomb_speed)
    columns = slice(10 * n, 11 * n)
    nominal = rest @ theta_0 + smooth * theta_0[columns]
    low, high = theta.lower - theta_0, theta.upper - theta_0
    largest = np.maximum(
        np.maximum(rest, 0.0) @ high + np.minimum(rest, 0.0) @ low,
        -(np.maximum(rest, 0.0) @ low + np.minimum(rest, 0.0) @ high),
    )
    ends = np.where(rng.random((len(rest), len(theta_0))) < 0.5, theta.lower, theta.upper)
    share = np.where(rng.random((len(rest), 1)) < 0.5, 1.0, rng.random((len(rest), len(theta_0))))
    random_theta = theta_0 + share * (ends - theta_0)
    sign = np.where(np.abs(samples.qd) > gains.sign_speed, np.sign(samples.qd), 0.0)
    compensated = smooth * theta_0[columns]
    coulomb = [np.abs(Fc[columns] * sign - compensated) for Fc in (theta.lower, theta.upper)]
    disturbance = largest + np.maximum(*coulomb)
    true = np.abs(
        (rest @ (random_theta - theta_0)[:, :, None])[..., 0]
        + random_theta[:, columns] * sign
        - compensated
    )
    return nominal, disturbance, true
