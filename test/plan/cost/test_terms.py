"""Costs are what they say, and their gradients are those of what they say."""

import numpy as np
from plan.cost.derivatives import numerical_gradient
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.cost.predicted_observations import ObservationError, PredictedObservations
from safe_sysid.plan.cost.predicted_rows import PredictedRows
from safe_sysid.plan.cost.sampled_motion import SampledMotion
from safe_sysid.plan.cost.terms import (
    FLAT,
    Conditioning,
    GoalDistance,
    PredictedWidth,
    shortest_way,
)
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier

KINOVA = RobotModel.named('kinova_gen3')
ESTIMATE = kinova_prior(KINOVA)
REST = np.zeros(7)


def horizon_in_motion(rng):
    curve = Bezier(*(rng.uniform(-1, 1, (3, 7)) * [[1.0], [0.3], [0.3]]), 3.0)
    return Horizon(curve, rng.uniform(-0.5, 0.5, 7), np.full(7, 0.4))


def rows_of(horizon, samples_per_row=1):
    return PredictedRows(KINOVA, horizon, 3.0, 128, samples_per_row)


def observations_of(horizon, promise=None, estimate=None):
    motion = SampledMotion(horizon, 1.5, 60)
    promise = promise or ObservationError()
    return PredictedObservations(KINOVA, estimate or ESTIMATE, motion, 4, promise)


def regressor_along(horizon, x):
    """theta_e columns of the whole regressor at 128 samples, stacked."""
    t, k = np.linspace(0, 3, 128), horizon.k_center + horizon.k_range * x
    states = [horizon.curve.derivative(order, t, k) for order in range(3)]
    W = standard_regressor(KINOVA, *states)
    return W[:, :, KINOVA.layout.end_effector].reshape(-1, 10)


def random_costs(rng):
    """Every cost, in its plain and its general form."""
    horizon = horizon_in_motion(rng)
    collected = rng.normal(size=(20, 10))
    for count in (1, 4):
        rows = rows_of(horizon, count)
        yield Conditioning(rows)
        yield Conditioning(rows, collected, rng.uniform(0.1, 10, 10))
    for promise in (ObservationError(), ObservationError(0.2, 0.5)):
        observations = observations_of(horizon, promise)
        yield PredictedWidth(observations, np.full(10, 0.1), np.zeros((0, 98)))
        yield PredictedWidth(observations, rng.uniform(0, 1, 10), rng.normal(size=(20, 98)))
    yield GoalDistance(KINOVA, horizon, rng.uniform(-6, 6, 7), 1.5)


def test_gradients_are_derivatives(rng):
    for _ in range(3):
        for cost in random_costs(rng):
            x = rng.uniform(-1, 1, 7)
            found = cost.evaluate(x).gradient
            numeric = numerical_gradient(lambda at, cost=cost: cost.evaluate(at).value, x, 2e-4)
            assert np.allclose(found, numeric, rtol=1e-6, atol=1e-7), type(cost)


def test_the_cost_alone_is_that_which_comes_with_the_gradient(rng):
    for cost in random_costs(rng):
        x = rng.uniform(-1, 1, 7)
        assert cost.value(x) == pytest.approx(cost.evaluate(x).value, rel=1e-12), type(cost)


