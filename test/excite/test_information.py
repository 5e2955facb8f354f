"""Information of a motion: the matrix, gradients in the coefficients, weights by noise."""

from excite.excite_problem import differences, rod_arm, rod_problem
import numpy as np
import pytest

from safe_sysid.excite.criteria import GOALS, STAGES
from safe_sysid.excite.design import random_start
from safe_sysid.excite.information import Information
from safe_sysid.excite.observed_columns import observed_columns, payload_columns
from safe_sysid.model.dynamics.regressors import standard_regressor


def some_motion(seed=0):
    problem = rod_problem()
    return problem, random_start(problem, np.random.default_rng(seed))


def test_the_matrix_is_that_of_the_regressor(rng):
    problem, x = some_motion()
    states = problem.states(x)
    noise = rng.uniform(0.5, 2.0, size=7)
    information = Information(problem.model, problem.information.columns, noise)
    W = standard_regressor(problem.model, *states)
    smooth = problem.information.columns.layout.smooth
    for k in range(7):
        W[:, k, 70 + k] = np.tanh(states[1, :, k] / smooth)
    Y = (W / noise[:, None]).reshape(-1, 98)[:, information.columns.entries]
    np.testing.assert_allclose(information.matrix(states), Y.T @ Y, rtol=1e-9, atol=1e-9)
    assert information.condition(states) == pytest.approx(np.linalg.cond(Y), rel=1e-6)
    covariance = np.linalg.inv(Y.T @ Y)
    np.testing.assert_allclose(information.deviations(states), np.sqrt(np.diag(covariance)))


@pytest.mark.parametrize('name', sorted(GOALS))
def test_gradients_in_the_coefficients_are_exact(name):
    problem = rod_problem()
    x = np.random.default_rng(0).normal(scale=0.3, size=problem.shape)
    criterion = STAGES[name][-1]
    _, gradient = problem.criterion(criterion, x)
    joints = (1, 5)

    def value(part):
        moved = x.copy()
        moved[list(joints)] = part
        return problem.criterion(criterion, moved)[0]

    expected = differences(value, x[list(joints)], 1e-5)
    shape = (len(joints), x.shape[1])
    np.testing.assert_allclose(
        gradient[list(joints)], expected.reshape(shape), atol=3e-6 * np.abs(expected).max()
    )


def test_more_noise_on_a_joint_makes_its_friction_less_certain():
    problem, x = some_motion(2)
    states, columns = problem.states(x), problem.information.columns
    noise = np.ones(7)
    noise[6] = 10.0
    equal = Information(problem.model, columns, np.ones(7)).deviations(states)
    noisy = Information(problem.model, columns, noise).deviations(states)
    labels = [problem.model.layout.labels[entry] for entry in columns.entries]
    at = labels.index('A7.Fv')
    assert noisy[at] > 5.0 * equal[at]
    assert (noisy >= equal * (1.0 - 1e-9)).all()


def test_counts_of_columns_are_the_known_ones():
    _, model = rod_arm()
    assert observed_columns(model, (), 0.03).count == 43
    assert observed_columns(model, ('Fc', 'Fv'), 0.03).count == 57
    assert observed_columns(model, ('Fc', 'Fv', 'Ia'), 0.03).count == 62
    assert payload_columns(model, 0.03).count == 10


def test_the_columns_carry_all_torques(rng):
    """Y theta = Y_b K theta at new states: nothing is lost by the choice."""
    _, model = rod_arm()
    columns = observed_columns(model, (), 0.03)
    W = standard_regressor(model, *rng.normal(size=(3, 30, 7))).reshape(-1, 98)[:, :70]
    theta = rng.normal(size=70)
    combined = W[:, columns.entries] @ columns.base.values(theta)
    np.testing.assert_allclose(combined, W @ theta, atol=1e-8)
