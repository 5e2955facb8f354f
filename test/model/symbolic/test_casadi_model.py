"""CasADi functions against Pinocchio and the compiled functions, on random trees and real arms."""

from dataclasses import replace
import itertools
import subprocess
import sys

import casadi
import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

import safe_sysid as ss
from safe_sysid.errors import ModelError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.closed_chain.loop_closure import bias_into
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.dynamics.regressors import (
    momentum_regressors,
    slotine_li_regressor,
    standard_regressor,
)
from safe_sysid.model.friction import friction_torque
from safe_sysid.model.symbolic.casadi_model import CasadiModel
from safe_sysid.model.urdf_tree import Frame
from safe_sysid.simulate.random_arm import random_body, random_rotation, random_tree

RELATIVE = 1e-11
WIDTH = 0.05  # [rad/s]


def near(value, expected, relative=RELATIVE):
    """Equal to a share of the largest entry."""
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.shape == expected.shape
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(value, expected, rtol=0, atol=relative * max(size, 1e-12))


def random_theta(rng, n):
    bodies = np.concatenate([random_body(rng) for _ in range(n)])
    return np.concatenate([bodies, rng.uniform(0.0, 2.0, 4 * n)])


RIGHT_ANGLES = [np.array(R, dtype=float) for R in (
    [[1, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
    [[-1, 0, 0], [0, -1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]],
)]  # fmt: skip


def plain_joints(rng, tree):
    """The tree with joints as arms have them: coordinate axes, right angles, few offsets."""
    axis, R, p = tree.axis.copy(), tree.R_parent_joint.copy(), tree.p_parent_joint.copy()
    for i in range(len(axis)):
        kind = rng.integers(4)
        if kind == 0:
            continue  # as it was
        axis[i] = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        if kind == 1:
            a, b = np.roll(np.arange(3), rng.integers(3))[:2]
            sin = rng.choice([0.6, 1e-9])  # the second is not the rounding of a right angle
            cos = np.sqrt(1.0 - sin**2)
            R[i] = np.eye(3)
            R[i][np.ix_([a, b], [a, b])] = [[cos, -sin], [sin, cos]]
        else:
            R[i] = RIGHT_ANGLES[rng.integers(4)] + rng.choice([0.0, 1e-16], size=(3, 3))
        p[i] *= rng.integers(2, size=3)
    return tree._replace(axis=axis, R_parent_joint=R, p_parent_joint=p)


def framed_tree(rng, n, serial, plain=False):
    arm = random_tree(rng, n, serial, armature=0.3)
    if plain:
        arm = replace(arm, tree=plain_joints(rng, arm.tree))
    frames = {
        f'link {i}': Frame(i, random_rotation(rng), rng.normal(scale=0.2, size=3))
        for i in range(-1, n)
    }
    return replace(arm, frames=frames)


def full(value):
    return value.full()


def column(value):
    return value.full()[:, 0]


def check_against_pinocchio(rng, model):
    """One state and one theta."""
    n = model.n
    theta = random_theta(rng, n)
    arm = model.arm.with_parameters(theta)
    q, qd, qdd, qd_a = rng.normal(size=(4, n)) * 2.0
    P = arm.pinocchio()
    data = P.createData()
    Fc, Fv, Ia, beta = arm.layout.friction(theta)
    driving = Fc * np.sign(qd) + Fv * qd + beta
    tau = pin.rnea(P, data, q, qd, qdd) + driving
    near(column(model.inverse_dynamics(q, qd, qdd, theta)), tau)
    near(column(model.inverse_dynamics(q, qd, qdd, theta)),
         inverse_dynamics(arm, q[None], qd[None], qdd[None])[0])  # fmt: skip
    smooth = tau + Fc * (np.tanh(qd / WIDTH) - np.sign(qd))
    near(column(model.smooth_inverse_dynamics(q, qd, qdd, theta, WIDTH)), smooth)
    near(column(model.bias(q, qd, theta)), pin.rnea(P, data, q, qd, np.zeros(n)))
    near(column(model.gravity(q, theta)), pin.computeGeneralizedGravity(P, data, q))
    H = pin.crba(P, data, q)
    near(full(model.mass_matrix(q, theta)), np.triu(H) + np.triu(H, 1).T)
    torque = rng.normal(size=n) * 30.0
    near(column(model.forward_dynamics(q, qd, torque, theta)),
         pin.aba(P, data, q, qd, torque - driving))  # fmt: skip
    softened = driving + Fc * (np.tanh(qd / WIDTH) - np.sign(qd))
    near(column(model.smooth_forward_dynamics(q, qd, torque, theta, WIDTH)),
         pin.aba(P, data, q, qd, torque - softened))  # fmt: skip
    near(column(model.friction(qd, qdd, theta)),
         friction_torque(arm.layout.friction(theta), qd, qdd))  # fmt: skip
    near(column(model.smooth_friction(qd, qdd, theta, WIDTH)), softened + Ia * qdd)
    near(full(model.standard_regressor(q, qd, qdd)),
         standard_regressor(arm, q[None], qd[None], qdd[None])[0])  # fmt: skip
    near(full(model.standard_regressor(q, qd, qdd)) @ theta, tau)
    near(full(model.slotine_li_regressor(q, qd, qd_a, qdd)),
         slotine_li_regressor(arm, q, qd, qd_a, qdd))  # fmt: skip
    C = pin.computeCoriolisMatrix(P, data, q, qd)
    christoffel = pin.rnea(P, data, q, np.zeros(n), qdd) + C @ qd_a + driving
    near(full(model.slotine_li_regressor(q, qd, qd_a, qdd)) @ theta, christoffel)
    for found, expected in zip(
        model.momentum_regressors(q, qd), momentum_regressors(arm, q, qd), strict=True
    ):
        near(full(found), expected)


def check_frames(rng, model):
    arm, q = model.arm, rng.normal(size=model.n)
    P = arm.pinocchio()
    numbers = [
        P.addFrame(pin.Frame(name, f.joint + 1, pin.SE3(f.R, f.p), pin.OP_FRAME))
        for name, f in arm.frames.items()
    ]
    data = P.createData()
    pin.computeJointJacobians(P, data, q)
    pin.updateFramePlacements(P, data)
    for number, name in zip(numbers, arm.frames, strict=True):
        R, p = model.forward_kinematics(name)(q)
        near(full(R), data.oMf[number].rotation)
        near(column(p), data.oMf[number].translation)
        J = pin.getFrameJacobian(P, data, number, pin.LOCAL_WORLD_ALIGNED)
        near(full(model.jacobian(name)(q)), J)


TREES = [
    (2, True, False),
    (3, False, True),
    (5, True, True),
    (7, False, False),
    (12, False, True),
]


@pytest.mark.parametrize(('n', 'serial', 'plain'), slow_after(3, TREES))
def test_random_trees_agree_with_pinocchio_and_the_compiled_functions(rng, n, serial, plain):
    model = CasadiModel(framed_tree(rng, n, serial, plain))
    for _ in range(5):
        check_against_pinocchio(rng, model)
    check_frames(rng, model)


@pytest.mark.nightly
@pytest.mark.parametrize('n', range(2, 13))
def test_ten_thousand_states_of_random_trees(rng, n):
    for serial, plain in itertools.product((True, False), (True, False)):
        for _ in range(2):
            model = CasadiModel(framed_tree(rng, n, serial, plain))
            for _ in range(115):  # of 8 trees of 11 sizes: 10 120
                check_against_pinocchio(rng, model)
            check_frames(rng, model)


@pytest.mark.parametrize('robot', slow_after(1, ['kinova_gen3', 'lbr_med7', 'two_link']))
def test_arms_with_held_and_continuous_joints_agree(rng, robot):
    model = CasadiModel(ss.load_arm(robot).model)
    check_against_pinocchio(rng, model)
    check_frames(rng, model)


def test_a_payload_is_part_of_theta(rng):
    model, q = ss.casadi_model('kinova_gen3', payload='dumbbell_8lb'), rng.normal(size=7)
    P = model.arm.pinocchio()
    near(
        column(model.gravity(q, model.theta)), pin.computeGeneralizedGravity(P, P.createData(), q)
    )
    assert model.theta[60] > ss.casadi_model('kinova_gen3').theta[60] + 3.0


@pytest.mark.parametrize('robot', slow_after(1, ['four_bar', 'digit_left_leg']))
def test_loops_have_the_gap_the_jacobian_and_the_bias_of_the_closed_chain(rng, robot):
    chain, model = ClosedChain.named(robot), ss.casadi_model(robot)
    q, qd = rng.normal(size=(2, chain.model.n))
    gap, J, bias = model.loop_closure(q, qd)
    expected, slopes = chain.gap(q)
    turning = np.empty(len(expected))
    bias_into(chain.model.tree, chain.loops, q, qd, turning)
    near(column(gap), expected)
    near(full(J), slopes)
    near(column(bias), turning)
    assert model.loop_closure in list(model.functions())


def test_first_derivatives_are_those_of_pinocchio(rng):
    arm = random_tree(rng, 6, serial=False, armature=0.3)
    model, theta, P = CasadiModel(arm), arm.theta, arm.pinocchio()
    q, qd, qdd, tau = rng.normal(size=(4, 6))
    Fv = arm.layout.friction(theta)[1]
    data = P.createData()
    by_q, by_qd, M = (x.copy() for x in pin.computeRNEADerivatives(P, data, q, qd, qdd))
    M = np.triu(M) + np.triu(M, 1).T
    slopes = model.inverse_dynamics.jacobian()(q, qd, qdd, theta, 0)
    near(full(slopes[0]), by_q)
    near(full(slopes[1]), by_qd + np.diag(Fv))
    near(full(slopes[3]), standard_regressor(arm, q[None], qd[None], qdd[None])[0])
    Fc, _, _, beta = arm.layout.friction(theta)
    driven = tau - Fc * np.sign(qd) - Fv * qd - beta
    by_q, _, inverse = (x.copy() for x in pin.computeABADerivatives(P, data, q, qd, driven))
    slopes = model.forward_dynamics.jacobian()(q, qd, tau, theta, 0)
    near(full(slopes[0]), by_q)
    inverse = np.triu(inverse) + np.triu(inverse, 1).T
    near(full(slopes[2]), inverse)
    assert np.linalg.norm(M @ inverse - np.eye(6)) < 1e-9


def test_second_derivatives_are_differences_of_pinocchio_s_first_ones(rng):
    arm = random_tree(rng, 6, serial=True)
    model, P = CasadiModel(arm), arm.pinocchio()
    data = P.createData()
    x, direction, w = rng.normal(size=18), rng.normal(size=18), rng.normal(size=6)
    symbols = casadi.SX.sym('x', 18)
    tau = model.inverse_dynamics(symbols[:6], symbols[6:12], symbols[12:], arm.theta)
    curvature, _ = casadi.hessian(casadi.dot(w, tau), symbols)
    found = full(casadi.Function('curvature', [symbols], [curvature])(x)) @ direction

    def slope(step):
        at = (x + step * direction).reshape(3, 6)
        by_q, by_qd, M = pin.computeRNEADerivatives(P, data, *at)
        by_qdd = np.triu(M) + np.triu(M, 1).T
        return np.concatenate([w @ by_q, w @ by_qd + w * arm.layout.friction(arm.theta)[1],
                               w @ by_qdd])  # fmt: skip

    h, weights = 2e-3, {1: 45, 2: -9, 3: 1}
    expected = sum(k * (slope(i * h) - slope(-i * h)) for i, k in weights.items()) / (60 * h)
    near(found, expected, 1e-8)


def test_open_chains_have_no_loops_and_arms_no_links_that_are_not_theirs():
    model = ss.casadi_model('kinova_gen3')
    with pytest.raises(ModelError, match='open chain'):
        _ = model.loop_closure
    with pytest.raises(ModelError, match="no link 'hand'"):
        model.jacobian('hand')


def run(words):
    return subprocess.run([sys.executable, '-c', words], capture_output=True, text=True)


@pytest.mark.slow
def test_without_casadi_the_api_says_how_to_get_it():
    words = (
        'import sys; sys.modules["casadi"] = None\n'
        'import safe_sysid as ss\n'
        'try: ss.casadi_model("two_link")\n'
        'except ss.SafeSysidError as error: print(error)'
    )
    assert "pip install '.[casadi]'" in run(words).stdout


@pytest.mark.slow
def test_plans_need_no_casadi():
    words = (
        'import sys; sys.modules["casadi"] = None\n'
        'import safe_sysid as ss\n'
        'motion = ss.plan("two_link", goal=[-1.2, 0.4], seconds=0.5)\n'
        'print(all(certificate.holds for certificate in motion.certificates))'
    )
    assert run(words).stdout.strip() == 'True'


@pytest.mark.slow
def test_processes_of_the_loop_start_without_casadi():
    pytest.importorskip('rclpy')
    words = (
        'import sys; sys.modules["casadi"] = None\n'
        'from safe_sysid.ros.nodes import controller_node, planner_node, supervisor_node\n'
        'from safe_sysid.ros.bridges import builtin_sim_bridge, ros2_control_bridge\n'
        'print(controller_node.main is not None)'
    )
    assert run(words).stdout.strip() == 'True'
