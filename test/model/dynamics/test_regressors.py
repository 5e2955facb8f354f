"""Regressors against Pinocchio and against identities that need no reference."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.model.dynamics.regressors import (
    momentum_chunks,
    momentum_regressors,
    slotine_li_regressor,
    standard_regressor,
)
from safe_sysid.simulate.random_arm import random_tree

RELATIVE = 1e-9
TREES = [(n, serial) for n in (2, 3, 5, 7, 9, 12) for serial in (True, False)]


def near(value, expected):
    """Equal to 1e-9 of the largest entry."""
    scale = max(1e-3, float(np.abs(expected).max()))
    np.testing.assert_allclose(value, expected, rtol=0, atol=RELATIVE * scale)


def difference(f, step=2e-3):
    """Slope of f at 0, central difference of sixth order."""
    weights = {1: 45, 2: -9, 3: 1}
    total = sum(w * (np.array(f(k * step)) - np.array(f(-k * step))) for k, w in weights.items())
    return total / (60 * step)


def mass_matrix(model, q):
    P = model.pinocchio()
    P.armature = np.zeros(model.n)
    H = pin.crba(P, P.createData(), q)
    return np.triu(H) + np.triu(H, 1).T


def friction_without_armature(model, qd):
    Fc, Fv, _, beta = model.layout.friction(model.theta)
    return Fc * np.sign(qd) + Fv * qd + beta


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_standard_regressor_gives_the_torque_of_inverse_dynamics(rng, n, serial):
    model = random_tree(rng, n, serial, armature=0.4)
    q, qd, qdd = rng.normal(size=(3, 20, n))
    W = standard_regressor(model, q, qd, qdd)
    P = model.pinocchio()
    expected = [pin.rnea(P, P.createData(), *x) for x in zip(q, qd, qdd, strict=True)]
    near(W @ model.theta, np.array(expected) + friction_without_armature(model, qd))


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_slotine_li_regressor_uses_the_christoffel_form(rng, n, serial):
    model = random_tree(rng, n, serial, armature=0.4)
    q, qd, qd_a, qdd_a = rng.normal(size=(4, n))
    P = model.pinocchio()
    C = pin.computeCoriolisMatrix(P, P.createData(), q, qd)
    g = pin.computeGeneralizedGravity(P, P.createData(), q)
    expected = (
        mass_matrix(model, q) @ qdd_a
        + 0.4 * qdd_a
        + C @ qd_a
        + g
        + friction_without_armature(model, qd)
    )
    near(slotine_li_regressor(model, q, qd, qd_a, qdd_a) @ model.theta, expected)


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_momentum_regressor_gives_the_momentum(rng, n, serial):
    model = random_tree(rng, n, serial, armature=0.4)
    q, qd = rng.normal(size=(2, n))
    W_m, _ = momentum_regressors(model, q, qd)
    near(W_m @ model.theta, mass_matrix(model, q) @ qd)


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_momentum_rate_is_the_slope_of_kinetic_energy_less_gravity_and_friction(rng, n, serial):
    model = random_tree(rng, n, serial)
    q, qd = rng.normal(size=(2, n))
    slope = difference(
        lambda e: [0.5 * qd @ mass_matrix(model, q + e * axis) @ qd for axis in np.eye(n)]
    )
    P = model.pinocchio()
    g = pin.computeGeneralizedGravity(P, P.createData(), q)
    expected = slope - g - friction_without_armature(model, qd)
    near(momentum_regressors(model, q, qd)[1] @ model.theta, expected)


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_momentum_changes_by_rate_and_torque_for_every_parameter_vector(rng, n, serial):
    # d/dt (W_m theta) = W_c theta + tau - Ia qdd with tau = W theta, along any motion (q, qd, qdd)
    model = random_tree(rng, n, serial, armature=0.4)
    q, qd, qdd = rng.normal(size=(3, n))
    slope = difference(
        lambda t: momentum_regressors(model, q + t * qd + 0.5 * t * t * qdd, qd + t * qdd)[0]
    )
    W_c = momentum_regressors(model, q, qd)[1]
    W = standard_regressor(model, q, qd, qdd)
    W[:, model.layout.joint_entries('Ia')] = 0.0  # the Ia qdd term is on the other side
    near(slope, W_c + W)


@pytest.mark.parametrize(('n', 'serial'), TREES)
def test_rate_of_the_mass_matrix_less_twice_coriolis_is_skew(rng, n, serial):
    # x' (Hdot - 2C) x = 0; with Hdot x = C x + C' x this is x' C x = x' C' x, and C' qd = W_c part
    model = random_tree(rng, n, serial)
    model = model.with_parameters(np.concatenate([model.theta[: 10 * n], np.zeros(4 * n)]))
    q, qd, x = rng.normal(size=(3, n))
    P = model.pinocchio()
    g = pin.computeGeneralizedGravity(P, P.createData(), q)
    zero = np.zeros(n)
    C_x = slotine_li_regressor(model, q, qd, x, zero) @ model.theta - g
    H_dot = difference(lambda t: mass_matrix(model, q + t * qd))
    near(x @ H_dot @ x, 2 * x @ C_x)
    C_qd = slotine_li_regressor(model, q, qd, qd, zero) @ model.theta - g
    Ct_qd = momentum_regressors(model, q, qd)[1] @ model.theta + g
    near(qd @ C_qd, qd @ Ct_qd)


def test_a_batch_is_its_samples_one_by_one(rng):
    model = random_tree(rng, 7, serial=True)
    q, qd, qd_a, qdd_a = rng.normal(size=(4, 50, 7))
    batch = slotine_li_regressor(model, q, qd, qd_a, qdd_a)
    W_m, W_c = momentum_regressors(model, q, qd)
    for t in range(50):
        np.testing.assert_array_equal(
            batch[t], slotine_li_regressor(model, q[t], qd[t], qd_a[t], qdd_a[t])
        )
        single = momentum_regressors(model, q[t], qd[t])
        np.testing.assert_array_equal(W_m[t], single[0])
        np.testing.assert_array_equal(W_c[t], single[1])


def test_chunks_join_to_the_whole_log(rng):
    model = random_tree(rng, 4, serial=True)
    q, qd = rng.normal(size=(2, 1000, 4))
    W_m, W_c = momentum_regressors(model, q, qd)
    seen = 0
    for piece, chunk_m, chunk_c in momentum_chunks(model, q, qd, chunk=300):
        np.testing.assert_array_equal(chunk_m, W_m[piece])
        np.testing.assert_array_equal(chunk_c, W_c[piece])
        seen += len(chunk_m)
    assert seen == 1000


def test_refuses_measurements_that_are_not_numbers(rng):
    model = random_tree(rng, 3, serial=True)
    q = rng.normal(size=(5, 3))
    bad = q.copy()
    bad[2, 1] = np.nan
    with pytest.raises(MeasurementError, match='qd of joint 1 is nan in sample 2'):
        momentum_regressors(model, q, bad)
    with pytest.raises(MeasurementError, match=r'q has shape \(5, 2\).*rows of 3'):
        momentum_regressors(model, q[:, :2], q)
    with pytest.raises(MeasurementError, match='qdd_a has 4 samples, q has 5'):
        slotine_li_regressor(model, q, q, q, q[:4])
