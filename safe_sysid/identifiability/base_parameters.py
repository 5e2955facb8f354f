"""Base parameters: the combinations of theta that a stacked regressor can tell apart.

A stacked regressor Y (samples x joints as rows, entries of theta as columns) never has full rank:
some changes of theta leave every torque as it is. With S the chosen columns, D the others and
Y[:, D] = Y[:, S] W,

    beta = K_reg theta,  K_reg[:, S] = 1, K_reg[:, D] = W     Y theta = Y[:, S] beta
    theta = E_S beta + R gamma,  R[S] = -W, R[D] = 1          Y R = 0, K_reg R = 0

This is the numerical route: it speaks of one trajectory, and its rank is a decision about singular
values, which are part of the answer. What no trajectory can tell is in `parameter_nullspace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError

TOLERANCE = 1e-8  # of the largest singular value; noise-free regressors have gaps of 1e3 and more


@dataclass(frozen=True)
class RankDecision:
    """Why a rank is what it is: what was still counted, what no longer, and the line between."""

    smallest_accepted: float
    largest_rejected: float
    tolerance: float

    @property
    def gap(self) -> float:
        """Smallest accepted over largest rejected value; below 100 a rank means little."""
        return self.smallest_accepted / max(self.largest_rejected, 1e-300)

    def __str__(self) -> str:
        return (
            f'smallest accepted value {self.smallest_accepted:.2g}, largest rejected '
            f'{self.largest_rejected:.2g}, tolerance {self.tolerance:.2g}'
        )


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Which entries of theta stand for a combination, and what each combination is made of."""

    columns: IntArray  # (b,) S, ascending
    regrouping: Array  # (b, p) K_reg
    undetectable: Array  # (p, p - b) R: theta + R gamma gives the same torques for every gamma
    decision: RankDecision
    singular_values: Array  # of Y with unit columns, largest first; empty for a structural result

    @property
    def count(self) -> int:
        """Number of base parameters: the rank of Y."""
        return len(self.columns)

    @cached_property
    def others(self) -> IntArray:
        """D: entries of theta that stand for nothing of their own, ascending."""
        return np.delete(np.arange(self.regrouping.shape[1]), self.columns)

    def values(self, theta: Array) -> Array:
        """beta = K_reg theta, (..., p) -> (..., b)."""
        beta: Array = theta @ self.regrouping.T
        return beta

    def theta(self, beta: Array, gamma: Array) -> Array:
        """Return the theta with these base parameters and freedoms, (b,), (p - b,) -> (p,)."""
        theta: Array = self.undetectable @ gamma
        theta[self.columns] += beta
        return theta

    def nearest_theta(self, beta: Array, prior: Array) -> Array:
        """Return the theta with these base parameters that is nearest to a prior."""
        correction, *_ = np.linalg.lstsq(self.regrouping, beta - self.values(prior), rcond=None)
        nearest: Array = prior + correction
        return nearest


def base_parameters(Y: Array, tolerance: float = TOLERANCE) -> BaseParameters:
    """Return base parameters of a stacked regressor by pivoted QR: the best-conditioned columns.

    The triangular factor of Y serves as well as Y itself, when there are too many rows.
    """
    scaled, norms = _unit_columns(_checked(Y), tolerance)
    R, pivots = scipy.linalg.qr(scaled, mode='r', pivoting=True, check_finite=False)
    R = R[: min(R.shape)]
    singular = _singular_values(R, len(norms))
    rank = int(np.sum(singular > tolerance * max(singular[0], 1e-300)))
    W = scipy.linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
    chosen, others = pivots[:rank], pivots[rank:]
    return _assembled(chosen, others, _unscaled(W, norms, chosen, others), singular, tolerance)


