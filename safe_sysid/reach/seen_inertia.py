"""Inertia where torques act against the M that a late law takes: for all of [theta].

M is that of theta_0 at q_hat, H + diag(Ia) that of the arm at q, which is near. With X M_c X' = 1
for an M_c in the middle of a time step, let in 2-norm

    |X M X' - 1| <= g at q_hat and at q,   |X (H(q) + diag(Ia) - M(q)) X'| <= d.

g is the smaller of two bounds. One is that of |X| R |X'|, R the radius of M entry by entry
(`nominal_inertia`): it is good for positions that are known well. The other one is made of
polynomials over an ellipsoid of positions (`plan_inertia`, `position_ellipsoids`): a light wrist
strays far while the joints before it do not, which no box says, and entry by entry a part of what
strays would be a multiple of the wrist's own inertia. d comes from the same polynomials. Then

    (1 - g) (X'X)^-1 <= M <= (1 + g) (X'X)^-1,
    mu M(q_hat) <= H(q) + diag(Ia) <= kappa M(q_hat),   kappa = (1 + e_theta)(1 + e_q), mu with -,

e_theta = d / (1 - g), and e_q likewise of |M(q) - M(q_hat)|, whose entries are at most what the
radius of M over estimated positions has more than that over positions of the arm (each operation
on numbers with radii adds at least its largest slope times what a radius grows).

Estimates of two instants within a window differ by what the arm moves meanwhile and by twice what
an estimate is off. So entries of M change by what the radius over all these positions has more,
and what it grows by is convex: for a part of a window it is at most that part of what positions of
a whole one add.

A motion y = (H + diag(Ia))^-1 u is X'(1 + F)^-1 X u with |F| <= f = g + d, and (1 + F)^-1 is 1 to
f / (1 - f). With B = |X'X| and a u within a box, so that |X u| <= sqrt(|u|'B|u|),

    |y| <= B |u| + f / (1 - f) |X u| sqrt(diag B),

and entry by entry |y| <= B (|u| + D |y|) for entries D of H + diag(Ia) - M_c, hence |y| <= G |u|,
G = (1 - B D)^-1 B, where the spectral radius of B D is below 1: of a heavy joint this says more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.congruent_inertia import BodyParameters, Ellipsoids
from safe_sysid.reach.joint_reach import JointReach
from safe_sysid.reach.motion_transport import kernel_joints
from safe_sysid.reach.nominal_inertia import mass_matrix, nominal_inertia
from safe_sysid.reach.plan_inertia import ArmInertia, congruence, largest_gap
from safe_sysid.reach.position_ellipsoids import position_ellipsoids
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.spectral import largest_eigenvalue, spectral_radius
from safe_sysid.track.seen_law import Turning

UP = 1.0 + 1e-9
DEGREE = 2  # of polynomials in positions
LINEAR = 1  # where only constant and linear terms count
FLOATS = 1.0 + 1e-9  # of M_c against the inverse of X'X
UNKNOWN = 'the inertia of the arm is not bounded'


@dataclass(frozen=True, eq=False)
class SeenInertia:
    """M in every time step, and how it compares with the arm; upper bounds all but mu."""

    size: Array  # (T, n, n) S with x' M x <= |x|' S |x| for every x
    inverse: Array  # (T, n, n) the same for M^-1
    off: Array  # (T, n, n) |H(q) + diag(Ia) - M(q_hat)|, entry by entry
    moved: Array  # (T, n, n) |H(q) - H(q_hat)| likewise
    solving: Array  # (T, n, n) G; infinite where there is none
    X: Array  # (T, n, n)
    middle: Array  # (T, n, n) B
    gap: Array  # (T,) g
    spread: Array  # (T,) f; infinite where it is not below 1
    mu: float
    kappa: float
    turning: Turning  # of M in a window

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

    def damping(self, Fv: Array, length: float) -> float:
        """Largest norm in M^-1 of Fv r, Fv from 0 to these, for |r| up to `length` in that of M.

        r = X's has |s| <= |r|_M / sqrt(1 - g), and |X u| is the norm of u to as much again.
        """
        box = Interval.of(self.X * np.sqrt(Fv))
        norms = largest_eigenvalue(box @ np.swapaxes(box.center, 1, 2))
        return float((norms / (1.0 - self.gap)).max() * length * UP)

    def motion(self, box: Array, length: float) -> Array:
        """Largest |(H + diag(Ia))^-1 u|, entry by entry, (T, n).

        u is within boxes (T, n) and no longer than `length` in the norm of M^-1.
        """
        root = np.sqrt(np.einsum('tjj->tj', self.middle))
        squares = np.einsum('ti,tij,tj->t', box, self.middle, box)
        longest = np.minimum(np.sqrt(squares), np.sqrt(1.0 + self.gap) * length)
        with np.errstate(invalid='ignore'):
            by_box = (self.solving @ box[..., None])[..., 0]
            by_shape = (self.middle @ box[..., None])[..., 0]
            by_shape += (self.spread / (1.0 - self.spread) * longest)[:, None] * root
        by_shape = np.where(self.spread[:, None] < 1.0, by_shape, np.inf)
        found = np.fmin(np.fmin(by_box, by_shape), self.entry * (length / self.mu))
        return np.asarray(found * UP)

    def pulled(self, x: Array, ball: float) -> Array:
        """Return the same for u = (H(q_hat) + diag(Ia)) x, |x| within (n,), norm within `ball`."""
        by_box = x + self.motion(self.moved @ x, np.inf)
        return np.asarray(np.fmin(by_box, self.entry * (ball / self.mu)) * UP)


def seen_inertia(
    model: RobotModel,
    estimate: ParameterEstimate,
    true: JointReach,
    seen: JointReach,
    before: JointReach,
) -> SeenInertia:
    """Bounds over positions of the arm, estimates of them, and those within a window before."""
    theta_0 = estimate.theta
    M, radius = mass_matrix(model, seen, theta_0)
    moved = np.maximum(radius - mass_matrix(model, true, theta_0)[1], 0.0) * UP + 1e-12
    try:
        X = _inverse_factors(M)
    except np.linalg.LinAlgError:
        raise BoundError(UNKNOWN) from None
    size = np.abs(X)
    rounding = 1e-10 * np.einsum('tjj->tj', np.abs(M))[..., None] * np.eye(model.n)
    by_ball, changed, own = _over_ellipsoids(model, estimate, seen, X)
    gap = np.minimum(_norm(size, radius + rounding), by_ball)
    if not (np.all(gap < 1.0) and np.all(np.isfinite(changed + own))):
        raise BoundError(UNKNOWN)
    of_theta = spectral_radius(changed * UP)
    mu_theta = float((of_theta / (1.0 - gap)).max() * UP)
    of_q = float((_norm(size, moved) / (1.0 - gap)).max() * UP)
    farther = np.maximum(mass_matrix(model, before, theta_0)[1] - radius, 0.0) * UP
    more = float((_norm(size, farther) / (1.0 - gap)).max() * UP)
    if not (mu_theta < 1.0 and of_q < 1.0):
        raise BoundError(UNKNOWN)
    XT = np.swapaxes(X, 1, 2)
    middle = (np.abs(XT @ X) + 1e-13 * np.swapaxes(size, 1, 2) @ size) * UP
    spread = (gap + of_theta) * UP
    return SeenInertia(
        _smaller_size(np.abs(M), radius, gap),
        nominal_inertia(model, seen, theta_0, middle / (1.0 - gap)[:, None, None] * UP).inverse,
        (moved + own) * UP,
        (moved + 2.0 * own) * UP,
        _solving(M, (radius + own) * UP),
        X,
        middle,
        gap,
        np.where(spread < 1.0, spread, np.inf),
        (1.0 - mu_theta) * (1.0 - of_q) * (2.0 - UP),
        (1.0 + mu_theta) * (1.0 + of_q) * UP,
        Turning(2.0 * of_q, more),
    )


def _smaller_size(M: Array, radius: Array, gap: Array) -> Array:
    """S of the entries or of g, whichever is less for motions of about the same energy."""
    by_entries = (M + radius) * UP
    by_gap = M * (1.0 + gap)[:, None, None] * FLOATS * UP
    x = 1.0 / np.sqrt(np.einsum('tjj->tj', M))
    entries, gaps = (np.einsum('ti,tij,tj->t', x, S, x) for S in (by_entries, by_gap))
    return np.where((gaps < entries)[:, None, None], by_gap, by_entries)


def _norm(size: Array, entries: Array) -> Array:
    """Bound of |X E X'| in 2-norm for |X| and bounds of a symmetric E, (T,)."""
    return spectral_radius(size @ entries @ np.swapaxes(size, 1, 2) * UP)


