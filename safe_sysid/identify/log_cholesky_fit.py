"""Physically consistent least-squares fit of theta_e, eq. (25), the nominal parameters.

Everything happens in coordinates in which the reference body is the identity: its pseudo-inertia
is U U', and J = U J' U' is a linear map phi = A phi' that keeps consistent bodies consistent. So
units and the size of the payload do not matter to the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.identify.observation import Observation
from safe_sysid.ipopt_library import cyipopt
from safe_sysid.model import log_cholesky
from safe_sysid.model.inertia import from_pseudo_inertia, is_consistent, pseudo_inertia

LEAST_MASS = 1e-3  # [kg] of a reference body
REACH = 1.0  # [m] its centre of mass is no farther from the joint
LEAST_GYRATION = 0.01  # [m] a radius of gyration below was not meant: nobody gave an inertia
USUAL_GYRATION = 0.05  # [m] taken instead
MARGIN = 1e-7  # smallest by largest eigenvalue of a body that is taken as it is
START = 1e-2  # the same for the body Ipopt starts from: further in, where gradients are not small
LEAST_SHARE = 1e-3  # no row counts as if its delta was less than this share of the largest
PULL = 0.1  # of the prior, where it is felt: as a measurement of it with an error of 10 times 1
TIME_IS_UP = -5  # status of Ipopt after `max_wall_time`
# Of eta' (mass, radii of gyration, tilts relative to the reference): the cost may fall for ever
# towards a body that can't quite exist; e^-9 is as near to it as eigenvalues can be told from 0.
NO_CLOCK = 1e20  # [s] which Ipopt takes for none
LIMITS = np.array([7.0, 9.0, 9.0, 9.0, 1e3, 1e3, 1e3, 1e3, 1e3, 1e3])


class FitOutcome(Enum):
    """Where the fitted parameters come from, in words for the operator."""

    LEAST_SQUARES = 'the least-squares solution is physically consistent'
    SOLVED = 'least squares is not physically consistent; Ipopt found the best body that is'
    UNDETERMINED = (
        'the data do not determine the body; what they leave open is taken from the prior'
    )
    STOPPED_EARLY = 'stopped early: the best physically consistent body so far'
    OUT_OF_TIME = 'stopped by the clock: the best body so far, another on a busier machine'


@dataclass(frozen=True, eq=False)
class FitResult:
    """A physically consistent body, in both coordinates, and how it was found."""

    phi: Array  # (10,) inertial parameters
    eta: Array  # (10,) their log-Cholesky coordinates
    cost: float  # 1/2 sum of ((Y_e phi - U) / delta)^2
    outcome: FitOutcome
    undetermined: int  # directions of phi that the data leave open


def fit(
    observation: Observation,
    theta_r: Array,
    prior: Array,
    iterations: int = 500,
    seconds: float = NO_CLOCK,
    uncertain: Array | None = None,
) -> FitResult:
    """Body that explains the rows best; each residual is divided by the delta of its row.

    `prior` is any (10,) guess of theta_e. A direction is determined by the data if a change as
    large as the prior body would be seen over the deltas of all rows; in the others the prior
    counts as a rough measurement. theta_r is exact, or `uncertain` by this much: it is fitted
    too, as if it had been measured with such an error. For equal weights, pass an observation
    whose deltas are equal. Ipopt stops after `iterations`, or `seconds` as the last resort.
    """
    A = _from_reference(reference_body(prior))
    R, c, floor = _reduced(observation, theta_r, A, uncertain)
    problem, undetermined = _determined(R, c)
    phi, outcome = _best_body(problem, iterations, seconds)
    if undetermined and outcome not in (FitOutcome.STOPPED_EARLY, FitOutcome.OUT_OF_TIME):
        outcome = FitOutcome.UNDETERMINED
    phi = _strictly_consistent(phi, A)
    residual = R @ phi - c
    return FitResult(
        phi=A @ phi,
        eta=log_cholesky.coordinates(A @ phi),
        cost=0.5 * float(residual @ residual) + floor,
        outcome=outcome,
        undetermined=undetermined,
    )


def rehearse() -> None:
    """Use Ipopt once: most fits do without, and the first with it reads 4 MB of libraries."""
    _best_body(_Problem(np.eye(10), -_IDENTITY), iterations=500, seconds=NO_CLOCK)


def reference_body(phi: Array) -> Array:
    """Return a consistent body near phi, mass and first moment kept if possible, (10,)."""
    J = pseudo_inertia(np.asarray(phi, dtype=float))
    mass = max(J[3, 3], LEAST_MASS)
    first = J[:3, 3] * min(1.0, mass * REACH / max(float(np.linalg.norm(J[:3, 3])), 1e-300))
    about_com = J[:3, :3] - np.outer(first, first) / mass
    values, vectors = np.linalg.eigh(about_com)
    meant = values >= mass * LEAST_GYRATION**2
    about_com = (vectors * np.where(meant, values, mass * USUAL_GYRATION**2)) @ vectors.T
    J[:3, :3] = about_com + np.outer(first, first) / mass
    J[:3, 3] = J[3, :3] = first
    J[3, 3] = mass
    return from_pseudo_inertia(J)


_IDENTITY = from_pseudo_inertia(np.eye(4))
_LOWER = np.tril_indices(10)


def _from_reference(reference: Array) -> Array:
    """Return a with phi = A phi', (10, 10)."""
    J = pseudo_inertia(reference)
    U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
    bodies = U @ pseudo_inertia(np.eye(10)) @ U.T
    A: Array = from_pseudo_inertia(bodies).T
    return A


