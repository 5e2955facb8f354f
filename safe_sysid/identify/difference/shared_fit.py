"""Weighted least squares of rows that share an arm: its parameters x, and phi of the payload.

The arm is seen in coordinates u of the directions that the rows tell apart, x = B u. What a model
lacks acts on several joints at once (an elastic belt, a wrong centre of mass), so residuals of
joints are correlated; rows of one time are weighted by the inverse of their covariance, which is
from residuals. The payload's columns are not regrouped: with x known in the directions in which
the loaded arm moves, all ten are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.row_products import patterns_of, row_products
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

THRESHOLD = 1e-3  # of the largest singular value: directions below are left as they are
PASSES = 4  # of deviations of joints from residuals
PASSES_MORE = 2  # from those of nearly the same rows
JOINED_PASSES = 2  # of their covariance after that
UNCORRELATED = 0.1  # share of the covariance that is taken as of each joint alone: no combination
# of joints counts as exact
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
    spread: Array  # (n, n) [N^2 m^2] covariance of residuals of one time
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
        N, n, p = rows.Y.shape
        arm = (rows.Y.reshape(N * n, p) @ self.basis).reshape(N, n, -1)
        F = np.concatenate([arm, rows.Y_L * rows.loaded[:, None, None]], axis=2)
        return whitened(F, rows.counts, self.spread)

    def by_joint(self, rows: DifferenceRows) -> Array:
        """Parts of u and phi that are due to the torque of each joint, (n, k + 10)."""
        columns = whiteners(rows.counts, self.spread)
        each = np.swapaxes(columns, 1, 2) @ (columns * rows.tau[:, None, :])
        return self._pull(rows, each) @ self.covariance

    def moved_by(self, rows: DifferenceRows, torque: Array) -> Array:
        """How far a change of all torques (N, n) moves each parameter of the payload, (10,)."""
        columns = whiteners(rows.counts, self.spread)
        changed = np.swapaxes(columns, 1, 2) @ (columns @ torque[:, :, None])
        moved: Array = np.abs(self._pull(rows, changed)[0] @ self.covariance[:, -10:])
        return moved

    def _pull(self, rows: DifferenceRows, columns: Array) -> Array:
        """Products of columns (N, n, c) with those of u and phi, (c, k + 10)."""
        N, n, c = columns.shape
        flat = columns.reshape(N * n, c).T
        held = (columns * rows.loaded[:, None, None]).reshape(N * n, c).T
        arm = flat @ rows.Y.reshape(N * n, -1) @ self.basis
        return np.concatenate([arm, held @ rows.Y_L.reshape(N * n, 10)], axis=1)

    def weighted_along(self, rows: DifferenceRows, direction: Array) -> Array:
        """F times a direction of u and phi, (N, n)."""
        k = len(self.u)
        arm, payload = rows.Y @ (self.basis @ direction[:k]), rows.Y_L @ direction[k:]
        return self._white(rows, arm + payload * rows.loaded[:, None])

    def errors(self, rows: DifferenceRows) -> Array:
        """Residuals of unit variance, (N, n)."""
        return self._white(rows, self.residual)

    def _white(self, rows: DifferenceRows, torque: Array) -> Array:
        return whitened(torque[:, :, None], rows.counts, self.spread)[:, :, 0]


@dataclass(frozen=True, eq=False)
class JointFit:
    """Estimates with weights of each joint alone."""

    basis: Array  # (p, k)
    z: Array  # (k + 10,) u and phi
    sigma: Array  # (n,) [N m] of residuals

    @property
    def x(self) -> Array:
        """Parameters of the arm."""
        x: Array = self.basis @ self.z[:-10]
        return x

    @property
    def phi(self) -> Array:
        """Parameters of the payload, (10,)."""
        return self.z[-10:]


def shared_fit(rows: DifferenceRows, prior: Array, threshold: float = THRESHOLD) -> SharedFit:
    """Fit x and phi, which is 0 to deviations (10,) that are known before."""
    p = rows.Y.shape[2]
    products = row_products(rows)
    first = joint_fit(products.by_joint(), rows.counts.sum(axis=0), prior, threshold)
    spread = np.diag(first.sigma**2)
    residual = _residual(rows, first.x, first.z[-10:])
    for _ in range(JOINED_PASSES):
        spread = _spread(residual * rows.counts, rows.counts, len(first.z), spread)
        G = products.weighted(spread)
        basis = _basis(G[:p, :p], threshold)
        z, covariance = _solved(G, basis, prior)
        k = basis.shape[1]
        phi = z[k:] if rows.loaded.any() else np.zeros(10)
        residual = _residual(rows, basis @ z[:k], phi)
    return SharedFit(basis, z[:k], phi, spread, covariance, residual)


def _residual(rows: DifferenceRows, x: Array, phi: Array) -> Array:
    """Return what is left of the torques, (N, n) [N m]."""
    left: Array = rows.tau - rows.Y @ x - (rows.Y_L @ phi) * rows.loaded[:, None]
    return left


def information(rows: DifferenceRows, spread: Array) -> Array:
    """Weighted products of the columns of x and phi, (p + 10, p + 10)."""
    return row_products(rows).weighted(spread)[:-1, :-1]


def joint_fit(
    grams: Array,
    freedom: AnyArray,
    prior: Array,
    threshold: float = THRESHOLD,
    near: JointFit | None = None,
) -> JointFit:
    """Fit with the deviations of joints, from products of columns and counts of rows (n,).

    Those of a fit to nearly the same rows need less improving.
    """
    n, p = len(grams), grams.shape[1] - 11
    sigma = np.sqrt(grams[:, -1, -1] / np.maximum(freedom, 1)) + 1e-12
    least = LEAST_SIGMA * float(np.sqrt(np.mean(sigma**2)))
    if freedom.sum() <= p / 2:
        raise MeasurementError(
            f'{int(freedom.sum())} rows of moving joints are too few for {p} unknowns: '
            'every joint has to move, in the recordings without the payload too'
        )
    if near is not None:
        sigma = near.sigma
    for _ in range(PASSES if near is None else PASSES_MORE):
        G = np.tensordot(sigma**-2.0, grams, axes=1)
        basis = _basis(G[:p, :p], threshold)
        z = _estimate(G, basis, prior)
        k = basis.shape[1]
        full = np.concatenate([basis @ z[:k], z[k:], [-1.0]])
        squares = (grams @ full) @ full
        left = np.maximum(freedom - (k + 10) / n, 1.0)
        sigma = np.maximum(np.sqrt(np.maximum(squares, 0.0) / left), least)
    return JointFit(basis, z, sigma)


def whitened(columns: Array, counts: AnyArray, spread: Array) -> Array:
    """Rows of one time made uncorrelated, of the joints that count, (N, n, k)."""
    weighted: Array = whiteners(counts, spread) @ columns
    return weighted


def whiteners(counts: AnyArray, spread: Array) -> Array:
    """Matrices that make residuals of one time uncorrelated, of those that count, (N, n, n)."""
    patterns, which = patterns_of(counts)
    found = np.zeros((len(patterns), *spread.shape))
    for matrix, pattern in zip(found, patterns, strict=True):
        some = np.ix_(pattern, pattern)
        matrix[some] = np.linalg.inv(np.linalg.cholesky(spread[some]))
    return found[which]


def _spread(residual: Array, counts: AnyArray, unknowns: int, before: Array) -> Array:
    """Covariance of residuals of one time, a part of it as of each joint alone."""
    number = counts.T.astype(float) @ counts - unknowns / counts.shape[1]
    covariance = residual.T @ residual / np.maximum(number, 1.0)
    least = LEAST_SIGMA**2 * np.trace(before)
    alone = np.diag(np.maximum(np.diag(covariance), max(least, 1e-300)))
    values, vectors = symmetric_eigen(_of_unit_size(covariance, alone))
    correlation = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size = np.sqrt(np.diag(alone))
    joined = correlation * np.outer(size, size)
    spread: Array = (1.0 - UNCORRELATED) * joined + UNCORRELATED * alone
    return spread


def _of_unit_size(covariance: Array, alone: Array) -> Array:
    size = np.sqrt(np.diag(alone))
    correlation: Array = covariance / np.outer(size, size)
    return correlation


def _solved(G: Array, basis: Array, prior: Array) -> tuple[Array, Array]:
    """Estimates of u and phi from weighted products, and their covariance."""
    information, right = _reduced(G, basis, prior)
    covariance = _inverse(information)
    return covariance @ right, covariance


def _estimate(G: Array, basis: Array, prior: Array) -> Array:
    """Estimates alone."""
    information, right = _reduced(G, basis, prior)
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    try:
        factor = cho_factor(information / size / size[:, None], check_finite=False)
    except LinAlgError:
        return np.asarray(_inverse(information) @ right)
    estimate: Array = cho_solve(factor, right / size, check_finite=False) / size
    return estimate


def _reduced(G: Array, basis: Array, prior: Array) -> tuple[Array, Array]:
    """Weighted products of the columns of u and phi, with what is known before, and torque."""
    p, k = basis.shape
    into = np.zeros((p + 11, k + 11))
    into[:p, :k], into[p:, k:] = basis, np.eye(11)
    reduced = into.T @ G @ into
    known = np.concatenate([np.zeros(k), prior**-2.0])
    return reduced[:-1, :-1] + np.diag(known), reduced[:-1, -1]


def _basis(G: Array, threshold: float) -> Array:
    """Directions that rows tell apart, columns scaled to length 1 before, (p, k)."""
    size = np.sqrt(np.diag(G))
    shown = np.flatnonzero(size > 1e-9 * size.max())
    scale = 1.0 / size[shown]
    values, vectors = symmetric_eigen(G[np.ix_(shown, shown)] * scale * scale[:, None])
    kept = values > threshold**2 * values[-1]
    directions = np.zeros((len(G), np.count_nonzero(kept)))
    directions[shown] = scale[:, None] * vectors[:, kept]
    return directions


def _inverse(G: Array) -> Array:
    """Return the inverse of a positive matrix whose columns differ much in size."""
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    values, vectors = symmetric_eigen(G / size / size[:, None])
    values = np.where(values > 1e-13 * values[-1], values, np.inf)
    inverse: Array = (vectors / values) @ vectors.T / size / size[:, None]
    return inverse
