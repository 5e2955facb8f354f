"""The same physically consistent fit without constraints: log-Cholesky coordinates and descent.

A second way to the optimum of `sdp_fit`: friction and armature stay at 0 or above by projection,
everything else cannot leave the bodies that exist. It needs a prior, which keeps the optimum away
from bodies without volume, where the coordinates go to infinity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.compressed import Compressed
from safe_sysid.calibrate.consistency import Consistency
from safe_sysid.errors import BoundError
from safe_sysid.model import log_cholesky
from safe_sysid.model.inertia import from_pseudo_inertia
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

ITERATIONS = 200  # of each part of the path
SETTLED = 1e-10  # decrease a Newton step predicts, relative to the value, that no longer counts
PATH = tuple(10.0**x for x in range(-8, 1))  # shares of the data, from the prior to the fit
FLATTEST = 1e-12  # curvature taken for flat, relative to the largest


@dataclass(frozen=True, eq=False)
class LogCholeskyFit:
    """The best parameters found, and how many steps that took."""

    x: Array  # (p,)
    objective: float  # |R x - z|^2 + rest and the pull of the prior
    iterations: int
    path: Array  # (iterations + 1, p) parameters on the way, the prior first


def log_cholesky_fit(
    data: Compressed, consistency: Consistency, iterations: int = ITERATIONS
) -> LogCholeskyFit:
    """Newton's method along a path on which the data count more and more, from the priors."""
    if not consistency.weight > 0.0:
        raise BoundError('a fit in log-Cholesky coordinates needs a prior weight above 0')
    v: Array | None = None
    path: list[Array] = []
    for share in PATH:
        problem = _Problem(data, consistency, share)
        if v is None:
            v = problem.start()
            path.append(problem.parameters(v))
        for _ in range(iterations):
            moved, settled = _newton_step(problem, v)
            v = v if moved is None else moved
            path.append(problem.parameters(v))
            if settled or moved is None:
                break
    assert v is not None
    return LogCholeskyFit(path[-1], problem.value(v) + data.rest, len(path) - 1, np.array(path))


def _newton_step(problem: _Problem, v: Array) -> tuple[Array | None, bool]:
    """Where a step with the curvature's absolute value leads, and whether that was the last."""
    value = problem.value(v)
    gradient, curvature = problem.slope_and_curvature(v)
    free = ~(problem.bounded & (v <= 0.0) & (gradient > 0.0))
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(curvature))[free], 1e-12))
    values, vectors = symmetric_eigen(curvature[np.ix_(free, free)] * np.outer(scale, scale))
    steep = np.maximum(np.abs(values), FLATTEST * np.abs(values).max())
    direction = np.zeros_like(v)
    direction[free] = -scale * (vectors @ ((vectors.T @ (scale * gradient[free])) / steep))
    expected = -float(gradient @ direction)
    settled = expected < SETTLED * max(abs(value), 1.0)
    length = 1.0
    while length > 1e-12:
        trial = v + length * direction
        trial[problem.bounded] = np.maximum(trial[problem.bounded], 0.0)
        if problem.value(trial) < value - 1e-4 * length * max(expected, 0.0):
            return trial, settled
        length *= 0.5
    return None, True


class _Problem:
    """Objective in v: ten log-Cholesky coordinates per body in place of its ten parameters."""

    def __init__(self, data: Compressed, consistency: Consistency, share: float) -> None:
        self._data, self._consistency, self._share = data, consistency, share
        p = data.R.shape[1]
        self._slope = consistency.trace_slope(p)
        self._norm = sum(float(np.linalg.slogdet(J0)[1]) for J0 in consistency.priors)
        self.bounded: AnyArray = np.zeros(p, dtype=bool)
        self.bounded[consistency.nonnegative] = True

    def start(self) -> Array:
        """Return the priors, and nothing else."""
        v = np.zeros(self._data.R.shape[1])
        for body, J0 in zip(self._consistency.bodies, self._consistency.priors, strict=True):
            v[body] = log_cholesky.coordinates(from_pseudo_inertia(J0))
        return v

    def parameters(self, v: Array) -> Array:
        """Columns x of coordinates v."""
        x: Array = v.copy()
        for body in self._consistency.bodies:
            x[body] = log_cholesky.parameters(v[body])
        return x

    def value(self, v: Array) -> float:
        """Objective without the rest that no x explains."""
        with np.errstate(over='ignore', invalid='ignore'):
            x = self.parameters(v)
            residual = self._data.R @ x - self._data.z
            logarithm = sum(_log_det(v[body]) for body in self._consistency.bodies)
            pull = self._slope @ x - (logarithm - self._norm)
            value = float(self._share * (residual @ residual) + self._consistency.weight * pull)
        return value if np.isfinite(value) else np.inf

    def slope_and_curvature(self, v: Array) -> tuple[Array, Array]:
        """Gradient and Hessian."""
        weight = self._consistency.weight
        residual = self._data.R @ self.parameters(v) - self._data.z
        of_x = np.eye(len(v))
        log_slope = np.zeros_like(v)
        slope = 2.0 * self._share * (self._data.R.T @ residual) + weight * self._slope
        bend = np.zeros_like(of_x)
        for body in self._consistency.bodies:
            of_x[body, body] = log_cholesky.jacobian(v[body])
            second = log_cholesky.second_derivatives(v[body])
            bend[body, body] = np.einsum('k,kij->ij', slope[body], second)
            log_slope[body.start : body.start + 4] = _LOG_SLOPE
        rows = self._data.R @ of_x
        gradient = of_x.T @ slope - weight * log_slope
        return gradient, 2.0 * self._share * rows.T @ rows + bend


_LOG_SLOPE = np.array([8.0, 2.0, 2.0, 2.0])  # log det J = 8 alpha + 2 (d1 + d2 + d3)


def _log_det(eta: Array) -> float:
    return float(_LOG_SLOPE @ eta[:4])
