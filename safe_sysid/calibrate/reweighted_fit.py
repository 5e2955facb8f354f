"""Iteratively reweighted least squares: noise of each joint from the data, outliers left out.

How the parameters are found is the caller's business: base parameters, a semidefinite program or
a fit with closed chains all solve a `Compressed` problem with rows of unit variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.compressed import Compressed, compress, stacked
from safe_sysid.errors import MeasurementError
from safe_sysid.identifiability.base_parameters import BaseParameters

Solver = Callable[[Compressed], Array]

PASSES = 15  # of the outlier loop
COVARIANCE_STEPS = 20
SETTLED = 1e-3  # relative change of every sigma
LEAST_SIGMA = 1e-9  # of the rms torque: simulated data may leave no residual at all


@dataclass(frozen=True, eq=False)
class ReweightedFit:
    """Parameters, the noise they leave, and which samples had no part in them."""

    x: Array  # (p,)
    sigma: Array  # (n,) [N m] of the residuals of each joint
    kept: AnyArray  # (N, n) bool
    data: Compressed  # all kept rows, divided by sigma

    @property
    def outliers(self) -> int:
        """Number of rows left out by the reweighting."""
        return int(self.kept.size - self.kept.sum())


def base_solver(base: BaseParameters) -> Solver:
    """Least squares of the base parameters; entries that stand for nothing are 0."""

    def solve(data: Compressed) -> Array:
        x = np.zeros(data.R.shape[1])
        columns = data.R[:, base.columns]
        norms = np.linalg.norm(columns, axis=0)
        norms[norms == 0.0] = 1.0
        scaled, *_ = np.linalg.lstsq(columns / norms, data.z, rcond=None)
        x[base.columns] = scaled / norms
        return x

    return solve


def reweighted_fit(
    Y: Array, tau: Array, solve: Solver, parameters: int, outlier: float
) -> ReweightedFit:
    """Fit rows (N, n, p) to torques (N, n); `parameters` of them are determined by the data.

    A row whose residual exceeds `outlier` times the noise of its joint is left out for good, so
    the loop ends; infinity keeps all of them.
    """
    if len(tau) * tau.shape[1] <= parameters:
        raise MeasurementError(
            f'{len(tau)} samples of {tau.shape[1]} joints can not determine {parameters} '
            'parameters'
        )
    kept = np.ones(tau.shape, dtype=bool)
    sigma = np.maximum(np.std(tau, axis=0), LEAST_SIGMA)
    fit = _settled(Y, tau, kept, sigma, solve, parameters)
    for _ in range(PASSES):
        within = np.abs(tau - Y @ fit.x) <= outlier * fit.sigma
        if np.array_equal(kept & within, kept):
            break
        kept = kept & within
        fit = _settled(Y, tau, kept, fit.sigma, solve, parameters)
    return fit


def _settled(
    Y: Array, tau: Array, kept: AnyArray, sigma: Array, solve: Solver, parameters: int
) -> ReweightedFit:
    """Parameters and noise that agree with each other, for given rows."""
    n = tau.shape[1]
    joints = [compress(Y[kept[:, j], j], tau[kept[:, j], j]) for j in range(n)]
    least = LEAST_SIGMA * float(np.sqrt(np.mean(tau**2)) + 1e-300)
    for _ in range(COVARIANCE_STEPS):
        data = _whitened(joints, sigma)
        x = solve(data)
        freedom = np.array([max(joint.count - parameters / n, 1.0) for joint in joints])
        squares = np.array([joint.cost(x) for joint in joints])
        renewed = np.maximum(np.sqrt(squares / freedom), least)
        change = float(np.max(np.abs(renewed / sigma - 1.0)))
        sigma = renewed
        if change < SETTLED:
            break
    return ReweightedFit(x, sigma, kept, _whitened(joints, sigma))


def _whitened(joints: list[Compressed], sigma: Array) -> Compressed:
    return stacked([joint.scaled(1.0 / s) for joint, s in zip(joints, sigma, strict=True)])
