"""Information matrix of a motion, a criterion of it, and the derivatives in all samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.excite.criteria import SMALLEST, Criterion
from safe_sysid.excite.observed_columns import ObservedColumns
from safe_sysid.model.dynamics.torque_rows import torque_pullback_into, torque_rows_into
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.symmetric_eigen import symmetric_eigen


class Summary(NamedTuple):
    """A motion by three criteria; H / N with N samples, so that their number does not matter."""

    condition: float
    log_determinant: float
    inverse_trace: float


@dataclass(frozen=True, eq=False)
class Information:
    """Measures motions of one arm by chosen columns, with a noise of the torque per joint."""

    model: RobotModel
    columns: ObservedColumns
    noise: Array  # (n,) standard deviation of the measured torque; ones: not weighted

    def matrix(self, states: Array) -> Array:
        """H = Y' Sigma^-1 Y of samples (3, N, n)."""
        return self._matrix(self._rows(states))

    def eigenvalues(self, states: Array) -> Array:
        """Eigenvalues of H, ascending."""
        values: Array = scipy.linalg.eigvalsh(self.matrix(states), check_finite=False)
        return np.asarray(np.maximum(values, SMALLEST * values[-1]))

    def condition(self, states: Array) -> float:
        """Condition number of the weighted rows."""
        values = self.eigenvalues(states)
        return float(np.sqrt(values[-1] / values[0]))

    def deviations(self, states: Array) -> Array:
        """Return standard deviation of each base parameter that the noise leaves, (p,)."""
        inverse = np.linalg.inv(self.matrix(states))
        return np.sqrt(np.diag(inverse))

    def summary(self, states: Array) -> Summary:
        """Return the figures by which motions are compared."""
        values = self.eigenvalues(states)
        inverse = float((1.0 / values).sum())
        log_det = float(np.log(values / states.shape[1]).sum())
        return Summary(float(np.sqrt(values[-1] / values[0])), log_det, inverse * states.shape[1])

    def value(self, criterion: Criterion, states: Array) -> float:
        """Criterion of a motion."""
        return criterion(self.eigenvalues(states))[0]

    def value_and_slopes(self, criterion: Criterion, states: Array) -> tuple[float, Array]:
        """Criterion of a motion and its derivatives in q, qd, qdd of every sample (3, N, n)."""
        rows = self._rows(states)
        values, vectors = symmetric_eigen(self._matrix(rows))
        value, g = criterion(np.maximum(values, SMALLEST * values[-1]))
        G = (vectors * (2.0 * g)) @ vectors.T
        weights = np.empty_like(rows)
        for k, part in enumerate(self.columns.parts):
            size = len(part)
            scale = self._weight[k]
            np.matmul(rows[k, :, :size], scale * G[self._blocks[k]], out=weights[k, :, :size])
        slopes = np.zeros(states.shape)
        torque_pullback_into(self.model.tree, self.columns.layout, states, weights, slopes)
        return value, slopes

    def _rows(self, states: Array) -> Array:
        rows = np.zeros((self.model.n, states.shape[1], self.columns.width))
        torque_rows_into(self.model.tree, self.columns.layout, states, rows)
        return rows

    def _matrix(self, rows: Array) -> Array:
        H = np.zeros((self.columns.count, self.columns.count))
        for k, part in enumerate(self.columns.parts):
            block = rows[k, :, : len(part)]
            H[self._blocks[k]] += self._weight[k] * (block.T @ block)
        return H

    @cached_property
    def _weight(self) -> Array:
        return np.asarray(self.noise, dtype=float) ** -2.0

    @cached_property
    def _blocks(self) -> list[tuple[AnyArray, ...]]:
        """Where the entries that concern a joint are in H."""
        return [(part[:, None], part[None, :]) for part in self.columns.parts]
