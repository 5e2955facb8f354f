"""Derivatives of fits to recordings, derived by hand, against AD."""

import casadi as cs
from gradients_by_ad.ad import gradient_at, near, value_of
from gradients_by_ad.test_model import body_of
import numpy as np

from safe_sysid.calibrate.compressed import Compressed
from safe_sysid.calibrate.consistency import Consistency
from safe_sysid.calibrate.kinematic_fit import (
    Marker,
    _across,
    _left_jacobian_inverse,
    chain_to,
    pose_derivatives,
)
from safe_sysid.calibrate.log_cholesky_fit import _Problem as CalibrationProblem
from safe_sysid.identify.log_cholesky_fit import FitOutcome, FitResult, _Problem
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.sensitivity_bounds import _slope
from safe_sysid.model import log_cholesky
from safe_sysid.model.inertia import pseudo_inertia
from safe_sysid.simulate.random_arm import random_body, random_rotation, random_tree


def test_gradient_and_hessian_of_the_nominal_fit(rng):
    problem = _Problem(rng.normal(size=(10, 10)), rng.normal(size=10))
    eta = cs.SX.sym('eta', 10)
    residual = cs.mtimes(problem.R, body_of(eta)) - problem.c
    cost = 0.5 * problem.scale * cs.sumsqr(residual)
    for _ in range(10):
        at = rng.normal(scale=0.5, size=10)
        near(problem.objective(at), value_of(cost, [eta], at)[0, 0])
        near(problem.gradient(at), gradient_at(cost, eta, at))
        near(problem.curvature(at), value_of(cs.hessian(cost, eta)[0], [eta], at))


def test_slope_of_the_nominal_fit_in_its_data(rng):
    """Where the gradient stays zero: - (d gradient / d eta)^-1 d gradient / d b, at the fit."""
    Y, known = rng.normal(size=(15, 10)), np.zeros((15, 0))
    eta, b = cs.SX.sym('eta', 10), cs.SX.sym('b', 15)
    phi = body_of(eta)
    gradient = cs.gradient(0.5 * cs.sumsqr(cs.mtimes(Y, phi) - b), eta)
    moved = -cs.solve(cs.jacobian(gradient, eta), cs.jacobian(gradient, b))
    for _ in range(5):
        at = rng.normal(scale=0.3, size=10)
        measured = Y @ log_cholesky.parameters(at) + 0.01 * rng.normal(size=15)
        rows = Observation(Y, known, measured, np.ones(15), *np.zeros((3, 15), dtype=int))
        result = FitResult(log_cholesky.parameters(at), at, 0.0, FitOutcome.SOLVED, 0)
        expected = value_of(cs.mtimes(cs.jacobian(phi, eta), moved), [eta, b], at, measured)
        near(_slope(rows, np.zeros(0), result), expected, 1e-8)


def rotation(w):
    """Rotation by a rotation vector, Rodrigues' formula."""
    angle = cs.norm_2(w)
    S = cs.skew(w)
    return (
        cs.SX.eye(3)
        + cs.sin(angle) / angle * S
        + (1.0 - cs.cos(angle)) / angle**2 * cs.mtimes(S, S)
    )


def test_gradient_and_hessian_of_the_calibration(rng):
    priors = pseudo_inertia(np.array([random_body(rng), random_body(rng)]))
    bodies = (slice(0, 10), slice(11, 21))  # and one column of friction between them
    consistency = Consistency(bodies, priors, 0.7, np.array([10]))
    R, z = rng.normal(size=(21, 21)), rng.normal(size=21)
    problem = CalibrationProblem(Compressed(R, z, 0.0, 30), consistency, 0.3)
    v = cs.SX.sym('v', 21)
    x = cs.vertcat(body_of(v[:10]), v[10], body_of(v[11:]))
    cost = 0.3 * cs.sumsqr(cs.mtimes(R, x) - z)
    for body, J0 in zip(bodies, priors, strict=True):
        ratio = cs.mtimes(np.linalg.inv(J0), pseudo_inertia_of(x[body]))
        cost += 0.7 * (cs.trace(ratio) - cs.log(cs.det(ratio)))
    at = rng.normal(scale=0.5, size=21)
    gradient, curvature = problem.slope_and_curvature(at)
    near(problem.value(at), value_of(cost, [v], at)[0, 0])
    near(gradient, gradient_at(cost, v, at))
    near(curvature, value_of(cs.hessian(cost, v)[0], [v], at))


def pseudo_inertia_of(phi):
    """J of eq. (31)."""
    xx, xy, yy, xz, yz, zz = cs.vertsplit(phi[4:])
    inertia = cs.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    sigma = 0.5 * cs.trace(inertia) * cs.SX.eye(3) - inertia
    return cs.blockcat([[sigma, phi[1:4]], [phi[1:4].T, phi[0]]])


def test_how_a_marker_follows_the_geometry(rng):
    arm = random_tree(rng, 4, serial=True)
    tree, chain, q = arm.tree, chain_to(arm.tree, arm.layout.tip), rng.normal(size=4)
    marker = Marker(random_rotation(rng), rng.normal(scale=0.1, size=3))
    step = cs.SX.sym('step', 8 * len(chain) + 6)
    R, p = cs.SX.eye(3), cs.SX.zeros(3)
    for index, i in enumerate(chain):
        part = step[8 * index : 8 * index + 8]
        p += cs.mtimes(R, tree.p_parent_joint[i] + part[:3])
        R = cs.mtimes(R, cs.mtimes(tree.R_parent_joint[i], first_order(part[3:6])))
        axis = tree.axis[i] + cs.mtimes(_across(tree.axis[i]), part[6:])
        axis /= cs.norm_2(axis)
        if tree.is_prismatic[i]:
            p += cs.mtimes(R, axis * q[i])
        else:
            R = cs.mtimes(R, rotation(axis * q[i]))
    last = step[8 * len(chain) :]
    p += cs.mtimes(R, marker.p + last[:3])
    R = cs.mtimes(R, cs.mtimes(marker.R, first_order(last[3:])))
    still = np.zeros(step.shape[0])
    R_tip, p_tip, moves, turns = (x[0] for x in pose_derivatives(arm, q[None], marker, chain))
    near(p_tip, value_of(p, [step], still)[:, 0])
    near(R_tip, value_of(R, [step], still))
    near(moves, value_of(cs.jacobian(p, step), [step], still))
    slopes = value_of(cs.jacobian(cs.vec(R), step), [step], still)
    spin = np.einsum('ijk,lj->ilk', slopes.reshape(3, 3, -1, order='F'), R_tip)
    near(turns, np.array([spin[2, 1], spin[0, 2], spin[1, 0]]))


def first_order(w):
    """A small rotation, whose derivative at 0 is all that is asked."""
    return cs.SX.eye(3) + cs.skew(w)


def test_how_a_rotation_vector_follows_a_turn(rng):
    w = cs.SX.sym('w', 3)
    R = rotation(w)
    slopes = cs.jacobian(cs.vec(R), w)
    for _ in range(10):
        at = rng.normal(size=3)
        at *= rng.uniform(0.1, 2.5) / np.linalg.norm(at)
        turned = value_of(slopes, [w], at).reshape(3, 3, 3, order='F')
        spin = np.einsum('ijk,lj->ilk', turned, value_of(R, [w], at))  # dR/dw_k R'
        left = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        near(_left_jacobian_inverse(at), np.linalg.inv(left))