def test_conditioning_is_the_logarithm_of_the_condition_number(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    W = regressor_along(horizon, x)
    found = Conditioning(rows_of(horizon)).evaluate(x).value
    assert found == pytest.approx(np.log(np.linalg.cond(W)), rel=1e-9)
    collected, scale = rng.normal(size=(5, 10)), rng.uniform(0.1, 10, 10)
    found = Conditioning(rows_of(horizon), collected, scale).evaluate(x).value
    both = np.concatenate([W, collected]) * scale
    assert found == pytest.approx(np.log(np.linalg.cond(both)), rel=1e-9)


def test_conditioning_of_an_arm_that_stands_still_is_its_largest_value(rng):
    still = Horizon(Bezier(rng.uniform(-1, 1, 7), REST, REST, 3.0), REST, np.full(7, 0.5))
    cost = Conditioning(rows_of(still))
    at_rest = cost.evaluate(np.zeros(7))
    assert at_rest.value == pytest.approx(np.log(1 / FLAT))
    assert np.isfinite(at_rest.gradient).all()
    assert cost.evaluate(rng.uniform(0.5, 1.0, 7)).value < at_rest.value - 5.0


def observations_along(horizon, x, promise):
    """Rows of the regressor for all of theta, each divided by its error, by hand."""
    t, k = np.linspace(0, 1.5, 60), horizon.k_center + horizon.k_range * x
    W = standard_regressor(KINOVA, *(horizon.curve.derivative(order, t, k) for order in range(3)))
    rows = []
    for first in range(0, 60, 4):
        for joint in range(7):
            group = W[first : first + 4, joint]
            tau = group @ ESTIMATE.theta
            error = np.sqrt((promise.torque_ratio * tau) ** 2 + promise.torque_floor**2).mean()
            rows.append(group.mean(axis=0) / error)
    return np.array(rows)


def test_predicted_width_by_the_inverse_of_the_information(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    promise, importance = ObservationError(0.05, 0.3), rng.uniform(0.0, 1.0, 10)
    collected, half_width = rng.normal(size=(20, 98)), ESTIMATE.bounds.radius
    rows = np.concatenate([observations_along(horizon, x, promise), collected])
    known = half_width < 1e-12
    information = np.diag(1.0 / np.where(known, 1.0, half_width) ** 2) + rows.T @ rows
    uncertain = np.flatnonzero(~known)
    covariance = np.linalg.inv(information[np.ix_(uncertain, uncertain)])
    after = np.zeros(98)
    after[uncertain] = np.sqrt(np.diag(covariance))
    tip = KINOVA.layout.end_effector
    expected = importance @ np.log(after[tip] / half_width[tip])
    cost = PredictedWidth(observations_of(horizon, promise), importance, collected)
    assert cost.evaluate(x).value == pytest.approx(expected, rel=1e-8)


def test_rows_already_collected_leave_less_to_learn(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    seen = observations_of(horizon).evaluate(x).rows
    nothing, importance = np.zeros((0, 98)), np.full(10, 0.1)
    useless = observations_of(horizon, ObservationError(0.0, 1e12))
    one, two, none, still_one = (
        PredictedWidth(predicted, importance, rows).evaluate(x).value
        for predicted in (observations_of(horizon), useless)
        for rows in (nothing, seen)
    )
    assert two < one < 0.0
    assert none == pytest.approx(0.0, abs=1e-9)
    assert still_one == pytest.approx(one)


def test_parameters_of_the_arm_that_are_known_better_leave_a_narrower_mass(rng):
    """Which a cost that takes theta_r for noise, or for known, cannot see."""
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    mass, nothing = np.eye(10)[0], np.zeros((0, 98))
    theta, rest = ESTIMATE.theta, KINOVA.layout.rest
    values = []
    for share in (1.0, 0.5, 0.0):
        radius = ESTIMATE.bounds.radius.copy()
        radius[rest] *= share
        bounds = Interval.from_center_radius(theta, radius)
        estimate = ParameterEstimate(KINOVA.layout, theta, bounds)
        predicted = observations_of(horizon, estimate=estimate)
        values.append(PredictedWidth(predicted, mass, nothing).evaluate(x).value)
    assert values[0] > values[1] + 0.1 > values[2] + 0.2


def test_goal_distance_takes_the_shorter_way_of_joints_that_turn_without_end():
    still = Horizon(Bezier(np.full(7, 3.0), REST, REST, 3.0), REST, np.full(7, 0.5))
    goal = np.full(7, -3.0)
    value = GoalDistance(KINOVA, still, goal, 3.0).evaluate(np.zeros(7)).value
    short, far = 2 * np.pi - 6.0, 6.0
    turning = KINOVA.limits.is_continuous.sum()
    assert value == pytest.approx(0.5 * (turning * short**2 + (7 - turning) * far**2))


def test_goal_distance_at_the_end_is_zero_in_the_goal(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    goal = horizon.curve.q0 + horizon.k_center + horizon.k_range * x
    found = GoalDistance(KINOVA, horizon, goal + 2 * np.pi * KINOVA.limits.is_continuous, 3.0)
    assert found.evaluate(x).value == pytest.approx(0.0, abs=1e-20)


def test_shortest_way_is_never_more_than_half_a_turn(rng):
    start, goal = rng.uniform(-20, 20, (2, 100, 7))
    way = shortest_way(start, goal, KINOVA.limits.is_continuous)
    turning = KINOVA.limits.is_continuous
    assert np.all(np.abs(way[:, turning]) <= np.pi + 1e-12)
    assert np.allclose(np.cos(start + way), np.cos(goal))
    assert np.array_equal(way[:, ~turning], (goal - start)[:, ~turning])


def test_refuses_widths_and_goals_that_make_no_sense(rng):
    horizon = horizon_in_motion(rng)
    for importance in (np.ones(9), np.full(10, np.nan), np.full(10, -1.0)):
        with pytest.raises(BoundError, match='importance'):
            PredictedWidth(observations_of(horizon), importance, np.zeros((0, 98)))
    for promise in ((np.nan, 0.1), (-0.1, 0.1), (0.1, 0.0), (0.1, np.inf)):
        with pytest.raises(BoundError, match='torque_ratio'):
            ObservationError(*promise)
    with pytest.raises(BoundError, match='goal'):
        GoalDistance(KINOVA, horizon, np.full(7, np.inf), 3.0)
    with pytest.raises(BoundError, match='compared at'):
        GoalDistance(KINOVA, horizon, REST, 3.5)
