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
from safe_sysid.sets.ball_polynomials import ball_weights
from safe_sysid.sets.elementary import sqrt
from safe_sysid.sets.interval import EPS, TINY, Interval
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
    rows, change = np.zeros((S, n, n, table.count + 1)), np.zeros((S, n, n))
    over_steps(
        congruence_into,
        S,
        Ellipsoids(*(np.ascontiguousarray(x, dtype=np.float64) for x in sets)),
        arm.bodies,
        arm.joints,
        ball_weights(table),
        table.kernel,
        rows,
        change,
    )
    return Congruence(rows, change)


def largest_gap(found: Congruence, degree: int) -> Array:
    """Upper bounds eps of |X (H + diag(Ia)) X' - 1| in 2-norm, (S,); infinite if none is known."""
    n = found.rows.shape[1]
    table = monomials(n, degree)
    rows = np.triu(np.ones((n, n)))[:, :, None] * found.rows
    rows = rows + np.swapaxes(np.triu(np.ones((n, n)), 1)[:, :, None] * found.rows, 1, 2)
    left = np.abs(rows[..., 0]) + rows[..., -1] + found.change
    finite = np.isfinite(rows).all(axis=(1, 2, 3)) & np.isfinite(found.change).all(axis=(1, 2))
    rows, left = (np.where(finite.reshape(-1, *[1] * (x.ndim - 1)), x, 0.0) for x in (rows, left))
    total = Interval.of(spectral_radius(left * (1.0 + 4.0 * EPS)))
    weights, degrees = ball_weights(table), table.exponents.sum(axis=1)
    for e in range(1, degree + 1):
        chosen = degrees == e
        B = np.moveaxis(rows[..., :-1][..., chosen], -1, 1)  # (S, m, n, n)
        total = total + sqrt(Interval.of(largest_eigenvalue(_squares(B, weights[chosen]))))
    return np.where(finite, total.upper, np.inf)


def _squares(B: Array, weights: Array) -> Interval:
    """Enclose sum w_i B_i B_i of symmetric B_i; (S, m, n, n) to (S, n, n)."""
    S, m, n, _ = B.shape
    right = np.swapaxes(B, 1, 2).reshape(S, n, m * n)
    scaled = np.swapaxes(B * weights[:, None, None], 1, 2).reshape(S, n, m * n)
    center = scaled @ np.swapaxes(right, -1, -2)
    size = np.abs(scaled) @ np.swapaxes(np.abs(right), -1, -2)
    return Interval.from_center_radius(center, (m * n + 8) * EPS * size + TINY)


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