def base_parameters_in_order(
    Y: Array, order: Sequence[int] | IntArray, tolerance: float = TOLERANCE
) -> BaseParameters:
    """Return base parameters of a stacked regressor: the first independent columns in an order.

    The conditioning is that of the order; what it buys is that the choice is known beforehand.
    """
    scaled, norms = _unit_columns(_checked(Y), tolerance)
    order = np.asarray(order, dtype=np.int64)
    if sorted(order.tolist()) != list(range(len(norms))):
        raise MeasurementError(f'the order of columns has to name each of {len(norms)} once')
    R = scipy.linalg.qr(scaled[:, order], mode='r', check_finite=False)[0]
    R = R[: min(R.shape)]
    singular = _singular_values(R, len(norms))
    chosen, others = _first_independent(R, tolerance * max(singular[0], 1e-300))
    W, *_ = np.linalg.lstsq(R[:, chosen], R[:, others], rcond=None)
    chosen, others = order[chosen], order[others]
    return _assembled(chosen, others, _unscaled(W, norms, chosen, others), singular, tolerance)


def from_dependence(
    chosen: IntArray, others: IntArray, W: Array, decision: RankDecision, singular: Array
) -> BaseParameters:
    """Return base parameters from columns S, others D, and W with Y[:, D] = Y[:, S] W."""
    b, p = len(chosen), len(chosen) + len(others)
    rows, frees = np.argsort(chosen), np.argsort(others)
    chosen, others, W = chosen[rows], others[frees], W[np.ix_(rows, frees)]
    regrouping, undetectable = np.zeros((b, p)), np.zeros((p, p - b))
    regrouping[:, chosen], regrouping[:, others] = np.eye(b), W
    undetectable[chosen], undetectable[others] = -W, np.eye(p - b)
    return BaseParameters(chosen, regrouping, undetectable, decision, singular)


def _checked(Y: Array) -> Array:
    Y = np.asarray(Y, dtype=float)
    if Y.ndim != 2 or 0 in Y.shape:
        raise MeasurementError(
            f'the stacked regressor has shape {Y.shape}; rows of torques and columns of '
            'parameters are needed'
        )
    if not np.isfinite(Y).all():
        row, column = np.argwhere(~np.isfinite(Y))[0]
        raise MeasurementError(
            f'the stacked regressor is {Y[row, column]} in row {row}, column {column}; '
            'it has to be finite'
        )
    return Y


def _unit_columns(Y: Array, tolerance: float) -> tuple[Array, Array]:
    """Columns of length 1, so that units don't decide the rank; those of rounding noise are 0."""
    norms = np.linalg.norm(Y, axis=0)
    silent = norms <= tolerance * norms.max()
    norms = np.where(silent, 1.0, norms)
    return np.where(silent, 0.0, Y / norms), norms


def _singular_values(R: Array, columns: int) -> Array:
    """Singular values, filled up with the zeros of missing rows."""
    found = scipy.linalg.svdvals(R, check_finite=False)
    return np.concatenate([found, np.zeros(columns - len(found))])


def _first_independent(R: Array, threshold: float) -> tuple[IntArray, IntArray]:
    """Columns that add a direction to those before them, and the rest."""
    Q = np.zeros((R.shape[0], 0))
    chosen, others = [], []
    for j in range(R.shape[1]):
        rest = R[:, j]
        for _ in range(2):  # twice is enough
            rest = rest - Q @ (Q.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > threshold:
            Q = np.column_stack([Q, rest / size])
            chosen.append(j)
        else:
            others.append(j)
    return np.array(chosen, dtype=np.int64), np.array(others, dtype=np.int64)


def _unscaled(W: Array, norms: Array, chosen: IntArray, others: IntArray) -> Array:
    return W * norms[others] / norms[chosen][:, None]


def _assembled(
    chosen: IntArray, others: IntArray, W: Array, singular: Array, tolerance: float
) -> BaseParameters:
    rank = len(chosen)
    decision = RankDecision(
        smallest_accepted=float(singular[rank - 1]) if rank else np.inf,
        largest_rejected=float(singular[rank]) if rank < len(singular) else 0.0,
        tolerance=tolerance * float(singular[0]),
    )
    return from_dependence(chosen, others, W, decision, singular)
