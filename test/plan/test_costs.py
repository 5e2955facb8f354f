"""Costs are what they say, and their gradients are those of what they say."""

from derivatives import numerical_gradient
import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.costs import FLAT, Conditioning, GoalDistance, PredictedWidth, shortest_way
from safe_sysid.plan.predicted_rows import PredictedRows
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.trajectory.bezier import Bezier

KINOVA = RobotModel.named('kinova_gen3')
HALF_WIDTH = np.array([2.0, 0.4, 0.4, 0.45, *(0.2,) * 6])
REST = np.zeros(7)


def horizon_in_motion(rng):
    curve = Bezier(*(rng.uniform(-1, 1, (3, 7)) * [[1.0], [0.3], [0.3]]), 3.0)
    return Horizon(curve, rng.uniform(-0.5, 0.5, 7), np.full(7, 0.4))


def rows_of(horizon, samples_per_row=1):
    return PredictedRows(KINOVA, horizon, 3.0, 128, samples_per_row)


def regressor_along(horizon, x):
    """theta_e columns of the whole regressor at 128 samples, stacked."""
    t, k = np.linspace(0, 3, 128), horizon.k_center + horizon.k_range * x
    states = [horizon.curve.derivative(order, t, k) for order in range(3)]
    W = standard_regressor(KINOVA, *states)
    return W[:, :, KINOVA.layout.end_effector].reshape(-1, 10)


def random_costs(rng):
    """Every cost, in its plain and its general form."""
    horizon = horizon_in_motion(rng)
    collected, error = rng.normal(size=(20, 10)), rng.uniform(0.5, 2.0, 7)
    for count in (1, 4):
        rows = rows_of(horizon, count)
        yield Conditioning(rows)
        yield Conditioning(rows, collected, rng.uniform(0.1, 10, 10))
        yield PredictedWidth(rows, HALF_WIDTH, error)
        yield PredictedWidth(rows, HALF_WIDTH, error, collected)
    yield GoalDistance(KINOVA, horizon, rng.uniform(-6, 6, 7), 1.5)


def test_gradients_are_derivatives(rng):
    for _ in range(3):
        for cost in random_costs(rng):
            x = rng.uniform(-1, 1, 7)
            found = cost.evaluate(x).gradient
            numeric = numerical_gradient(lambda at, cost=cost: cost.evaluate(at).value, x, 2e-4)
            assert np.allclose(found, numeric, rtol=1e-6, atol=1e-7), type(cost)


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


def test_predicted_width_by_the_inverse_of_the_information(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    error, collected = rng.uniform(0.5, 2.0, 7), rng.normal(size=(20, 10))
    rows = np.concatenate([regressor_along(horizon, x) / np.tile(error, 128)[:, None], collected])
    covariance = np.linalg.inv(np.diag(HALF_WIDTH**-2.0) + rows.T @ rows)
    expected = np.log(np.sqrt(np.diag(covariance)) / HALF_WIDTH).mean()
    found = PredictedWidth(rows_of(horizon), HALF_WIDTH, error, collected).evaluate(x).value
    assert found == pytest.approx(expected, rel=1e-8)


def test_rows_already_collected_leave_less_to_learn(rng):
    horizon, x = horizon_in_motion(rng), rng.uniform(-1, 1, 7)
    error, nothing = np.ones(7), np.zeros((0, 10))
    seen = regressor_along(horizon, x)
    before, after = (
        PredictedWidth(rows_of(horizon), HALF_WIDTH, error, rows).evaluate(x).value
        for rows in (nothing, seen)
    )
    exact = [
        PredictedWidth(rows_of(horizon), HALF_WIDTH, 1e9 * error, rows) for rows in (nothing, seen)
    ]
    assert after < before
    assert exact[0].evaluate(x).value == pytest.approx(0.0, abs=1e-9)  # such rows teach nothing
    assert exact[1].evaluate(x).value == pytest.approx(before)


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
    with pytest.raises(BoundError, match='half_width'):
        PredictedWidth(rows_of(horizon), np.zeros(10), np.ones(7))
    with pytest.raises(BoundError, match='error'):
        PredictedWidth(rows_of(horizon), HALF_WIDTH, np.full(7, np.nan))
    with pytest.raises(BoundError, match='goal'):
        GoalDistance(KINOVA, horizon, np.full(7, np.inf), 3.0)
    with pytest.raises(BoundError, match='compared at'):
        GoalDistance(KINOVA, horizon, REST, 3.5)
