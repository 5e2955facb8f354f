"""Gradients of the planner's costs, derived by hand, against AD of what the costs are."""

import casadi as cs
from gradients_by_ad.ad import gradient_at, near, quintic, smooth_rows, value_of
import numpy as np
import pytest

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.cost.predicted_observations import ObservationError, PredictedObservations
from safe_sysid.plan.cost.predicted_rows import PredictedRows
from safe_sysid.plan.cost.sampled_motion import SampledMotion
from safe_sysid.plan.cost.terms import FLAT, Conditioning, GoalDistance, PredictedWidth
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.trajectory.bezier import Bezier

JOINTS, DURATION, SAMPLES, PER_ROW, UNTIL = 3, 3.0, 12, 3, 1.5


@pytest.fixture
def arm(rng):
    return random_tree(rng, JOINTS, serial=True, armature=0.2)


@pytest.fixture
def horizon(rng):
    curve = Bezier(*(rng.uniform(-1, 1, (3, JOINTS)) * [[1.0], [0.5], [0.5]]), DURATION)
    return Horizon(curve, rng.uniform(-0.5, 0.5, JOINTS), np.full(JOINTS, 0.4))


def regressors_along(arm, horizon, x):
    """W (n, 14 n) at every sample, as expressions in x."""
    t = cs.MX.sym('t')
    k, position = quintic(horizon, t / DURATION)
    velocity = cs.jacobian(position, t)
    state = cs.Function('state', [t, k], [position, velocity, cs.jacobian(velocity, t)])
    moved, W = cs.DM(horizon.k_center) + cs.DM(horizon.k_range) * x, smooth_rows(arm.tree)
    return [W(*state(at, moved)) for at in np.linspace(0.0, UNTIL, SAMPLES)]


def means(parts):
    groups = [parts[i : i + PER_ROW] for i in range(0, len(parts), PER_ROW)]
    return [sum(group[1:], group[0]) / PER_ROW for group in groups]


def test_conditioning(rng, arm, horizon):
    rows = PredictedRows(arm, horizon, UNTIL, SAMPLES, PER_ROW)
    collected, scale = rng.normal(size=(4, 10)), rng.uniform(0.5, 2.0, 10)
    cost = Conditioning(rows, collected, scale)
    x = cs.MX.sym('x', JOINTS)
    parts = [W[:, arm.layout.end_effector] for W in means(regressors_along(arm, horizon, x))]
    Y = cs.mtimes(cs.vertcat(*parts, cs.DM(collected)), np.diag(scale))
    at = rng.uniform(-1, 1, JOINTS)
    G = cs.mtimes(Y.T, Y)
    squares, vectors = np.linalg.eigh(value_of(G, [x], at))
    # an eigenvalue and its vector are what solves G v = l v, v'v = 1; AD of the implicit function
    unknown, p = cs.MX.sym('u', 11), cs.MX.sym('G', 10, 10)
    v, of = unknown[:10], unknown[10]
    equations = cs.vertcat(cs.mtimes(p, v) - of * v, cs.dot(v, v) - 1.0)
    solver = cs.rootfinder('eigen', 'newton', {'x': unknown, 'p': cs.vec(p), 'g': equations})
    low, high = (solver(np.append(vectors[:, i], squares[i]), cs.vec(G))[10] for i in (0, -1))
    value = 0.5 * cs.log(high) - 0.5 * cs.log(low + FLAT**2 * high)
    found = cost.evaluate(at)
    near(found.value, value_of(value, [x], at)[0, 0])
    near(found.gradient, gradient_at(value, x, at), 1e-7)


def test_predicted_width(rng, arm, horizon):
    theta, size = arm.theta, arm.layout.size
    bounds = Interval.from_center_radius(theta, rng.uniform(0.05, 0.3, size))
    promise = ObservationError(torque_ratio=0.05, torque_floor=0.1)
    observations = PredictedObservations(
        arm, ParameterEstimate(arm.layout, theta, bounds),
        SampledMotion(horizon, UNTIL, SAMPLES), PER_ROW, promise,
    )  # fmt: skip
    importance, collected = rng.uniform(0.0, 2.0, 10), rng.normal(size=(5, size))
    cost = PredictedWidth(observations, importance, collected)
    x = cs.MX.sym('x', JOINTS)
    W = regressors_along(arm, horizon, x)
    torques = [cs.mtimes(one, theta) for one in W]
    errors = [
        cs.sqrt((promise.torque_ratio * tau) ** 2 + promise.torque_floor**2) for tau in torques
    ]
    rows = [
        row / cs.repmat(error, 1, size) for row, error in zip(means(W), means(errors), strict=True)
    ]
    H = cs.mtimes(cs.vertcat(*rows, cs.DM(collected)), np.diag(bounds.radius))
    columns = np.eye(size)[:, arm.layout.end_effector]
    C = cs.solve(cs.MX.eye(size) + cs.mtimes(H.T, H), columns)
    widths = cs.diag(cs.mtimes(columns.T, C))
    value = 0.5 * cs.dot(importance, cs.log(widths))
    at = rng.uniform(-1, 1, JOINTS)
    found = cost.evaluate(at)
    near(found.value, value_of(value, [x], at)[0, 0])
    near(found.gradient, gradient_at(value, x, at), 1e-7)


def test_distance_to_a_goal(rng, arm, horizon):
    goal, time = rng.normal(size=JOINTS), 1.2
    k, position = quintic(horizon, time / DURATION)
    x = cs.MX.sym('x', JOINTS)
    there = cs.Function('p', [k], [position])(cs.DM(horizon.k_center) + cs.DM(horizon.k_range) * x)
    value = 0.5 * cs.sumsqr(there - goal)
    at = rng.uniform(-1, 1, JOINTS)
    found = GoalDistance(arm, horizon, goal, time).evaluate(at)
    near(found.value, value_of(value, [x], at)[0, 0])
    near(found.gradient, gradient_at(value, x, at))
