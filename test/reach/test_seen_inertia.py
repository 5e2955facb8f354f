"""Bounds of the inertia where torques of a late law act, against mass matrices by Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from reach.light_arms import PANDA_HOME, panda, problem_of

from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.error_terms import with_errors
from safe_sysid.reach.forward_occupancy import without_error
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.plan_error import errors_of, plan_error
from safe_sysid.reach.position_ellipsoids import position_ellipsoids
from safe_sysid.reach.seen_inertia import seen_inertia
from safe_sysid.reach.state_differences import turned
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier

MOVED = 0.002  # [rad] from where a torque comes from to where it acts
IN_WINDOW = 0.03  # [rad] that an arm moves while it is observed


@pytest.fixture(scope='module')
def arm():
    return RobotModel.named('kinova_gen3')


def known(model, share=0.03):
    theta = model.theta
    spread = share * np.abs(theta)
    off = theta + 0.3 * spread  # theta_0 is not in the middle of its bounds
    return ParameterEstimate(model.layout, off, Interval(theta - spread, theta + spread))


def bounds_of(model, estimate):
    n = model.n
    rest = np.zeros(n)
    curve = Bezier(np.linspace(-0.5, 0.8, n), rest, rest, 3.0)
    horizon = Horizon(curve, np.full(n, 0.4), rest, 8)
    error = TrackingError(np.full(n, 5.0), np.full(n, 0.05), np.full(n, 0.01), np.full(n, 0.1))
    true = joint_reach(model, horizon, error)
    seen = turned(true, MOVED)
    return horizon, error, seen_inertia(model, estimate, true, seen, turned(seen, IN_WINDOW))


def matrix(model, theta, q):
    rigid = model.with_parameters(theta).pinocchio()
    H = pin.crba(rigid, rigid.createData(), q)
    return np.triu(H) + np.triu(H, 1).T


def samples(rng, model, estimate, horizon, error, count=40):
    """Draw steps, M(q_hat) and mass matrices of the arm, theta at ends of its bounds."""
    for _ in range(count):
        step = int(rng.integers(horizon.intervals))
        t = rng.uniform(horizon.time.lower[step], horizon.time.upper[step])
        e = error.position * rng.choice([-1.0, 1.0, rng.uniform(-1.0, 1.0)], model.n)
        q = horizon.curve.derivative(0, t, horizon.k_center) - e
        q_hat = q + MOVED * rng.choice([-1.0, 1.0, 0.0], model.n)
        ends = np.stack([estimate.bounds.lower, estimate.bounds.upper])
        theta = ends[rng.integers(2, size=model.layout.size), np.arange(model.layout.size)]
        if rng.random() < 0.3:
            theta = ends[int(rng.integers(2))]  # all bodies heavier, or lighter
        yield step, matrix(model, estimate.theta, q_hat), matrix(model, theta, q), theta, q_hat


@pytest.mark.parametrize('armature', [1.0, 0.2])
def test_bounds_hold_for_positions_and_parameters(arm, rng, armature):
    theta = arm.theta.copy()
    theta[arm.layout.joint_entries('Ia')] *= armature
    model = arm.with_parameters(theta)
    estimate = known(model)
    horizon, error, found = bounds_of(model, estimate)
    used = np.zeros(2)
    for step, M, H, theta, q_hat in samples(rng, model, estimate, horizon, error):
        values = np.linalg.eigvals(np.linalg.solve(M, H)).real
        assert found.mu <= values.min() <= values.max() <= found.kappa
        assert np.all(np.abs(H - M) <= found.off[step])
        assert np.all(np.abs(H - matrix(model, theta, q_hat)) <= found.moved[step])
        assert np.all(np.abs(np.linalg.inv(H)) <= found.solving[step])
        x = rng.normal(size=model.n)
        assert x @ M @ x <= np.abs(x) @ found.size[step] @ np.abs(x)
        assert x @ np.linalg.solve(M, x) <= np.abs(x) @ found.inverse[step] @ np.abs(x)
        off = np.abs(H - M) / found.off[step]
        used = np.maximum(used, [off.max(), (values.max() - 1.0) / (found.kappa - 1.0)])
        box, most = np.abs(rng.normal(size=model.n)), np.inf
        u = box * rng.choice([-1.0, 1.0], model.n)
        boxes = np.tile(box, (horizon.intervals, 1))
        assert np.all(np.abs(np.linalg.solve(H, u)) <= found.motion(boxes, most)[step])
        pulled = np.linalg.solve(H, matrix(model, theta, q_hat) @ u)
        assert np.all(np.abs(pulled) <= found.pulled(box, most)[step])
    assert used[0] > 0.5  # what is bounded is there
    assert used[1] > 0.05


@pytest.mark.parametrize('share', [1.0, 0.3, 0.0])
def test_mass_matrices_within_a_window_are_as_near_as_said(arm, rng, share):
    """Estimates off by MOVED each, of positions up to a share of IN_WINDOW apart."""
    horizon, error, found = bounds_of(arm, known(arm))
    most, theta = found.turning.stretch(share), known(arm).theta
    used = 0.0
    for _ in range(200):
        t = rng.uniform(0.0, 3.0)
        e = error.position * rng.choice([-1.0, 1.0], arm.n)
        q = horizon.curve.derivative(0, t, horizon.k_center) - e
        one = matrix(arm, theta, q + MOVED * rng.choice([-1.0, 1.0], arm.n))
        away = (share * IN_WINDOW + MOVED) * rng.choice([-1.0, 1.0], arm.n)
        other = matrix(arm, theta, q + away)
        values = np.linalg.eigvals(np.linalg.solve(other, one)).real
        assert values.max() <= most**2
        used = max(used, (values.max() - 1.0) / (most**2 - 1.0))
    assert used > 0.02


def test_without_positions_or_parameters_bounds_would_break(arm, rng):
    """kappa and `off` of exact positions, or of exact parameters, are too small."""
    exact = known(arm, 0.0)
    horizon, error, without_theta = bounds_of(arm, exact)
    estimate = known(arm)
    _, _, found = bounds_of(arm, estimate)
    worst = np.zeros(2)
    for step, M, H, theta, q_hat in samples(rng, arm, estimate, horizon, error, 60):
        values = np.linalg.eigvals(np.linalg.solve(M, H)).real
        worst[0] = max(worst[0], (values.max() - 1.0) / (without_theta.kappa - 1.0))
        by_theta = np.abs(H - matrix(arm, theta, q_hat)) / without_theta.moved[step]
        worst[1] = max(worst[1], by_theta.max())
    assert worst[0] > 1.0
    assert found.kappa > without_theta.kappa


@pytest.fixture(scope='module')
def light():
    """A Panda without armature along a plan, whose wrist strays far: 5 % on everything."""
    problem = problem_of(panda(), PANDA_HOME, 5e-4, move=0.3)
    error = plan_error(problem)
    desired = joint_reach(problem.model, problem.horizon, without_error(7))
    true = with_errors(problem.model, problem.horizon, desired, error, errors_of(problem, error))
    seen = turned(true, 1e-4)
    told = problem.model, problem.bounds, true, seen, turned(seen, 0.01)
    return problem, error, seen, seen_inertia(*told)


def strayed(rng, problem, error, count):
    """Draw steps, positions at the far ends of the tube and estimates of them."""
    horizon = problem.horizon
    for _ in range(count):
        step = int(rng.integers(horizon.intervals))
        t = rng.uniform(horizon.time.lower[step], horizon.time.upper[step])
        z = rng.normal(size=7)
        e = error.tube.e[step] @ (z / np.linalg.norm(z))
        q = horizon.curve.derivative(0, t, horizon.k_center) - e
        yield step, q, q + 1e-4 * rng.choice([-1.0, 1.0], 7)


def test_positions_of_a_tube_are_in_their_ellipsoids(light, rng):
    problem, error, seen, _ = light
    q_c, G = position_ellipsoids(seen)
    largest = 0.0
    for step, q, q_hat in strayed(rng, problem, error, 2000):
        for x in (q, q_hat):
            z = np.linalg.solve(G[step], x - q_c[step])
            largest = max(largest, float(np.linalg.norm(z)))
    assert 0.6 < largest <= 1.0


def test_bounds_hold_along_the_tube_of_a_light_arm(light, rng):
    """Bounds from polynomials over ellipsoids, which positions that stray far hardly widen."""
    problem, error, _, found = light
    model, estimate = problem.model, problem.bounds
    ends = np.stack([estimate.bounds.lower, estimate.bounds.upper])
    assert found.gap.max() < 0.3  # of entries alone it is above 1
    Fv, length = np.linspace(1.0, 9.0, 7), 0.7
    used = np.zeros(3)
    for step, q, q_hat in strayed(rng, problem, error, 150):
        theta = ends[rng.integers(2, size=model.layout.size), np.arange(model.layout.size)]
        for i in range(7):  # heavier or lighter as a whole, so that bodies can exist
            place = model.layout.inertial(i)
            theta[place] = model.theta[place] * (1.0 + 0.05 * rng.choice([-1.0, 1.0]))
        M, H = matrix(model, estimate.theta, q_hat), matrix(model, theta, q)
        values = np.linalg.eigvals(np.linalg.solve(M, H)).real
        assert found.mu <= values.min() <= values.max() <= found.kappa
        X = found.X[step]
        for each in (M, matrix(model, estimate.theta, q)):
            off = np.linalg.norm(X @ each @ X.T - np.eye(7), 2)
            used[0] = max(used[0], off / found.gap[step])
        x = rng.normal(size=7)
        assert x @ M @ x <= np.abs(x) @ found.size[step] @ np.abs(x)
        assert x @ np.linalg.solve(M, x) <= np.abs(x) @ found.inverse[step] @ np.abs(x)
        box = np.abs(x) * np.array([5.0, 5.0, 5.0, 5.0, 1.0, 1.0, 0.2])
        u = box * rng.choice([-1.0, 1.0], 7)
        y = np.abs(np.linalg.solve(H, u))
        norm = np.sqrt(u @ np.linalg.solve(M, u))
        boxes = np.tile(box, (problem.horizon.intervals, 1))
        for most in (np.inf, norm):
            used[1] = max(used[1], np.max(y / found.motion(boxes, most)[step]))
        values, V = np.linalg.eigh(X @ np.diag(Fv) @ X.T)
        r = X.T @ V[:, -1]  # which friction resists most
        r *= length / np.sqrt(r @ M @ r)
        resists = np.sqrt((Fv * r) @ np.linalg.solve(M, Fv * r))
        used[2] = max(used[2], resists / found.damping(Fv, length))
    assert np.all(used <= 1.0)
    assert np.all(used > [0.1, 0.5, 0.5])  # what is bounded is there


def test_inertia_that_nobody_knows_is_refused(arm):
    theta = arm.theta.copy()
    theta[arm.layout.joint_entries('Ia')] = 0.0
    bare = arm.with_parameters(theta)
    with pytest.raises(BoundError, match='the inertia of the arm is not bounded'):
        bounds_of(bare, known(bare, 0.5))
