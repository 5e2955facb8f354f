"""Guaranteed interval bounds on theta_e from a left inverse of the observation matrix.

With any matrix L and any point c, the rows Y_e theta_e + Y_r theta_r = b + e, |e| <= delta, say

    theta_e = c + L (b - Y_e c - Y_r theta_r + e) + (1 - L Y_e) (theta_e - c),

so the right side over theta_r in [theta_r], theta_e in its prior and |e| <= delta contains the
true theta_e. L is found with ordinary floats: a poor L makes the bounds wide, never wrong. The
right side is evaluated with outward rounding.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.observation import Observation
from safe_sysid.sets.interval import Interval


def linear(observation: Observation, rest: Interval, prior: Interval) -> Interval:
    """[theta_e] by the left inverse that trades delta, [theta_r] and prior against each other.

    Needs finite `rest` (theta_r) and `prior` (theta_e); not intersected with the prior.
    """
    L = _balanced_left_inverse(observation, rest.radius, prior.radius)
    return _enclosure(observation, L, rest, prior)


def linear_unweighted(observation: Observation, rest: Interval, prior: Interval) -> Interval:
    """[theta_e] by the pseudo-inverse of Y_e: every row counts the same, as published."""
    tolerance = max(len(observation), 10) * float(np.finfo(float).eps)
    L = np.asarray(np.linalg.pinv(observation.Y_e, rcond=tolerance), dtype=float)
    return _enclosure(observation, L, rest, prior)


def _balanced_left_inverse(observation: Observation, rest: Array, prior: Array) -> Array:
    """L whose row l makes the half width of its parameter small, (10, m).

    The half width is a sum of absolute values,

        sum_k |l_k| delta_k + sum_j |(l Y_r)_j| rad_r_j + sum_i |(e - l Y_e)_i| rad_e_i

    with rad_r, rad_e the radii of [theta_r] and of the prior.

    A sum of N absolute values is at most sqrt(N) times its Euclidean norm; the l that minimises
    the three squared sums, each times its own N, is a row of a least-squares solution in
    (theta_e, theta_r), with rows scaled by delta and unknowns by their radii. theta_r is one
    unknown shared by all rows here; to weigh each row by delta + |Y_r| rad[theta_r] would forget
    that, and gives wider bounds. Directions the data do not see are left to the prior.
    """
    m, p = len(observation), len(rest)
    unknowns = np.concatenate([prior, rest])
    A = np.hstack([observation.Y_e, observation.Y_r]) * unknowns
    least = 1e-12 * np.abs(A).sum(axis=1) + 1e-30  # so that an exact row stays finite
    rows = 1.0 / (np.sqrt(max(m, 1)) * np.maximum(observation.delta, least))
    A = rows[:, None] * A
    shares = np.concatenate([np.full(10, 10.0**-0.5), np.full(p, max(p, 1) ** -0.5)])
    Q, R = np.linalg.qr(np.vstack([A, np.diag(shares)]))
    estimator: Array = np.linalg.solve(R, Q[:m].T)[:10]  # R is regular: its diagonal is >= shares
    L: Array = prior[:, None] * estimator * rows
    return L


def _enclosure(observation: Observation, L: Array, rest: Interval, prior: Interval) -> Interval:
    """Return the right side of the identity above, rounded outward."""
    c_e, c_r = Interval.of(prior.center), Interval.of(rest.center)
    error = Interval(-observation.delta, observation.delta)
    residual = observation.b - observation.Y_e @ c_e - observation.Y_r @ c_r + error
    of_rest = L @ Interval.of(observation.Y_r)
    of_prior = np.eye(10) - L @ Interval.of(observation.Y_e)
    spread_r = Interval(-rest.radius, rest.radius)
    spread_e = Interval(-prior.radius, prior.radius)
    return c_e + L @ residual - of_rest @ spread_r + of_prior @ spread_e
