"""How far base parameters and predicted torques may be off: covariance with coloured residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.torque_rows import TorqueRows
from safe_sysid.identifiability.base_parameters import BaseParameters
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

LAG = 1.0  # [s] errors of the model are taken as independent when so far apart
ALONE = 1e-9  # share of any other column in a base parameter that is one column alone
DRAWS = 16  # of simulated noise
UNTOLD = 1e-12  # of the largest eigenvalue of the information, columns of length 1: rounding
PART = 1e-6  # of a direction that no row shows; entries below are rounding


@dataclass(frozen=True, eq=False)
class FitUncertainty:
    """Covariance of base parameters, from residuals as they are."""

    base: BaseParameters
    covariance: Array  # (b, b)
    white: Array  # (b, b) the same if residuals were independent
    factor: Array  # (n,) residuals of a joint over noise, at low frequencies; 1 for pure noise
    seen: AnyArray  # (b,) columns that are not 0 in all rows
    told: AnyArray  # (b,) those of them that have no part in a combination that no row shows

    def deviation(self) -> Array:
        """Return standard deviation of every base parameter, (b,); nan where it is not told."""
        spread = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.told, spread, np.nan)

    def deviation_alone(self) -> dict[int, float]:
        """Return standard deviation of the told columns that stand for themselves alone."""
        spread = self.deviation()
        regrouped = self.base.regrouping[:, self.base.others]
        alone = np.abs(regrouped).max(axis=1, initial=0.0) < ALONE
        return {
            int(column): float(spread[row])
            for row, column in enumerate(self.base.columns)
            if alone[row] and self.told[row]
        }

    def torque_deviation(self, Y: Array) -> Array:
        """Return standard deviation of the torque that rows (N, n, p) predict, (N, n)."""
        rows = Y[:, :, self.base.columns]
        variance = np.einsum('tji,ik,tjk->tj', rows, self.covariance, rows)
        spread: Array = np.sqrt(np.maximum(variance, 0.0))
        return spread

    def worst_combinations(self, scale: Array, count: int) -> list[tuple[float, Array]]:
        """Directions of the base parameters that are least known, with their relative deviation.

        `scale` (b,) is the size a change of each must have to matter; directions are in units of
        it, so 1 means: not known at all. Columns that are 0 in all rows have no part in them.
        """
        seen = np.flatnonzero(self.seen)
        relative = self.covariance[np.ix_(seen, seen)] / np.outer(scale[seen], scale[seen])
        values, vectors = symmetric_eigen(relative)
        directions = np.zeros((len(seen), len(scale)))
        directions[:, seen] = vectors.T
        last = len(values) - 1
        return [
            (float(np.sqrt(max(values[i], 0.0))), directions[i])
            for i in range(last, max(last - count, -1), -1)
        ]


def uncertainty_of(
    base: BaseParameters, rows: TorqueRows, residual: Array, kept: AnyArray
) -> FitUncertainty:
    """Covariance of a weighted least-squares fit of rows with residuals (N, n).

    Noise is white at the sampling rate, so behind the filter its correlation is known; joints have
    noises of their own. What residuals show beyond that at low frequencies, as errors of the model
    do, enters as a factor per joint. It is found by comparing with simulated noise, because a fit
    absorbs much of the low frequencies. Rows that were left out count as missing.
    """
    n = rows.tau.shape[1]
    lags = min(max(int(rows.rate * LAG), 12), len(rows) // 10)
    used = np.maximum(kept.sum(axis=0), 1)
    e = np.where(kept, residual, 0.0)
    variance = np.sum(e**2, axis=0) / np.maximum(used - base.count / n, 1.0)
    variance = np.maximum(variance, 1e-300)
    Y = np.where(kept[:, :, None], rows.Y[:, :, base.columns], 0.0) / np.sqrt(variance)[:, None]
    information = np.einsum('tji,tjk->ik', Y, Y, optimize=True)
    inverse = _inverse(information)
    factor = _excess(Y, inverse, e / np.sqrt(variance), rows, kept)
    correlation = rows.correlation(lags)
    spread = np.zeros_like(information)
    for j in range(n):
        spread += factor[j] * _correlated(Y[:, j], correlation)
    seen: AnyArray = np.diag(information) > 0.0
    return FitUncertainty(
        base, inverse @ spread @ inverse, inverse, factor, seen, _told(information, seen)
    )


def _told(information: Array, seen: AnyArray) -> AnyArray:
    """Columns (b,) that have no part in what an information matrix knows nothing of."""
    values, vectors = symmetric_eigen(_of_unit_columns(information, seen))
    nothing = vectors[:, values < UNTOLD * values.max(initial=0.0)]
    told: AnyArray = seen.copy()
    told[seen] = np.linalg.norm(nothing, axis=1) < PART
    return told


def _of_unit_columns(information: Array, seen: AnyArray) -> Array:
    """Information of the seen columns, each of length 1."""
    size = np.sqrt(np.diag(information)[seen])
    scaled: Array = information[np.ix_(seen, seen)] / np.outer(size, size)
    return scaled


def _correlated(Y: Array, correlation: Array) -> Array:
    """Sum over s, t of Y_s' Y_t correlation(s - t)."""
    total: Array = Y.T @ Y
    for lag, value in enumerate(correlation[1:], start=1):
        if abs(value) > 1e-6:
            product = Y[lag:].T @ Y[: len(Y) - lag]
            total += value * (product + product.T)
    return total


def _excess(Y: Array, inverse: Array, e: Array, rows: TorqueRows, kept: AnyArray) -> Array:
    """Low-frequency power of residuals over that of noise that was fitted alike, at least 1."""
    lags = min(max(int(rows.rate * LAG), 12), len(rows) // 10)
    expected = np.zeros(Y.shape[1])
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        noise = np.where(kept, rows.noise(rng), 0.0)
        noise -= Y @ (inverse @ np.einsum('tji,tj->i', Y, noise))
        expected += _low_power(noise, lags) / DRAWS
    factor: Array = np.maximum(_low_power(e, lags) / np.maximum(expected, 1e-12), 1.0)
    return factor


def _low_power(e: Array, lags: int) -> Array:
    """Sum of the covariances between rows up to `lags` apart, tapered: never negative."""
    total = np.sum(e**2, axis=0)
    for lag in range(1, lags + 1):
        total += 2.0 * (1.0 - lag / (lags + 1.0)) * np.sum(e[lag:] * e[: len(e) - lag], axis=0)
    power: Array = total / len(e)
    return power


def _inverse(information: Array) -> Array:
    """Inverse of a positive definite matrix whose columns may have very different sizes.

    Of a column that is 0 nothing is known; it is 0 in the inverse too.
    """
    seen = np.diag(information) > 0.0
    size = np.sqrt(np.diag(information)[seen])
    values, vectors = symmetric_eigen(_of_unit_columns(information, seen))
    values = np.maximum(values, 1e-15 * values.max(initial=0.0))
    inverse = np.zeros_like(information)
    inverse[np.ix_(seen, seen)] = (vectors / values) @ vectors.T / np.outer(size, size)
    return inverse
