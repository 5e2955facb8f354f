"""What parameters are worth on motions they were not fitted to, and whether errors are noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from safe_sysid.arrays import Array
from safe_sysid.calibrate.torque_rows import TorqueRows

LAGS = 10  # rows; autocorrelations that the test of whiteness looks at


@dataclass(frozen=True, eq=False)
class TorqueError:
    """Errors of predicted torque."""

    relative: float  # |error| / |torque|, all joints together, against the filtered torque
    relative_recorded: float  # the same against the torque as recorded
    rms: Array  # (n,) [N m] against the filtered torque
    rms_recorded: Array  # (n,) [N m] against the torque as recorded
    largest: Array  # (n,) [N m] against the filtered torque
    relative_by_joint: Array  # (n,) against the filtered torque


def torque_error(rows: TorqueRows, x: Array) -> TorqueError:
    """How well factors x of the columns predict the rows."""
    predicted = rows.Y @ x
    filtered, recorded = rows.tau - predicted, rows.recorded - predicted
    size = np.maximum(np.linalg.norm(rows.tau, axis=0), 1e-300)
    return TorqueError(
        relative=float(np.linalg.norm(filtered) / np.linalg.norm(rows.tau)),
        relative_recorded=float(np.linalg.norm(recorded) / np.linalg.norm(rows.recorded)),
        rms=np.sqrt(np.mean(filtered**2, axis=0)),
        rms_recorded=np.sqrt(np.mean(recorded**2, axis=0)),
        largest=np.max(np.abs(filtered), axis=0),
        relative_by_joint=np.linalg.norm(filtered, axis=0) / size,
    )


def likeliness_of_noise(rows: TorqueRows, residual: Array) -> Array:
    """Probability that filtered white noise is as correlated as the residuals are, (n,).

    Ljung and Box's statistic; what it is for noise alone is simulated, because the filter colours
    noise too. Near 0: the residuals hold something that the model does not explain.
    """
    rng = np.random.default_rng(0)
    lags = min(LAGS, len(rows) // 4)
    draws = np.array([_ljung_box(rows.noise(rng), lags) for _ in range(50)])
    mean, spread = draws.mean(axis=0), np.maximum(draws.std(axis=0), 1e-12)
    shape, scale = (mean / spread) ** 2, spread**2 / mean  # a gamma distribution of that spread
    likeliness: Array = gammaincc(shape, _ljung_box(residual, lags) / scale)
    return likeliness


def _ljung_box(e: Array, lags: int) -> Array:
    N = len(e)
    e = e - e.mean(axis=0)
    variance = np.maximum(np.sum(e**2, axis=0), 1e-300)
    total = np.zeros(e.shape[1])
    for lag in range(1, lags + 1):
        total += (np.sum(e[lag:] * e[:-lag], axis=0) / variance) ** 2 / (N - lag)
    statistic: Array = N * (N + 2.0) * total
    return statistic