def _reduced(
    observation: Observation, theta_r: Array, A: Array, uncertain: Array | None
) -> tuple[Array, Array, float]:
    """R, c and a constant with cost = 1/2 |R phi' - c|^2 + constant; R is (10, 10).

    The cost is the least over theta_r, where that is uncertain.
    """
    rows = np.hstack([observation.Y_e @ A, observation.response(theta_r)[:, None]])
    known = np.zeros(0) if uncertain is None else uncertain
    if len(known):
        rows = np.hstack([observation.Y_r * known, rows])
    rows /= _errors(observation.delta)[:, None]
    below = np.eye(len(known) + 11, len(known) + 11)
    below[len(known) :] = 0.0
    rows = np.vstack([rows, below])
    if not np.isfinite(rows).all():
        raise MeasurementError('Y_e, Y_r theta_r and b have to be finite to fit a body')
    triangle = np.linalg.qr(rows).R[len(known) :, len(known) :]
    return triangle[:10, :10], triangle[:10, 10], 0.5 * float(triangle[10, 10] ** 2)


def _errors(delta: Array) -> Array:
    """delta, but a row that is said to be exact does not outvote all others."""
    finite = delta[np.isfinite(delta)]
    least = LEAST_SHARE * float(finite.max(initial=0.0))
    return np.maximum(delta, max(least, 1e-30))


def _determined(R: Array, c: Array) -> tuple[_Problem, int]:
    """Return the cost in principal directions, pulled to the reference where they are open."""
    left, values, right = np.linalg.svd(R)
    seen = float(np.linalg.norm(_IDENTITY)) * values  # change of the rows, in deltas
    rounding = 1e3 * float(np.finfo(float).eps) * seen[0]
    is_open = seen <= max(1.0, rounding)
    pull = np.where(is_open, PULL, 0.0)
    size = np.maximum(np.hypot(values, pull), 1e-300)
    target = (values * (left.T @ c) + pull**2 * (right @ _IDENTITY)) / size
    return _Problem(size[:, None] * right, target), int(is_open.sum())


