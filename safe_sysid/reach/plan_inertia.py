"""Inertia of an arm along a plan: a lower bound of its mass matrix in every time step.

Lemma. Let |X (H(q, theta) + diag(Ia)) X' - 1| <= eps < 1 in 2-norm for all q of a set, all theta
in [theta] and armatures at their lower bounds. Then H + diag(Ia) >= (1 - eps) (X'X)^-1 for all of
these, and V <= V_M gives

    r in E(Q),  Q = 2 V_M X'X / (1 - eps),   E(Q) = {r: r' Q^-1 r <= 1}.

Proof. X (H + diag(Ia)) X' >= (1 - eps) 1; multiply by the inverse of X from both sides. Armatures
above their lower bounds only add to H. So (1 - eps) r' (X'X)^-1 r <= 2 V <= 2 V_M.

X is the inverse of a Cholesky factor in floats, and everything that follows holds for any X: it
is the product that is enclosed (`congruent_inertia`). With entries of 3 and of 0.006 kg m^2 in one
mass matrix nothing useful can be said of its entries without X.

The 2-norm over z in the ball of sum B_i z^alpha_i, all monomials of degree e, is at most the root
of the largest eigenvalue of sum B_i B_i / m_i (Cauchy and Schwarz, see `ball_polynomials`).
What is left, remainders and what theta may change, is at most the spectral radius of its absolute
values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.dynamics.regressors import momentum_regressors
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import (
    BodyParameters,
    Congruence,
    Ellipsoids,
    congruence_into,
)
from safe_sysid.reach.motion_transport import TransportJoints, kernel_joints
from safe_sysid.sets.ball_polynomials import ball_table, ball_weights
from safe_sysid.sets.elementary import sqrt
from safe_sysid.sets.interval import EPS, TINY, Interval
from safe_sysid.sets.lanes import LANES
from safe_sysid.sets.monomials import Monomials, monomials
from safe_sysid.sets.spectral import largest_eigenvalue, spectral_radius
from safe_sysid.sets.steps import over_steps


class ArmInertia(NamedTuple):
    """What bounds of the inertia of an arm are made from."""

    joints: TransportJoints
    bodies: BodyParameters


def arm_inertia(model: RobotModel, theta: Interval) -> ArmInertia:
    """Bodies and joints of an arm whose parameters are in [theta]."""
    return ArmInertia(kernel_joints(model.tree), body_parameters(model, theta))


def body_parameters(model: RobotModel, theta: Interval) -> BodyParameters:
    """Bodies of an arm whose parameters are in [theta]."""
    bodies = theta[: 10 * model.n].reshape(model.n, 10)
    armature = np.maximum(theta.lower[model.layout.joint_entries('Ia')], 0.0)
    return BodyParameters(bodies.center, bodies.radius, armature)


def congruence(arm: ArmInertia, sets: Ellipsoids, degree: int) -> Congruence:
    """Enclose X (H + diag(Ia)) X' - 1 over ellipsoids of positions."""
    table = _monomials(sets, degree)
    S, n = sets.center.shape
    middle, radius, change = np.empty((3, S, n, n))
    found = Congruence(middle, radius, np.empty((S, degree, n, n)), change)
    over_steps(
        congruence_into,
        S,
        Ellipsoids(*(np.ascontiguousarray(x, dtype=np.float64) for x in sets)),
        arm.bodies,
        arm.joints,
        ball_weights(table),
        ball_table(table),
        found,
        together=LANES,
    )
    return found


def largest_gap(found: Congruence) -> Array:
    """Upper bounds eps of |X (H + diag(Ia)) X' - 1| in 2-norm, (S,); infinite if none is known."""
    degree, n = found.squares.shape[1:3]
    left = np.abs(found.middle) + found.radius + found.change
    finite = np.all(np.isfinite(left), axis=(1, 2))
    finite &= np.all(np.isfinite(found.squares), axis=(1, 2, 3))
    left = np.where(np.reshape(finite, (-1, 1, 1)), left, 0.0)
    total = Interval.of(spectral_radius(left * (1.0 + 4.0 * EPS)))
    squares = np.where(np.reshape(finite, (-1, 1, 1, 1)), found.squares, 0.0)
    for e in range(1, degree + 1):
        terms = n * math.comb(n + e - 1, e)
        total = total + sqrt(Interval.of(largest_eigenvalue(_exact(squares[:, e - 1], terms))))
    return np.where(finite, total.upper, np.inf)


def _exact(sums: Array, terms: int) -> Interval:
    """Enclose sum w_i B_i B_i, of symmetric B_i, for sums in floats of so many terms an entry.

    By Cauchy and Schwarz absolute values of terms add up to the root of the product of the sums
    of two diagonal entries at most.
    """
    lost = 2.0 * terms * TINY  # by products that underflow
    root = np.sqrt(np.diagonal(sums, axis1=1, axis2=2) + lost)
    size = root[:, :, None] * root[:, None, :]
    return Interval.from_center_radius(sums, 2.0 * (terms + 8) * EPS * size + lost)


def _monomials(sets: Ellipsoids, degree: int) -> Monomials:
    return monomials(sets.center.shape[1], degree)


def inverse_factors(model: RobotModel, bodies: BodyParameters, q: Array) -> Array:
    """Upper triangular X with X (H + diag(Ia)) X' about 1 at positions q (S, n), in floats."""
    S, n = q.shape
    rates = np.tile(np.eye(n), (S, 1))
    W_m, _ = momentum_regressors(model, np.repeat(q, n, axis=0), rates)
    H = (W_m[..., : 10 * n] @ bodies.middle.ravel()).reshape(S, n, n)
    H = H + np.diag(bodies.armature)
    turned = np.linalg.cholesky(0.5 * (H + np.swapaxes(H, 1, 2))[:, ::-1, ::-1])
    X: Array = np.triu(np.linalg.inv(turned)[:, ::-1, ::-1])
    return X
