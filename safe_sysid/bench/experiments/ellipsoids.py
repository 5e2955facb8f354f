"""Self-collision by feature points and ellipsoids, as published: for comparison with capsules.

The corners of a tool's hull are clustered by a Gaussian mixture (EM), its means are the feature
points, links are ellipsoids with semi-axes e, and a point x in the frame of an ellipsoid is
outside when x' diag(e^-2) x > 1. The means lie inside the hull, so alone they prove nothing. They
do when every point of the tool is within R of one of them and the ellipsoid contains all points
within R of the old one. Adding R to the semi-axes is not enough for that (except for a sphere);
e_i^2 (1 + 1/t) + R^2 (1 + t) is, for every t > 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError

ROUNDS = 200
SETTLED = 1e-9  # relative gain of the likelihood that ends EM
LEAST_VARIANCE = 1e-8  # [m^2], keeps clusters of equal points from collapsing


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussian mixture of points in space."""

    shares: Array  # (K,)
    means: Array  # (K, 3) [m]
    covariances: Array  # (K, 3, 3)
    log_likelihood: float

    def bic(self, points: int) -> float:
        """Bayesian information criterion; the likelihood alone grows with every cluster."""
        free = 10 * len(self.shares) - 1
        return free * float(np.log(points)) - 2.0 * self.log_likelihood


def fit_mixture(points: Array, clusters: int, rng: np.random.Generator) -> Mixture:
    """Run expectation maximisation from means that are far apart."""
    if not 1 <= clusters <= len(points):
        raise BoundError(f'{clusters} clusters of {len(points)} points; 1 to {len(points)} can be')
    means = [points[rng.integers(len(points))]]
    for _ in range(clusters - 1):
        apart = np.min([((points - mean) ** 2).sum(axis=1) for mean in means], axis=0)
        means.append(points[int(np.argmax(apart))])
    spread = np.eye(3) * (points.var(axis=0).mean() / clusters + LEAST_VARIANCE)
    fitted = Mixture(
        np.full(clusters, 1.0 / clusters), np.array(means), np.array([spread] * clusters), -np.inf
    )
    for _ in range(ROUNDS):
        before, fitted = fitted, _improved(points, fitted)
        gain = fitted.log_likelihood - before.log_likelihood
        if gain < SETTLED * abs(fitted.log_likelihood):
            break
    return fitted


def best_mixture(points: Array, most: int, rng: np.random.Generator) -> Mixture:
    """Return the number of clusters with the least BIC, up to `most`."""
    fits = [fit_mixture(points, k, rng) for k in range(1, most + 1)]
    return min(fits, key=lambda fit: fit.bic(len(points)))


def _improved(points: Array, mixture: Mixture) -> Mixture:
    """One round of EM; the likelihood is that of the mixture that comes in."""
    logs = _log_densities(points, mixture) + np.log(mixture.shares)
    top = logs.max(axis=1, keepdims=True)
    total = top + np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
    belongs = np.exp(logs - total)  # (points, K)
    weight = belongs.sum(axis=0) + 1e-300
    means = belongs.T @ points / weight[:, None]
    from_mean = points[:, None] - means
    covariances = np.einsum('pk,pki,pkj->kij', belongs, from_mean, from_mean)
    covariances = covariances / weight[:, None, None] + LEAST_VARIANCE * np.eye(3)
    return Mixture(weight / len(points), means, covariances, float(total.sum()))