class _Problem:
    """1/2 |R P(eta') - c|^2, scaled to curvatures of at most about 1, with derivatives."""

    def __init__(self, R: Array, c: Array) -> None:
        self.R = R
        self.c = c
        self.scale = 1.0 / float(np.linalg.norm(R, 2)) ** 2
        self.best = _IDENTITY
        self.lowest = self.cost(_IDENTITY)

    def cost(self, phi: Array) -> float:
        """Scaled cost of a body."""
        residual = self.R @ phi - self.c
        return 0.5 * self.scale * float(residual @ residual)

    def objective(self, eta: Array) -> float:
        """Cost, and a note of the best body so far."""
        phi = log_cholesky.parameters(eta)
        cost = self.cost(phi)
        if cost < self.lowest:
            self.best, self.lowest = phi, cost
        return cost

    def gradient(self, eta: Array) -> Array:
        """Gradient of the cost."""
        residual = self.R @ log_cholesky.parameters(eta) - self.c
        slope: Array = self.scale * (log_cholesky.jacobian(eta).T @ (self.R.T @ residual))
        return slope

    def curvature(self, eta: Array) -> Array:
        """Hessian of the cost, eq. (43), (10, 10)."""
        residual = self.R @ log_cholesky.parameters(eta) - self.c
        slope = self.R @ log_cholesky.jacobian(eta)
        of_map = np.einsum('k,kij->ij', self.R.T @ residual, log_cholesky.second_derivatives(eta))
        curvature: Array = self.scale * (slope.T @ slope + of_map)
        return curvature

    def hessianstructure(self) -> tuple[IntArray, IntArray]:
        """Ipopt reads the lower triangle."""
        return _LOWER

    def hessian(self, eta: Array, _multipliers: Array, factor: float) -> Array:
        """Lower triangle of the Hessian, row by row."""
        triangle: Array = factor * self.curvature(eta)[_LOWER]
        return triangle


def _best_body(problem: _Problem, iterations: int, seconds: float) -> tuple[Array, FitOutcome]:
    """phi' of the best body, with an eigenvalue to spare."""
    free = np.asarray(np.linalg.lstsq(problem.R, problem.c, rcond=None)[0], dtype=float)
    if _roundness(free) > MARGIN:
        return free, FitOutcome.LEAST_SQUARES
    starts = [_rounded(free), _IDENTITY]
    start = log_cholesky.coordinates(min(starts, key=problem.cost))
    solver = cyipopt.Problem(n=10, m=0, problem_obj=problem, lb=-LIMITS, ub=LIMITS)
    for option, value in {
        'print_level': 0,
        'sb': 'yes',
        'linear_solver': 'mumps',
        'tol': 1e-12,
        'acceptable_iter': 0,  # its looser tolerance is met where the map is flat, far from done
        'bound_relax_factor': 0.0,
        'max_iter': int(iterations),
        'max_wall_time': float(seconds),
    }.items():
        solver.add_option(option, value)
    _, information = solver.solve(np.clip(start, -LIMITS, LIMITS))
    if information['status'] == TIME_IS_UP:
        return problem.best, FitOutcome.OUT_OF_TIME
    solved = information['status'] == 0
    return problem.best, FitOutcome.SOLVED if solved else FitOutcome.STOPPED_EARLY


def _rounded(phi: Array) -> Array:
    """Body near phi with every eigenvalue at least START times the largest."""
    values, vectors = np.linalg.eigh(pseudo_inertia(phi))
    least = START * max(values[-1], START)  # all eigenvalues may be negative
    return from_pseudo_inertia((vectors * np.maximum(values, least)) @ vectors.T)


def _strictly_consistent(phi: Array, A: Array) -> Array:
    """phi', moved towards the reference body as little as rounding errors of A phi' ask for."""
    for share in (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1):
        body = (1.0 - share) * phi + share * _IDENTITY
        if _roundness(body) > 1e-12 and _has_coordinates(A @ body):
            return body
    return _IDENTITY


def _has_coordinates(phi: Array) -> bool:
    if not is_consistent(phi):
        return False
    try:
        return bool(np.isfinite(log_cholesky.coordinates(phi)).all())
    except BoundError:  # the factorisation rounds differently from the eigenvalues
        return False


def _roundness(phi: Array) -> float:
    """Smallest by largest eigenvalue of the pseudo-inertia; above 0 for a consistent body."""
    values = np.linalg.eigvalsh(pseudo_inertia(phi))
    return float(values[0] / max(abs(values[0]), values[-1]))
