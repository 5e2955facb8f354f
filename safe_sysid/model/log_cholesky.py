"""Unconstrained coordinates of a physically consistent body, with all first two derivatives.

eta = [alpha, d1, d2, d3, s12, s13, s23, s14, s24, s34], eqs. (16), (33)-(35):
J = U U' with U = e^alpha V, V upper triangular with diagonal (e^d1, e^d2, e^d3, 1).
Every eta gives J > 0, and every J > 0 has one eta.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.model.inertia import from_pseudo_inertia, pseudo_inertia

_ROW = np.array([0, 1, 2, 0, 0, 1, 0, 1, 2])  # place in V of d1..d3, s12, s13, s23, s14, s24, s34
_COLUMN = np.array([0, 1, 2, 1, 2, 2, 3, 3, 3])


def parameters(eta: Array) -> Array:
    """P(eta): the ten inertial parameters, (10,) -> (10,)."""
    U = np.exp(eta[0]) * _factor(eta)
    return from_pseudo_inertia(U @ U.T)


def coordinates(phi: Array) -> Array:
    """P^-1(phi): the coordinates of a consistent body."""
    J = pseudo_inertia(np.asarray(phi, dtype=float))
    try:
        # an upper factor is a lower one with rows and columns in reverse order
        U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    except np.linalg.LinAlgError as error:
        smallest = np.linalg.eigvalsh(J)[0]
        raise BoundError(
            f'no body has the inertial parameters {np.asarray(phi).tolist()}: the smallest '
            f'eigenvalue of the pseudo-inertia is {smallest:.3g}, it has to be more than 0'
        ) from error
    V = U / U[3, 3]
    eta: Array = np.concatenate(
        [np.log([U[3, 3], V[0, 0], V[1, 1], V[2, 2]]), V[_ROW[3:], _COLUMN[3:]]]
    )
    return eta


def jacobian(eta: Array) -> Array:
    """dP/deta, (10, 10); column i is the derivative by eta_i."""
    columns: Array = from_pseudo_inertia(_first_derivatives(eta)).T
    return columns


def second_derivatives(eta: Array) -> Array:
    """d2P/deta_i deta_j, (10, 10, 10) with index [parameter, i, j]."""
    V, slopes = _factor(eta), _factor_slopes(eta)
    first = _first_derivatives(eta)
    second = np.zeros((10, 10, 4, 4))
    second[0, :] = second[:, 0] = 2.0 * first
    mixed = slopes[:, None] @ np.swapaxes(slopes, 1, 2)
    second[1:, 1:] = np.exp(2.0 * eta[0]) * (mixed + np.swapaxes(mixed, 2, 3))
    for i in range(3):  # e^d is its own derivative
        own = slopes[i] @ V.T
        second[i + 1, i + 1] += np.exp(2.0 * eta[0]) * (own + own.T)
    derivatives: Array = np.moveaxis(from_pseudo_inertia(second), -1, 0)
    return derivatives


def _factor(eta: Array) -> Array:
    V = np.eye(4)
    V[_ROW, _COLUMN] = np.concatenate([np.exp(eta[1:4]), eta[4:]])
    return V


def _factor_slopes(eta: Array) -> Array:
    """dV/deta_i for d1 .. s34, (9, 4, 4)."""
    slopes = np.zeros((9, 4, 4))
    slopes[np.arange(9), _ROW, _COLUMN] = np.concatenate([np.exp(eta[1:4]), np.ones(6)])
    return slopes


def _first_derivatives(eta: Array) -> Array:
    """dJ/deta_i, (10, 4, 4)."""
    V = _factor(eta)
    half = _factor_slopes(eta) @ V.T
    of_V = np.concatenate([2.0 * (V @ V.T)[None], half + np.swapaxes(half, 1, 2)])
    return of_V * float(np.exp(2.0 * eta[0]))