def _log_densities(points: Array, mixture: Mixture) -> Array:
    apart = points[:, None] - mixture.means
    inverse = np.linalg.inv(mixture.covariances)
    squared = np.einsum('pki,kij,pkj->pk', apart, inverse, apart)
    logs: Array = -0.5 * (
        squared + np.linalg.slogdet(mixture.covariances)[1] + 3.0 * np.log(2.0 * np.pi)
    )
    return logs


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """All x with |diag(1 / axes) R' (x - center)| <= 1."""

    center: Array  # (3,) [m]
    R: Array  # (3, 3) directions of the axes as columns
    axes: Array  # (3,) semi-axes [m]

    def outside(self, points: Array) -> Array:
        """Return g of each point: above 0 outside, below 0 inside; (..., 3) -> (...)."""
        along = (points - self.center) @ self.R / self.axes
        g: Array = (along**2).sum(axis=-1) - 1.0
        return g

    def grown(self, radius: float) -> Ellipsoid:
        """Return an ellipsoid that contains every point within a radius of this one."""
        if radius == 0.0:
            return self

        def volume(log_t: float) -> float:
            return float(np.log(_sum_axes(self.axes, radius, np.exp(log_t))).sum())

        best = minimize_scalar(volume, bounds=(-12.0, 12.0), method='bounded')
        return Ellipsoid(self.center, self.R, _sum_axes(self.axes, radius, np.exp(best.x)))


def _sum_axes(axes: Array, radius: float, t: float) -> Array:
    """Semi-axes of an ellipsoid around the sum of an ellipsoid and a ball, for any t > 0."""
    return np.sqrt(axes**2 * (1.0 + 1.0 / t) + radius**2 * (1.0 + t))


def around_capsule(a: Array, b: Array, radius: float) -> Ellipsoid:
    """Return the smallest ellipsoid around a capsule, turned and centred like it."""
    half = 0.5 * float(np.linalg.norm(b - a))
    if half < 1e-9:
        return Ellipsoid(0.5 * (a + b), np.eye(3), np.full(3, radius + half))

    def across(length: float) -> float:
        """Least semi-axis across for one along: a ball at the end touches from inside."""
        u = length**-2.0
        middle = 1.0 + (radius**2 - half**2) * u
        root = np.sqrt(max(middle**2 - 4.0 * radius**2 * u, 0.0))
        return float(np.sqrt(2.0 * radius**2 / (middle + root)))

    least = half + radius
    best = minimize_scalar(
        lambda length: np.log(length) + 2.0 * np.log(across(length)),
        bounds=(least * (1.0 + 1e-9), 5.0 * least),
        method='bounded',
    )
    axes = np.array([best.x, across(best.x), across(best.x)])
    return Ellipsoid(0.5 * (a + b), _frame_along(b - a), axes)


def _frame_along(direction: Array) -> Array:
    """Orthonormal columns, the first along a direction."""
    first = direction / np.linalg.norm(direction)
    second = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
    second /= np.linalg.norm(second)
    return np.stack([first, second, np.cross(first, second)], axis=1)


def capsule_corners(a: Array, b: Array, radius: float, around: int = 12) -> Array:
    """Points on a capsule, as the corners of a hull: rings and caps at both ends."""
    frame = _frame_along(b - a) if np.linalg.norm(b - a) > 0.0 else np.eye(3)
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.outer(np.cos(angle), frame[:, 1]) + np.outer(np.sin(angle), frame[:, 2])
    cap = np.concatenate([ring, (ring + frame[:, 0]) / np.sqrt(2.0), frame[:, :1].T])
    mirrored = cap - 2.0 * np.outer(cap @ frame[:, 0], frame[:, 0])
    return np.concatenate([b + radius * cap, a + radius * mirrored])


def covering_radius(a: Array, b: Array, radius: float, means: Array) -> float:
    """Return the least R for which every point of a capsule is within R of one of the means.

    Squared distances along the axis differ between means by a linear function only, so the
    nearest mean is farthest away at an end or where two of them are equally near.
    """
    u = b - a
    # squared distance at s is |u|^2 s^2 + slope_k s + level_k
    slope, level = 2.0 * (a - means) @ u, ((a - means) ** 2).sum(axis=1)
    turn = slope[:, None] - slope
    with np.errstate(divide='ignore', invalid='ignore'):
        equal = ((level - level[:, None]) / turn)[turn != 0.0]
    s = np.concatenate([[0.0, 1.0], equal[(equal > 0.0) & (equal < 1.0)]])
    squared = (u @ u) * s**2 + (slope[:, None] * s + level[:, None]).min(axis=0)
    return float(np.sqrt(max(squared.max(), 0.0))) + radius
