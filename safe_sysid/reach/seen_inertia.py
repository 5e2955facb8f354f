"""Inertia where torques act against the M that a late law takes: for all of [theta].

M is that of theta_0 at q_hat, H + diag(Ia) that of the arm at q, which is near. In entries, for
every time step,

    |M(q_hat) - M_c| <= R,   |M(q) - M(q_hat)| <= D_q,   |H(q) + diag(Ia) - M(q)| <= D_theta,

R the radius of M over estimated positions (`nominal_inertia`), D_q that over these less that over
positions of the arm (each operation on numbers with radii adds at least its largest slope times
what a radius grows), and D_theta by `congruent_inertia` for a box of parameters about theta_0.

With X M_c X' = 1 and g >= the norm of X (M - M_c) X', M >= (1 - g) (X'X)^-1 at q_hat and at q, so
with e_q and e_theta the norms of |X| D |X'| over 1 - g,

    mu M(q_hat) <= H(q) + diag(Ia) <= kappa M(q_hat),   kappa = (1 + e_theta)(1 + e_q), mu with -.

A motion y = (H + diag(Ia))^-1 u has |y| <= B (|u| + (R + D_theta) |y|), B = |M_c^-1|, hence |y| <=
G |u| with G = (1 - B (R + D_theta))^-1 B where the spectral radius of B (R + D_theta) is below 1.
Entry by entry this says much more of a heavy joint than what is known of |u| in the norm of M^-1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import BodyParameters, Ellipsoids
from safe_sysid.reach.joint_reach import JointReach, Q
from safe_sysid.reach.motion_transport import kernel_joints
from safe_sysid.reach.nominal_inertia import mass_matrix, nominal_inertia
from safe_sysid.reach.plan_inertia import ArmInertia, congruence
from safe_sysid.sets.spectral import spectral_radius
from safe_sysid.sets.taylor_model import TaylorModel

UP = 1.0 + 1e-9
DEGREE = 1  # of polynomials of which only constant and linear terms count
UNKNOWN = 'the inertia of the arm is not bounded'


@dataclass(frozen=True, eq=False)
class SeenInertia:
    """M in every time step, and how it compares with the arm; upper bounds all but mu."""

    size: Array  # (T, n, n) S with x' M x <= |x|' S |x| for every x
    inverse: Array  # (T, n, n) the same for M^-1
    off: Array  # (T, n, n) |H(q) + diag(Ia) - M(q_hat)|, entry by entry
    moved: Array  # (T, n, n) |H(q) - H(q_hat)| likewise
    solving: Array  # (T, n, n) G; infinite where there is none
    mu: float
    kappa: float

    @property
    def diagonal(self) -> Array:
        """M_jj, (T, n)."""
        return np.asarray(np.einsum('tjj->tj', self.size))

    @property
    def entry(self) -> Array:
        """(T, n) with |x_j| <= entry_j |x|_M."""
        return np.asarray(np.sqrt(np.einsum('tjj->tj', self.inverse)) * UP)

    def length(self, x: Array) -> float:
        """Largest |x|_M of a vector of bounds (n,)."""
        squares = np.einsum('i,tij,j->t', x, self.size, x)
        return float(np.sqrt(squares.max()) * UP)

    def dual(self, box: Array) -> float:
        """Largest norm in M^-1 of boxes (T, n)."""
        squares = np.einsum('ti,tij,tj->t', box, self.inverse, box)
        return float(np.sqrt(squares.max()) * UP)

    def motion(self, box: Array, length: float) -> Array:
        """Largest |(H + diag(Ia))^-1 u|, entry by entry, (T, n).

        u is within boxes (T, n) and no longer than `length` in the norm of M^-1.
        """
        with np.errstate(invalid='ignore'):
            by_box = (self.solving @ box[..., None])[..., 0]
        return np.asarray(np.fmin(by_box, self.entry * (length / self.mu)) * UP)

    def pulled(self, x: Array, ball: float) -> Array:
        """Return the same for u = (H(q_hat) + diag(Ia)) x, |x| within (n,), norm within `ball`."""
        with np.errstate(invalid='ignore'):
            by_box = x + (self.solving @ (self.moved @ x)[..., None])[..., 0]
        return np.asarray(np.fmin(by_box, self.entry * (ball / self.mu)) * UP)


def seen_inertia(
    model: RobotModel,
    estimate: ParameterEstimate,
    true: JointReach,
    seen: JointReach,
    known: Array | None,
) -> SeenInertia:
    """Bounds over positions of the arm and estimates of them; `known` as in `nominal_inertia`."""
    theta_0 = estimate.theta
    M, radius = mass_matrix(model, seen, theta_0)
    moved = np.maximum(radius - mass_matrix(model, true, theta_0)[1], 0.0) * UP + 1e-12
    try:
        X = _inverse_factors(M)
    except np.linalg.LinAlgError:
        raise BoundError(UNKNOWN) from None
    size = np.abs(X)
    rounding = 1e-10 * np.einsum('tjj->tj', np.abs(M))[..., None] * np.eye(model.n)
    gap = _norm(size, radius + rounding)
    if not np.all(gap < 1.0):
        raise BoundError(UNKNOWN)
    changed, own = _changes(model, estimate, seen, X)
    of_theta = float((spectral_radius(changed * UP) / (1.0 - gap)).max() * UP)
    of_q = float((_norm(size, moved) / (1.0 - gap)).max() * UP)
    if not (of_theta < 1.0 and of_q < 1.0):
        raise BoundError(UNKNOWN)
    return SeenInertia(
        (np.abs(M) + radius) * UP,
        nominal_inertia(model, seen, theta_0, known).inverse,
        (moved + own) * UP,
        (moved + 2.0 * own) * UP,
        _solving(M, (radius + own) * UP),
        (1.0 - of_theta) * (1.0 - of_q) * (2.0 - UP),
        (1.0 + of_theta) * (1.0 + of_q) * UP,
    )


def _norm(size: Array, entries: Array) -> Array:
    """Bound of |X E X'| in 2-norm for |X| and bounds of a symmetric E, (T,)."""
    return spectral_radius(size @ entries @ np.swapaxes(size, 1, 2) * UP)


