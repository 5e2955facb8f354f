"""Weighted least squares of rows that share an arm: its parameters x, and phi of the payload.

The arm is seen in coordinates u of the directions that the rows tell apart, x = B u. Errors of
each joint come from its residuals. The payload's columns are not regrouped: with x known in the
directions in which the loaded arm moves, all ten are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.rows import DifferenceRows

THRESHOLD = 1e-3  # of the largest singular value: directions below are left as they are
PASSES = 4  # of weights from residuals
LEAST_SIGMA = 1e-6  # of the rms torque


def payload_prior(mass: float, reach: float, inertia: float) -> Array:
    """Deviations of the ten parameters before anything is recorded: of mass [kg], reach [m]."""
    return np.array([mass, *(mass * reach,) * 3, *(inertia,) * 6])


@dataclass(frozen=True, eq=False)
class SharedFit:
    """Estimates, and what intervals are made of."""

    basis: Array  # (p, k) B
    u: Array  # (k,)
    phi: Array  # (10,)
    sigma: Array  # (n,) [N m] of residuals
    covariance: Array  # (k + 10, k + 10) G^-1, of rows of unit variance
    residual: Array  # (N, n) [N m]

    @property
    def x(self) -> Array:
        """Parameters of the arm, those that the rows don't show at 0."""
        x: Array = self.basis @ self.u
        return x

    def shrinkage(self, prior: Array) -> Array:
        """How far what is known before may have moved each parameter of the payload, (10,)."""
        moved = self.covariance[-10:, -10:] / prior**2
        deviation: Array = np.sqrt(np.sum((moved * prior) ** 2, axis=1))
        return deviation

    def weighted(self, rows: DifferenceRows) -> Array:
        """F: columns of u and phi in rows of unit variance, (N, n, k + 10)."""
        F = np.concatenate([rows.Y @ self.basis, rows.Y_L * rows.loaded[:, None, None]], axis=2)
        weighted: Array = F * (rows.counts / self.sigma)[:, :, None]
        return weighted

    def by_joint(self, rows: DifferenceRows) -> Array:
        """Parts of u and phi that are due to the torque of each joint, (n, k + 10)."""
        torque = rows.tau * rows.counts / self.sigma
        parts: Array = np.einsum('tja,tj->ja', self.weighted(rows), torque) @ self.covariance
        return parts

    def errors(self, rows: DifferenceRows) -> Array:
        """Residuals of unit variance, (N, n)."""
        weighted: Array = self.residual * rows.counts / self.sigma
        return weighted


def shared_fit(rows: DifferenceRows, prior: Array, threshold: float = THRESHOLD) -> SharedFit:
    """Fit x and phi, which is 0 to deviations (10,) that are known before."""
    n, p = rows.tau.shape[1], rows.Y.shape[2]
    grams = _grams(rows)
    freedom = rows.counts.sum(axis=0)
    sigma = np.sqrt(np.mean(rows.tau**2, axis=0)) + 1e-12
    least = LEAST_SIGMA * float(np.sqrt(np.mean(rows.tau**2)))
    if freedom.sum() <= p / 2:
        raise MeasurementError(f'{len(rows)} rows of moving joints are too few for {p} unknowns')
    for _ in range(PASSES):
        G = np.einsum('jab,j->ab', grams, 1.0 / sigma**2)
        basis = _basis(G[:p, :p], threshold)
        into = np.zeros((p + 11, basis.shape[1] + 11))
        into[:p, : basis.shape[1]], into[p:, basis.shape[1] :] = basis, np.eye(11)
        reduced = into.T @ G @ into
        k = basis.shape[1]
        known = np.concatenate([np.zeros(k), prior**-2.0])
        covariance = _inverse(reduced[:-1, :-1] + np.diag(known))
        z = covariance @ reduced[:-1, -1]
        full = into @ np.append(z, -1.0)
        squares = np.einsum('a,jab,b->j', full, grams, full)
        left = np.maximum(freedom - (k + 10) / n, 1.0)
        sigma = np.maximum(np.sqrt(np.maximum(squares, 0.0) / left), least)
    phi = z[k:] if rows.loaded.any() else np.zeros(10)
    predicted = rows.Y @ (basis @ z[:k]) + (rows.Y_L @ phi) * rows.loaded[:, None]
    return SharedFit(basis, z[:k], phi, sigma, covariance, rows.tau - predicted)


def _grams(rows: DifferenceRows) -> Array:
    """Products of all columns and the torque, joint by joint, (n, p + 11, p + 11)."""
    held = rows.Y_L * rows.loaded[:, None, None]
    table = np.concatenate([rows.Y, held, rows.tau[:, :, None]], axis=2)
    table = table * rows.counts[:, :, None]
    return np.array([table[:, j].T @ table[:, j] for j in range(table.shape[1])])


def _basis(G: Array, threshold: float) -> Array:
    """Directions that rows tell apart, columns scaled to length 1 before, (p, k)."""
    size = np.sqrt(np.diag(G))
    scale = np.where(size > 1e-9 * size.max(), 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(G * scale * scale[:, None])
    kept = values > threshold**2 * values[-1]
    directions: Array = scale[:, None] * vectors[:, kept]
    return directions


def _inverse(G: Array) -> Array:
    """Return the inverse of a positive matrix whose columns differ much in size."""
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    values, vectors = np.linalg.eigh(G / size / size[:, None])
    values = np.where(values > 1e-13 * values[-1], values, np.inf)
    inverse: Array = (vectors / values) @ vectors.T / size / size[:, None]
    return inverse
