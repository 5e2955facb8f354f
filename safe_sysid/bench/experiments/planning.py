"""Random starts among boxes, and attempts to falsify certified plans."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.identification import PARAMETER_RATIO
from safe_sysid.bench.experiments.reach import DURATION, energy_errors, sample_motion
from safe_sysid.bench.experiments.reach_escapes import controller_torque, torques
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.error_balls import error_set
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.simulate.random_arm import random_rotation
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

GAINS = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)  # the published ones
FREE = 0.03  # [m] of clearance that a random start has


def random_start(rng: np.random.Generator, model: RobotModel, free: float = FREE) -> Array:
    """Position within the limits at which the arm does not touch itself."""
    gauge, limits = ContactGauge(model), model.limits
    low = np.where(limits.is_continuous, -np.pi, limits.position_lower)
    high = np.where(limits.is_continuous, np.pi, limits.position_upper)
    while True:
        q: Array = rng.uniform(low, high)
        if gauge.clearance(q).distance > free:
            return q


def boxes_beside(rng: np.random.Generator, model: RobotModel, q: Array, count: int) -> Obstacles:
    """Boxes all around the base that the arm at q does not touch."""
    boxes: dict[str, Box] = {}
    while len(boxes) < count:
        direction = rng.normal(size=3)
        center = direction / np.linalg.norm(direction) * rng.uniform(0.4, 1.0)
        box = Box(center, rng.uniform(0.02, 0.15, size=3), random_rotation(rng))
        distances = ContactGauge(model, {'box': box}).distances(q)[len(model.capsules.pairs) :]
        if distances.min() > FREE:
            boxes[f'box_{len(boxes)}'] = box
    return Obstacles.of(boxes)


def at_rest(
    model: RobotModel, estimate: ParameterEstimate, q: Array, obstacles: Obstacles
) -> Problem:
    """Plans that begin at rest."""
    rest = np.zeros(model.n)
    horizon = Horizon(Bezier(q, rest, rest, DURATION), rest, rest)
    return Problem(model, estimate, horizon, GAINS, obstacles)


def bare_estimate(model: RobotModel) -> ParameterEstimate:
    """5 % on everything."""
    bounds = ratio_bounds(model.theta, PARAMETER_RATIO)
    return ParameterEstimate(model.layout, model.theta, bounds)


def violations(rng: np.random.Generator, certificate: PlanCertificate, count: int) -> int:
    """Count samples (t, theta, error) of a certified plan that break a limit or touch."""
    problem, error = certificate.problem, certificate.error
    model, bounds = problem.model, problem.bounds
    armature = bounds.bounds.lower[bounds.layout.joint_entries('Ia')]
    balls = error_set(error, armature, problem.gains.V_M)
    errors = energy_errors(rng, error, balls, count)
    samples = sample_motion(rng, problem.horizon, error.K_r, errors)
    nominal, disturbance, _ = torques(rng, problem, samples)
    torque = controller_torque(problem, samples, nominal, disturbance)
    limits = model.limits
    broken = np.any(np.abs(torque) > limits.torque, axis=1)
    broken |= np.any(np.abs(samples.qd) > limits.velocity, axis=1)
    broken |= np.any(samples.q < limits.position_lower, axis=1)
    broken |= np.any(samples.q > limits.position_upper, axis=1)
    shapes = dict(zip(problem.obstacles.names, problem.obstacles.shapes, strict=True))
    gauge = ContactGauge(model, shapes)
    moving = _that_can_touch(gauge, model)
    for i in np.flatnonzero(~broken):
        broken[i] = gauge.distances(samples.q[i])[moving].min() <= 0.0
    return int(broken.sum())


def _that_can_touch(gauge: ContactGauge, model: RobotModel) -> Array:
    """Pairs of the gauge that a plan has a say in: not the base and an obstacle."""
    still = {model.capsules.names[c] for c in np.flatnonzero(model.capsules.joint < 0)}
    own = len(model.capsules.pairs)
    return np.array([i < own or first not in still for i, (first, _) in enumerate(gauge.pairs)])
