"""Physically consistent fit of a whole arm by a semidefinite program; the only file with Clarabel.

    minimise   |R x - z|^2 + weight sum_b [ tr(J0_b^-1 J_b) - log det(J0_b^-1 J_b) ]
    such that  J_b(x) >= 0,  x >= 0 where it has to be,  m_b and tr(J_b Q_b) within their bounds

J_b is the pseudo-inertia of body b, linear in x, and J0_b that of its prior. The problem is
convex: one solve finds the global optimum. It is written in coordinates in which J0_b is the
identity, so units and sizes of bodies do not matter to the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
import time
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from safe_sysid.arrays import Array
from safe_sysid.calibrate.compressed import Compressed
from safe_sysid.calibrate.consistency import Consistency, whitening
from safe_sysid.errors import BoundError
from safe_sysid.model.inertia import from_pseudo_inertia, is_consistent, pseudo_inertia

SHARES = (0.0, *(10.0**k for k in range(-12, -5)))  # of the prior in a body without volume
USABLE = ('Solved', 'AlmostSolved')  # the second is checked like the first
ROUNDING = 1e-6  # of the largest eigenvalue: what an interior point may be off
_PAIRS = [(i, j) for j in range(4) for i in range(j + 1)]  # upper triangle, column by column
_LOWER = [(i, j) for i in range(4) for j in range(i + 1)]


@dataclass(frozen=True, eq=False)
class SdpFit:
    """The optimum, and how it was reached."""

    x: Array  # (p,)
    cost: float  # |R x - z|^2 + rest
    objective: float  # the cost and the pull of the prior
    smallest_eigenvalue: float  # of all J0^-1 J
    status: str
    iterations: int
    seconds: float


def sdp_fit(data: Compressed, consistency: Consistency) -> SdpFit:
    """Parameters of bodies that can exist and explain the rows best."""
    begin = time.perf_counter()
    program = _Program(data, consistency)
    solution = program.solve()
    if str(solution.status) not in USABLE:
        raise BoundError(
            f'the semidefinite program ended with {solution.status} after {solution.iterations} '
            'iterations: the bounds may exclude each other, or columns differ too much in size'
        )
    x = _inside(np.array(solution.x[: data.R.shape[1]]), consistency)
    values = consistency.eigenvalues(x)
    smallest = float(values.min(initial=np.inf))
    if not smallest > -ROUNDING * values.max(initial=1.0):
        raise BoundError(
            f'the semidefinite program ended with {solution.status}, but a body has the relative '
            f'eigenvalue {smallest:.3g}: columns differ too much in size'
        )
    return SdpFit(
        x=x,
        cost=data.cost(x),
        objective=data.cost(x) + consistency.pull(x),
        smallest_eigenvalue=smallest,
        status=str(solution.status),
        iterations=int(solution.iterations),
        seconds=time.perf_counter() - begin,
    )


def _inside(x: Array, consistency: Consistency) -> Array:
    """Return the solution, moved towards the priors as little as its rounding errors ask for."""
    x = x.copy()
    x[consistency.nonnegative] = np.maximum(x[consistency.nonnegative], 0.0)
    for body, J0 in zip(consistency.bodies, consistency.priors, strict=True):
        prior, found = from_pseudo_inertia(J0), x[body].copy()
        for share in SHARES:
            x[body] = (1.0 - share) * found + share * prior
            if is_consistent(x[body]):
                break
    return x


class _Program:
    """Rows A v + s = b with s in a product of cones; v is x, r, then Z and t of every body."""

    def __init__(self, data: Compressed, consistency: Consistency) -> None:
        self._data, self._consistency = data, consistency
        self._scale = _column_scale(data)
        k, self._p = data.R.shape
        self._extra = 14 if consistency.weight > 0.0 else 0  # ten of Z, four of t
        self._size = self._p + k + self._extra * len(consistency.bodies)
        self._blocks: list[Any] = []
        self._b: list[Array] = []
        self._cones: list[Any] = []

    def solve(self) -> Any:
        """Build the program and hand it over."""
        self._residuals()
        self._linear_bounds()
        for index, body in enumerate(self._consistency.bodies):
            self._body(index, body)
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        A = sparse.csc_matrix(sparse.vstack(self._blocks))
        P, q = self._objective()
        solver = clarabel.DefaultSolver(P, q, A, np.concatenate(self._b), self._cones, settings)
        return _Unscaled(solver.solve(), self._scale)

    def _objective(self) -> tuple[Any, Array]:
        k = len(self._data.z)
        diagonal = np.zeros(self._size)
        diagonal[self._p : self._p + k] = 2.0
        q = np.zeros(self._size)
        q[: self._p] = (
            self._consistency.weight * self._consistency.trace_slope(self._p) * self._scale
        )
        for index in range(len(self._consistency.bodies) if self._extra else 0):
            start = self._p + k + 14 * index + 10
            q[start : start + 4] = -self._consistency.weight
        return sparse.diags(diagonal, format='csc'), q

    def _residuals(self) -> None:
        """R x - r = z."""
        k = len(self._data.z)
        rows = [sparse.csc_matrix(self._data.R * self._scale), -sparse.eye(k)]
        rest = self._size - self._p - k
        if rest:
            rows.append(sparse.csc_matrix((k, rest)))
        self._add(sparse.hstack(rows), self._data.z, clarabel.ZeroConeT(k))

    def _linear_bounds(self) -> None:
        G, h = self._consistency.linear_bounds(self._p)
        if len(h):
            wide = sparse.hstack(
                [
                    sparse.csc_matrix(G * self._scale),
                    sparse.csc_matrix((len(h), self._size - self._p)),
                ]
            )
            self._add(wide, h, clarabel.NonnegativeConeT(len(h)))

    def _body(self, index: int, body: slice) -> None:
        """J >= 0, or [[J, Z], [Z', diag Z]] >= 0 and t <= log diag(Z) for its log det."""
        U = whitening(self._consistency.priors[index])
        basis = _svec(U @ pseudo_inertia(np.eye(10)) @ U.T)  # (10, 10), row i is J of entry i
        columns = range(body.start, body.stop)
        if not self._extra:
            A = np.zeros((10, self._size))
            A[:, columns] = -basis.T * self._scale[body]
            self._add(sparse.csc_matrix(A), np.zeros(10), clarabel.PSDTriangleConeT(4))
            return
        start = self._p + len(self._data.z) + 14 * index
        A = np.zeros((36, self._size))
        A[:10, columns] = -basis.T * self._scale[body]
        for number, (i, j) in enumerate(_LOWER):
            # Z is lower triangular: entry (i, j) stands at row i, column 4 + j of the whole
            A[_place(i, 4 + j), start + number] = -np.sqrt(2.0)
            if i == j:
                A[_place(4 + i, 4 + i), start + number] = -1.0
        self._add(sparse.csc_matrix(A), np.zeros(36), clarabel.PSDTriangleConeT(8))
        diagonal = [number for number, (i, j) in enumerate(_LOWER) if i == j]
        for i, number in enumerate(diagonal):
            A = np.zeros((3, self._size))
            A[0, start + 10 + i] = A[2, start + number] = -1.0
            self._add(sparse.csc_matrix(A), np.array([0.0, 1.0, 0.0]), clarabel.ExponentialConeT())

    def _add(self, A: Any, b: Array, cone: Any) -> None:
        self._blocks.append(A)
        self._b.append(b)
        self._cones.append(cone)


class _Unscaled:
    """A solution with its columns in their own units."""

    def __init__(self, solution: Any, scale: Array) -> None:
        self.status = solution.status
        self.iterations = solution.iterations
        self.x = np.array(solution.x[: len(scale)]) * scale


def _column_scale(data: Compressed) -> Array:
    """Factor of every column: a change of 1 then moves the residual by about as much as others."""
    norms = np.linalg.norm(data.R, axis=0)
    typical = float(np.median(norms[norms > 0.0])) if np.any(norms > 0.0) else 1.0
    scale: Array = 1.0 / np.clip(norms, 1e-3 * typical, None)
    return scale


def _place(row: int, column: int) -> int:
    """Where an entry of the upper triangle stands, column by column."""
    return column * (column + 1) // 2 + row


def _svec(matrices: Array) -> Array:
    """Upper triangles column by column, off-diagonal entries times sqrt(2)."""
    entries = [matrices[..., i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in _PAIRS]
    return np.stack(entries, -1)
