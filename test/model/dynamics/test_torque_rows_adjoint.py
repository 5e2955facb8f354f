"""Rows are those of the regressor, and their adjoint is their derivative."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.excite.observed_columns import all_columns
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.dynamics.torque_rows import (
    nominal_torque_into,
    torque_pullback_into,
    torque_rows_into,
    torque_slopes_into,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree

SHARP = 1e-9  # tanh is the sign
SMOOTH = 0.05


def arms(rng):
    yield RobotModel.named('lbr_med7')
    yield random_tree(rng, 5, serial=True, armature=0.5)
    yield random_tree(rng, 6, serial=False, armature=0.5)


def rows(model, states, smooth):
    Y = np.zeros((model.n, states.shape[1], model.layout.size))
    torque_rows_into(model.tree, all_columns(model.n, smooth), states, Y)
    return Y


def test_rows_are_those_of_the_regressor(rng):
    for model in arms(rng):
        states = rng.normal(size=(3, 20, model.n))
        W = standard_regressor(model, *states)
        np.testing.assert_allclose(rows(model, states, SHARP).transpose(1, 0, 2), W, atol=1e-12)


def test_rows_are_those_of_pinocchio(rng):
    model = RobotModel.named('lbr_med7')
    states = rng.normal(size=(3, 20, 7))
    arm = model.pinocchio()
    data = arm.createData()
    Y = rows(model, states, SHARP)[:, :, :70]
    for t in range(20):
        expected = pin.computeJointTorqueRegressor(arm, data, *states[:, t])
        np.testing.assert_allclose(Y[:, t], expected, atol=1e-12)


@pytest.mark.parametrize('order', [0, 1, 2])
def test_the_adjoint_is_the_derivative(order, rng):
    """1e-8 of the largest, by fourth-order differences."""
    for model in arms(rng):
        states = rng.normal(size=(3, 4, model.n))
        weights = rng.normal(size=(model.n, 4, model.layout.size))
        slopes = np.zeros_like(states)
        torque_pullback_into(model.tree, all_columns(model.n, SMOOTH), states, weights, slopes)

        def phi(at, model=model, weights=weights):
            return (weights * rows(model, at, SMOOTH)).sum(axis=(0, 2))

        expected = np.empty((4, model.n))
        for j in range(model.n):
            h = np.zeros_like(states)
            h[order, :, j] = 3e-4
            near, far = (
                phi(states + h) - phi(states - h),
                phi(states + 2 * h) - phi(states - 2 * h),
            )
            expected[:, j] = (8.0 * near - far) / (12.0 * 3e-4)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(slopes[order], expected, atol=1e-8 * scale)


def test_nominal_torque_is_that_of_pinocchio(rng):
    for model in arms(rng):
        states = rng.normal(size=(3, 10, model.n))
        tau = np.empty((10, model.n))
        nominal_torque_into(model.tree, model.theta, SHARP, states, tau)
        np.testing.assert_allclose(tau, inverse_dynamics(model, *states), atol=1e-10)


def test_slopes_of_single_torques(rng):
    for model in arms(rng):
        states, joints = rng.normal(size=(3, 8, model.n)), rng.integers(0, model.n, size=8)
        slopes = np.empty_like(states)
        torque_slopes_into(model.tree, model.theta, SMOOTH, states, joints, slopes)

        def torque(at, model=model, joints=joints):
            tau = np.empty((8, model.n))
            nominal_torque_into(model.tree, model.theta, SMOOTH, at, tau)
            return tau[np.arange(8), joints]

        for order in range(3):
            for j in range(model.n):
                h = np.zeros_like(states)
                h[order, :, j] = 1e-5
                expected = (torque(states + h) - torque(states - h)) / 2e-5
                np.testing.assert_allclose(slopes[order, :, j], expected, atol=2e-5)
