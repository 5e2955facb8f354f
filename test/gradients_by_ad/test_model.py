"""Derivatives of bodies, regressors and frames, derived by hand, against AD."""

import casadi as cs
from gradients_by_ad.ad import near, slopes_at, smooth_rows, value_of
import numpy as np
import pytest

from safe_sysid.model import log_cholesky
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.dynamics.regressor_pullback import regressor_pullback
from safe_sysid.model.dynamics.tip_regressor import tip_pullback
from safe_sysid.model.dynamics.torque_rows import (
    RowLayout,
    nominal_torque_into,
    torque_pullback_into,
    torque_slopes_into,
)
from safe_sysid.model.symbolic.frames import frame_pose
from safe_sysid.model.symbolic.recursions import SymbolicTree
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.simulate.random_arm import random_tree

WIDTH = 0.1  # [rad/s]


def body_of(eta):
    """P(eta) of the theory, eqs. (16), (33)-(35), as an expression."""
    alpha, d1, d2, d3, s12, s13, s23, s14, s24, s34 = cs.vertsplit(eta)
    U = cs.exp(alpha) * cs.blockcat(
        [[cs.exp(d1), s12, s13, s14], [0, cs.exp(d2), s23, s24], [0, 0, cs.exp(d3), s34],
         [0, 0, 0, 1]]
    )  # fmt: skip
    J = cs.mtimes(U, U.T)
    inertia = cs.trace(J[:3, :3]) * cs.SX.eye(3) - J[:3, :3]
    upper = [inertia[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return cs.vertcat(J[3, 3], J[:3, 3], *upper)


def test_log_cholesky_and_its_first_two_derivatives(rng):
    symbols = cs.SX.sym('eta', 10)
    phi = body_of(symbols)
    for _ in range(20):
        eta = rng.normal(scale=0.7, size=10)
        near(log_cholesky.parameters(eta), value_of(phi, [symbols], eta)[:, 0])
        near(log_cholesky.jacobian(eta), value_of(cs.jacobian(phi, symbols), [symbols], eta))
        second = [value_of(cs.hessian(phi[i], symbols)[0], [symbols], eta) for i in range(10)]
        near(log_cholesky.second_derivatives(eta), np.array(second))


@pytest.mark.parametrize('serial', [True, False])
def test_pullbacks_of_the_regressor(rng, serial):
    arm = random_tree(rng, 5, serial)
    states = rng.normal(size=(3, 3, 5))
    W = smooth_rows(arm.tree)
    weights = rng.normal(size=(3, 5, 70))
    expected = slopes_at(lambda t, *x: cs.sum2(cs.sum1(W(*x) * weights[t])), states)
    near(regressor_pullback(arm, *states, weights), expected)
    tip = arm.layout.end_effector
    expected = slopes_at(
        lambda t, *x: cs.sum2(cs.sum1(W(*x)[:, tip] * weights[t][:, tip])), states
    )
    near(tip_pullback(arm, *states, weights[:, :, tip]), expected)


@pytest.mark.parametrize('serial', [True, False])
def test_pullback_and_torque_slopes_of_the_excitation(rng, serial):
    arm = random_tree(rng, 4, serial, armature=0.3)
    states = rng.normal(size=(3, 4, 4)) * [[[1.0]], [[0.2]], [[1.0]]]
    W = smooth_rows(arm.tree, WIDTH)
    layout = RowLayout(np.tile(np.arange(56), (4, 1)), WIDTH)
    weights = rng.normal(size=(4, 4, 56))
    slopes = np.zeros_like(states)
    torque_pullback_into(arm.tree, layout, states, weights, slopes)
    expected = slopes_at(lambda t, *x: cs.sum2(cs.sum1(W(*x) * cs.DM(weights[:, t]))), states)
    near(slopes, expected)
    joints, tau = np.array([0, 3, 1, 2]), np.empty((4, 4))
    torque_slopes_into(arm.tree, arm.theta, WIDTH, states, joints, slopes)
    torque = lambda t, *x: cs.mtimes(W(*x), arm.theta)[int(joints[t])]  # noqa: E731
    near(slopes, slopes_at(torque, states))
    nominal_torque_into(arm.tree, arm.theta, WIDTH, states, tau)
    near(tau, np.array([(W(*states[:, t]).full() @ arm.theta) for t in range(4)]))


def test_jacobian_of_the_tip_in_the_check_of_drift(rng):
    arm = random_tree(rng, 6, serial=False)
    q, symbols = rng.normal(size=6), cs.SX.sym('q', 6)
    tip = Frame(arm.layout.tip, np.eye(3), np.zeros(3))
    R, p = frame_pose(SymbolicTree(arm.tree, symbols), tip)
    J = tip_jacobian(arm, q)
    near(J[:3], value_of(cs.jacobian(p, symbols), [symbols], q))
    turned = value_of(cs.jacobian(cs.vec(R), symbols), [symbols], q).reshape(3, 3, 6, order='F')
    spin = np.einsum('ijk,lj->ilk', turned, value_of(R, [symbols], q))  # dR/dq_k R'
    near(J[3:], np.array([spin[2, 1], spin[0, 2], spin[1, 0]]))
