"""Bodies within a neighbourhood of their description, as a published identification has them.

    minimise   |R x - z|^2 + rest
    such that  (m - m0)^2 <= alpha, |c - c0|^2 <= beta, |u - u0|^2 <= gamma, |d - d0|^2 <= delta

of every body, with its inertia about the centre of mass I = U D U', u the three entries of the
unit upper triangle U, and d > 0 those of the diagonal D. Masses, U and D make positive definite
inertias, but no triangle inequality: the bodies found need not be ones that can exist. Ipopt
solves it, with the curvature of Gauss and Newton.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.calibrate.compressed import Compressed
from safe_sysid.errors import BoundError
from safe_sysid.ipopt_library import cyipopt
from safe_sysid.model.inertia import from_mass_com_inertia, mass_com_inertia, symmetric_entries

LEAST = 1e-3  # of the described mass and moments: what is left of them at least
ITERATIONS = 100
CONTENT = (0, 1)  # solved, or as well as rounding allows
ROUNDING = 1e-8  # by which Ipopt may leave a neighbourhood, of its radius squared
_BLOCKS = (slice(0, 1), slice(1, 4), slice(4, 7), slice(7, 10))  # of m, c, u and d
_ABOVE = ((0, 1), (0, 2), (1, 2))  # where u stands in U


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """How far the bodies of a fit may be from what they are described as.

    Radii are shares: of the mass, of the size of the body (its centre's distance from the frame
    or its largest radius of gyration, whichever is more), of 1 for the entries of U, and of the
    length of d. Infinity leaves a body free.
    """

    bodies: tuple[slice, ...]  # ten columns each
    described: Array  # (p,) all columns; those of no body start there, and stay free
    radii: tuple[float, float, float, float]  # roots of alpha, beta, gamma and delta
    nonnegative: IntArray  # columns of friction and armature

    def __post_init__(self) -> None:
        if not all(radius > 0.0 for radius in self.radii):
            raise BoundError(f'radii are {self.radii}, each has to be more than 0')
        for body in self.bodies:
            mass, _, inertia = mass_com_inertia(self.described[body])
            if not (mass > 0.0 and np.linalg.eigvalsh(inertia)[0] > 0.0):
                raise BoundError(
                    f'the description has a body of mass {float(mass):.3g} kg without inertia; '
                    'its neighbourhood would be empty'
                )

    def contains(self, x: Array) -> bool:
        """Whether all bodies of x are in it, up to rounding errors of Ipopt."""
        return all(
            float(np.sum(v[block] ** 2)) <= (1.0 + 2.0 * ROUNDING) * radius**2 + ROUNDING
            for body in self.bodies
            for v in [deviations(x[body], self.described[body])]
            for block, radius in zip(_BLOCKS, self.radii, strict=True)
        )


@dataclass(frozen=True, eq=False)
class NeighbourhoodFit:
    """The best bodies found, and the way there."""

    x: Array  # (p,)
    cost: float
    path: Array  # (iterations + 1, p) from the description to x
    solved: bool  # whether Ipopt was content; else x is the best on its way


def neighbourhood_fit(
    data: Compressed, near: Neighbourhood, iterations: int = ITERATIONS
) -> NeighbourhoodFit:
    """Return the parameters that explain the rows best, of bodies in a neighbourhood."""
    problem = _Problem(data, near)
    count = len(problem.limited)
    solver = cyipopt.Problem(
        n=len(near.described),
        m=count,
        problem_obj=problem,
        lb=problem.lower,
        ub=np.full(len(near.described), np.inf),
        cl=np.full(count, -np.inf),
        cu=np.ones(count),
    )
    for option, value in {
        'print_level': 0,
        'sb': 'yes',
        'linear_solver': 'mumps',
        'mu_strategy': 'adaptive',  # a bare null space brings the other one to a halt
        'tol': 1e-8,
        'constr_viol_tol': ROUNDING,
        'bound_relax_factor': 0.0,
        'max_iter': int(iterations),
    }.items():
        solver.add_option(option, value)
    problem.solver = solver
    v, information = solver.solve(problem.start)
    solved = int(information['status']) in CONTENT
    path = [near.described, *problem.path, problem.parameters(v)]
    if not solved:  # Ipopt may be lost where nothing pulls; the best that it came by counts
        costs = [data.cost(x) if near.contains(x) else np.inf for x in path]
        path = path[: int(np.argmin(costs)) + 1]
    return NeighbourhoodFit(path[-1], data.cost(path[-1]), np.array(path), solved)


def deviations(phi: Array, described: Array) -> Array:
    """Return how far a body is from its description, in shares: m, c (3), u (3), d (3)."""
    (m, c, u, d), (m0, c0, u0, d0) = _factors(phi), _factors(described)
    return np.concatenate(
        [[m / m0 - 1.0], (c - c0) / _size(described), u - u0, (d - d0) / np.linalg.norm(d0)]
    )


def body_at(v: Array, described: Array) -> Array:
    """Return the body at deviations from its description."""
    m0, c0, u0, d0 = _factors(described)
    U, d = _triangle(u0 + v[4:7]), d0 + np.linalg.norm(d0) * v[7:]
    phi: Array = from_mass_com_inertia(
        m0 * (1.0 + v[0]), c0 + _size(described) * v[1:4], (U * d) @ U.T
    )
    return phi


def slopes_at(v: Array, described: Array) -> Array:
    """Return the derivative of `body_at`, (10, 10)."""
    m0, c0, u0, d0 = _factors(described)
    m, size, long = m0 * (1.0 + v[0]), _size(described), float(np.linalg.norm(d0))
    c, U, d = c0 + size * v[1:4], _triangle(u0 + v[4:7]), d0 + long * v[7:]
    slopes = np.zeros((10, 10))
    slopes[0, 0] = m0
    slopes[1:4, 0] = m0 * c
    slopes[4:, 0] = m0 * symmetric_entries(c @ c * np.eye(3) - np.outer(c, c))
    for k, e in enumerate(np.eye(3)):
        slopes[1:4, 1 + k] = m * size * e
        turned = 2.0 * c[k] * np.eye(3) - np.outer(e, c) - np.outer(c, e)
        slopes[4:, 1 + k] = m * size * symmetric_entries(turned)
        slopes[4:, 7 + k] = long * symmetric_entries(np.outer(U[:, k], U[:, k]))
    for k, (i, j) in enumerate(_ABOVE):
        change = np.zeros((3, 3))
        change[i] = d[j] * U[:, j]  # of U D U' by U[i, j], half of it
        slopes[4:, 4 + k] = symmetric_entries(change + change.T)
    return slopes


def _factors(phi: Array) -> tuple[float, Array, Array, Array]:
    """Mass, centre of mass, and the factors u and d of the inertia about it."""
    mass, c, inertia = mass_com_inertia(phi)
    # U D U' of a matrix is L D L' of the same read backwards
    L = np.linalg.cholesky(inertia[::-1, ::-1])[::-1, ::-1]
    diagonal = np.diag(L)
    U = L / diagonal
    return float(mass), c, np.array([U[i, j] for i, j in _ABOVE]), diagonal**2


def _triangle(u: Array) -> Array:
    U = np.eye(3)
    for value, (i, j) in zip(u, _ABOVE, strict=True):
        U[i, j] = value
    return U


def _size(described: Array) -> float:
    """Length [m] that movements of the centre of mass are a share of."""
    mass, c, inertia = mass_com_inertia(described)
    gyration = np.sqrt(np.linalg.eigvalsh(inertia)[-1] / mass)
    return max(float(np.linalg.norm(c)), float(gyration))


class _Problem:
    """What Ipopt asks for, in deviations of bodies and the other columns as they are."""

    def __init__(self, data: Compressed, near: Neighbourhood) -> None:
        self._data, self._near = data, near
        self.solver: cyipopt.Problem | None = None
        self.path: list[Array] = []
        self.start = near.described.copy()
        self.lower = np.full(len(self.start), -np.inf)
        self.lower[near.nonnegative] = 0.0
        for body in near.bodies:
            d0 = _factors(near.described[body])[3]
            self.start[body] = 0.0
            self.lower[body.start] = LEAST - 1.0
            self.lower[body.start + 7 : body.stop] = (LEAST - 1.0) * d0 / np.linalg.norm(d0)

    @cached_property
    def limited(self) -> list[tuple[IntArray, float]]:
        """Columns of every block that has a radius, and the radius."""
        return [
            (np.arange(body.start + block.start, body.start + block.stop), radius)
            for body in self._near.bodies
            for block, radius in zip(_BLOCKS, self._near.radii, strict=True)
            if np.isfinite(radius)
        ]

    def parameters(self, v: Array) -> Array:
        """Columns x of the rows."""
        x: Array = np.array(v)
        for body in self._near.bodies:
            x[body] = body_at(v[body], self._near.described[body])
        return x

    def objective(self, v: Array) -> float:
        """Mean of the squares."""
        return self._data.cost(self.parameters(v)) / self._data.count

    def gradient(self, v: Array) -> Array:
        """Of the objective."""
        residual = self._data.R @ self.parameters(v) - self._data.z
        return np.asarray(2.0 / self._data.count * (self._slopes(v).T @ residual))

    def constraints(self, v: Array) -> Array:
        """Squares of deviations as a share of those allowed."""
        return np.array([np.sum(v[at] ** 2) / radius**2 for at, radius in self.limited])

    def jacobian(self, v: Array) -> Array:
        """Of the constraints, row by row."""
        rows = np.zeros((len(self.limited), len(v)))
        for row, (at, radius) in zip(rows, self.limited, strict=True):
            row[at] = 2.0 * v[at] / radius**2
        return rows.ravel()

    def hessianstructure(self) -> tuple[IntArray, IntArray]:
        """Lower triangle."""
        return np.tril_indices(len(self.start))

    def hessian(self, v: Array, multipliers: Array, factor: float) -> Array:
        """Curvature of the residuals taken for linear, and of the constraints."""
        slopes = self._slopes(v)
        curvature = 2.0 * factor / self._data.count * (slopes.T @ slopes)
        for multiplier, (at, radius) in zip(multipliers, self.limited, strict=True):
            curvature[at, at] += 2.0 * multiplier / radius**2
        return np.asarray(curvature[np.tril_indices(len(v))])

    def intermediate(self, _mode: int, iteration: int, *_numbers: float) -> bool:
        """Remember where Ipopt is."""
        assert self.solver is not None
        found = self.solver.get_current_iterate()
        if iteration > 0 and found is not None:
            self.path.append(self.parameters(found['x']))
        return True

    def _slopes(self, v: Array) -> Array:
        """Return the derivative of R x by v."""
        slopes: Array = self._data.R.copy()
        for body in self._near.bodies:
            slopes[:, body] = self._data.R[:, body] @ slopes_at(
                v[body], self._near.described[body]
            )
        return slopes
