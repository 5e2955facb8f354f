"""Consistency: which bodies a fit has, what they were taken for, and what they cannot exceed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.errors import ConfigError
from safe_sysid.model.inertia import from_pseudo_inertia, pseudo_inertia
from safe_sysid.model.robot_model import RobotModel

ROUNDEST = 1e-4  # of the largest eigenvalue: a prior is not flatter, whatever its CAD file says


@dataclass(frozen=True, eq=False)
class Consistency:
    """Physical limits of the parameters x of a fit.

    `weight` times tr(J0^-1 J) - log det(J0^-1 J) pulls every body towards its prior, where the
    data leave it open; rows of the fit have unit variance, so 1 is a mild opinion.
    """

    bodies: tuple[slice, ...]  # ten columns each
    priors: Array  # (bodies, 4, 4) pseudo-inertias J0
    weight: float
    nonnegative: IntArray  # columns of friction and armature
    largest_mass: Array | None = None  # (bodies,) [kg]
    within: Array | None = None  # (bodies, 4, 4) Q of ellipsoids that contain the bodies

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight < np.inf:
            raise ConfigError(f'prior weight is {self.weight}, it has to be 0 or more')
        if self.priors.shape != (len(self.bodies), 4, 4):
            raise ConfigError(f'{len(self.bodies)} bodies and priors of {self.priors.shape}')

    def eigenvalues(self, x: Array) -> Array:
        """Of J0^-1 J for every body, (bodies, 4); above 0 for bodies that can exist."""
        values = [
            np.linalg.eigvalsh((U := whitening(J0)) @ pseudo_inertia(x[body]) @ U.T)
            for body, J0 in zip(self.bodies, self.priors, strict=True)
        ]
        return np.array(values).reshape(-1, 4)

    def pull(self, x: Array) -> float:
        """Return what the prior adds to the cost; infinite for a body that cannot exist."""
        if self.weight == 0.0:
            return 0.0
        values = self.eigenvalues(x)
        if not (values > 0.0).all():
            return np.inf
        return self.weight * float(np.sum(values - np.log(values)))

    def trace_slope(self, size: int) -> Array:
        """Return derivative of the sum of all tr(J0^-1 J) by x."""
        slope = np.zeros(size)
        basis = pseudo_inertia(np.eye(10))
        for body, J0 in zip(self.bodies, self.priors, strict=True):
            slope[body] = np.einsum('ij,kji->k', np.linalg.inv(J0), basis)
        return slope

    def linear_bounds(self, size: int) -> tuple[Array, Array]:
        """G, h with G x <= h."""
        rows, limits = [-np.eye(size)[self.nonnegative]], [np.zeros(len(self.nonnegative))]
        basis = pseudo_inertia(np.eye(10))
        for index, body in enumerate(self.bodies):
            if self.largest_mass is not None:
                row = np.zeros((1, size))
                row[0, body.start] = 1.0
                rows.append(row)
                limits.append(self.largest_mass[index : index + 1])
            if self.within is not None:
                row = np.zeros((1, size))
                row[0, body] = -np.einsum('ij,kji->k', self.within[index], basis)
                rows.append(row)
                limits.append(np.zeros(1))
        return np.concatenate(rows), np.concatenate(limits)


def consistency_of(model: RobotModel, columns: FitColumns, weight: float) -> Consistency:
    """Every body of an arm, pulled towards what its description says."""
    bodies = tuple(model.layout.inertial(i) for i in range(model.n))
    priors = np.array([_rounded(model.theta[body]) for body in bodies])
    return Consistency(bodies, priors, weight, columns.nonnegative)


def ellipsoid(center: Array, half_axes: Array) -> Array:
    """Q with tr(J Q) >= 0 for every body inside an ellipsoid along the axes of its frame."""
    A = np.diag(1.0 / half_axes**2)
    Q = np.empty((4, 4))
    Q[:3, :3] = -A
    Q[:3, 3] = Q[3, :3] = A @ center
    Q[3, 3] = 1.0 - center @ A @ center
    return Q


def ellipsoids_of(model: RobotModel, margin: float) -> Array:
    """Ellipsoid around the capsules of every body, widened by a margin [m], (n, 4, 4).

    It goes through the corners of the box around the capsules, so it holds all that they hold.
    """
    capsules, around = model.capsules, []
    for i in range(model.n):
        own = capsules.joint == i
        if not own.any():
            raise ConfigError(
                f'the body of {model.layout.joint_names[i]} has no capsules in the settings of '
                f'{model.name}, so it can not be bound to lie in them'
            )
        ends = np.stack([capsules.a[own], capsules.b[own]])
        radius = capsules.radius[own][:, None] + margin
        lower, upper = (ends - radius).min(axis=(0, 1)), (ends + radius).max(axis=(0, 1))
        around.append(ellipsoid(0.5 * (lower + upper), np.sqrt(3.0) * 0.5 * (upper - lower)))
    return np.array(around)


def whitening(J0: Array) -> Array:
    """U with U J0 U' = 1."""
    inverse: Array = np.linalg.inv(np.linalg.cholesky(J0))
    return inverse


def _rounded(phi: Array) -> Array:
    """Pseudo-inertia of a body, with eigenvalues that are not too far apart."""
    values, vectors = np.linalg.eigh(pseudo_inertia(phi))
    floor = ROUNDEST * max(float(values[-1]), 1e-6)
    J: Array = (vectors * np.maximum(values, floor)) @ vectors.T
    return pseudo_inertia(from_pseudo_inertia(J))