def _inverse_factors(M: Array) -> Array:
    """Upper triangular X with X M X' about 1, in floats."""
    turned = np.linalg.cholesky(M[:, ::-1, ::-1])
    return np.triu(np.linalg.inv(turned)[:, ::-1, ::-1])


def _over_ellipsoids(
    model: RobotModel, estimate: ParameterEstimate, seen: JointReach, X: Array
) -> tuple[Array, Array, Array]:
    """g (T,), |X (H + diag(Ia) - M) X'| entry by entry, and the same for X = 1, (T, n, n)."""
    n, theta_0, bounds = model.n, estimate.theta, estimate.bounds
    away = np.maximum(bounds.upper - theta_0, theta_0 - bounds.lower) * UP
    place = model.layout.joint_entries('Ia')
    bodies = BodyParameters(
        theta_0[: 10 * n].reshape(n, 10).copy(), away[: 10 * n].reshape(n, 10), theta_0[place]
    )
    arm = ArmInertia(kernel_joints(model.tree), bodies)
    q_c, G = position_ellipsoids(seen)
    found = congruence(arm, Ellipsoids(q_c, G, X), DEGREE)
    one = np.broadcast_to(np.eye(n), X.shape)
    changes = found.change, congruence(arm, Ellipsoids(q_c, G, one), LINEAR).change
    sizes = (np.abs(factor) for factor in (X, one))
    changed, own = (
        change + (size * away[place]) @ np.swapaxes(size, 1, 2) * UP
        for change, size in zip(changes, sizes, strict=True)
    )
    known = found._replace(change=np.zeros_like(found.change))
    return largest_gap(known), changed, own


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