def _inverse_factors(M: Array) -> Array:
    """Upper triangular X with X M X' about 1, in floats."""
    turned = np.linalg.cholesky(M[:, ::-1, ::-1])
    return np.triu(np.linalg.inv(turned)[:, ::-1, ::-1])


def _changes(
    model: RobotModel, estimate: ParameterEstimate, seen: JointReach, X: Array
) -> tuple[Array, Array]:
    """Largest X (H + diag(Ia) - M) X' that theta can make, and the same for X = 1, (T, n, n)."""
    n, theta_0, bounds = model.n, estimate.theta, estimate.bounds
    away = np.maximum(bounds.upper - theta_0, theta_0 - bounds.lower) * UP
    Ia = away[model.layout.joint_entries('Ia')]
    bodies = BodyParameters(
        theta_0[: 10 * n].reshape(n, 10).copy(), away[: 10 * n].reshape(n, 10), np.zeros(n)
    )
    arm = ArmInertia(kernel_joints(model.tree), bodies)
    q = TaylorModel(seen.monomials, _without_errors(seen)).bound()
    G = np.sqrt(n) * UP * q.radius[..., None] * np.eye(n)
    changes = []
    for factor in (X, np.broadcast_to(np.eye(n), X.shape)):
        found = congruence(arm, Ellipsoids(q.center, G, factor), DEGREE).change
        size = np.abs(factor)
        changes.append(found + (size * Ia) @ np.swapaxes(size, 1, 2) * UP)
    if not all(np.all(np.isfinite(change)) for change in changes):
        raise BoundError(UNKNOWN)
    return changes[0], changes[1]


def _without_errors(reach: JointReach) -> Array:
    """Rows of positions whose error variables are part of the remainder."""
    count, rows = reach.monomials.count, reach.rows[Q]
    plain = rows[..., [*range(count), -1]].copy()
    plain[..., -1] += np.abs(rows[..., count:-1]).sum(axis=-1) * UP
    return np.asarray(plain)


def _solving(M: Array, radius: Array) -> Array:
    """G for matrices within a radius of M, or infinite."""
    n = M.shape[-1]
    inverse = np.linalg.inv(M)
    B = np.abs(inverse)
    B = B * UP + 1e-9 * B.max(axis=(1, 2), keepdims=True)
    more = B @ radius * UP
    is_small = spectral_radius(more) < 1.0 - 1e-6
    G = np.linalg.solve(np.where(is_small[:, None, None], np.eye(n) - more, np.eye(n)), B)
    proven = is_small & np.all(G * (1.0 + 1e-6) - more @ G * (1.0 + 1e-6) >= B, axis=(1, 2))
    return np.where(proven[:, None, None], G * (1.0 + 1e-6), np.inf)
