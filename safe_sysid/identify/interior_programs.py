"""Optima of linear functions over a polytope of many dense rows, by an interior-point method.

With G x + s = h the rows and the box, s >= 0, and z >= 0 their multipliers, Newton steps of

    G'z = c,  G x + s = h,  s z = mu

lead along the central path as mu falls (Mehrotra 1992). A step costs one product of the rows,
however many of them are tight, where the simplex method goes from corner to corner. Rows far from
the middle have no part in it unless an optimum breaks them. Its duals are those of the path, near
those of the optimum; what is proven from them is never wrong.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.identify.linear_programs import Basis, Budget, Ending, Optimum, Polytope

STEPS = 60  # of Newton's method; 12 are usual
LEAST = 1e-3  # optimum [radii of the box] of which no smaller share is asked
CLOSED = 1e-6  # errors of rows that are left, in units of their bounds
KEEPS = 0.99  # share of the way to the nearest bound that a step goes
CENTERED = 0.1  # of a product s z that is 1 in the middle
FALLS = 0.3  # of mu in a step, on the way to the middle
NARROW = 1e-9  # slack in the middle, of a polytope without room
FLAT = 1e-11  # of the largest curvature, added where rows leave a direction open
NEAR = 0.3  # of the mean share that rows have in the curvature of the middle, to have a part
BROKEN = 0.01  # of an error, by which an optimum has to break a row for it to enter
ENTRIES = 6  # times that rows enter for an optimum, at most


class _Point(NamedTuple):
    """Where the path is: x, slacks and multipliers of the upper and lower side of each row."""

    x: Array  # (n,)
    s: Array  # (2, m)
    z: Array  # (2, m)

    def moved(self, by: _Point, primal: float, dual: float) -> _Point:
        """Go on by shares of a step."""
        return _Point(self.x + primal * by.x, self.s + primal * by.s, self.z + dual * by.z)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows lower <= A x <= upper; those of the box come first."""

    A: Array  # (m, n)
    lower: Array
    upper: Array
    bound: AnyArray  # (2, m) bool, whether there is an upper and a lower one

    @classmethod
    def of(cls, A: Array, lower: Array, upper: Array) -> _Rows:
        return cls(A, lower, upper, np.isfinite(np.stack([upper, lower])))

    def more(self, A: Array, lower: Array, upper: Array) -> _Rows:
        """Return these and others."""
        both = zip((self.A, self.lower, self.upper), (A, lower, upper), strict=True)
        return _Rows.of(*(np.concatenate(pair) for pair in both))

    def part(self, chosen: IntArray) -> _Rows:
        """Return some of them."""
        return _Rows(self.A[chosen], self.lower[chosen], self.upper[chosen], self.bound[:, chosen])

    def room(self, x: Array) -> Array:
        """Distance to both sides, 1 where there is none, (2, m)."""
        value = self.A @ x
        return np.where(self.bound, np.stack([self.upper - value, value - self.lower]), 1.0)


class InteriorPrograms:
    """One polytope and many directions, each from its middle; as `LinearPrograms` otherwise."""

    def __init__(
        self, polytope: Polytope, row_numbers: IntArray, budget: Budget, gap: float = 3e-3
    ) -> None:
        """`gap` is that of optimum and dual, as share of it or of the way from the middle."""
        del row_numbers  # for methods that begin where they stood
        self._gap = gap
        n = polytope.A.shape[1]
        self._columns, self._budget = n, budget
        box = _Rows.of(np.eye(n), polytope.box_lower, polytope.box_upper)
        self._every = box.more(polytope.A, polytope.lower, polytope.upper)
        self._middle: Array | None = None
        self._near: IntArray = np.arange(0)
        self._start: tuple[_Rows, _Point, _Newton] | None = None  # of the middle and what is near
        self._known: dict[bytes, Optimum] = {}

    def add_rows(
        self, A: Array, lower: Array, numbers: IntArray, upper: Array | float = np.inf
    ) -> None:
        """Rows lower <= A x <= upper more; optima that keep to them remain."""
        del numbers
        upper = np.broadcast_to(upper, lower.shape)
        self._every, self._middle = self._every.more(A, lower, upper), None
        self._start = None
        kept = {}
        for cost, known in self._known.items():
            value = A @ known.x
            if (value >= lower - CLOSED).all() and (value <= upper + CLOSED).all():
                kept[cost] = replace(known, dual=np.append(known.dual, np.zeros(len(A))))
        self._known = kept

    def maximum(self, cost: Array, basis: Basis) -> Optimum | None:
        """Largest cost . x for the first entries of x; None if out of budget or given up."""
        del basis
        whole = np.zeros(self._columns)
        whole[: len(cost)] = cost
        known = self._known.get(whole.tobytes())
        if known is None:
            known = self._found(whole)
            if known is not None and known.feasible:
                self._known[whole.tobytes()] = known
        return known

    def shares(self) -> Array | None:
        """Share of each row in the curvature of the middle; None if empty or out of budget."""
        if self._middle is None and not self._center():
            return None
        assert self._middle is not None
        s = self._every.room(self._middle)
        point = _Point(self._middle, s, np.where(self._every.bound, 1.0 / s, 0.0))
        return _Newton(self._every, point).shares()[self._columns :]

    def _found(self, c: Array) -> Optimum | None:
        """Return the optimum of rows that are near or get broken."""
        if self._middle is None and not self._center():
            if self._budget.ending is not Ending.ALL_DONE:
                return None
            return Optimum(False, np.zeros(self._columns), np.zeros(self._count))
        found = None
        for _ in range(ENTRIES):
            point = self._followed(c)
            if point is None:
                break
            dual = np.zeros(len(self._every.A))
            dual[self._near] = point.z[0] - point.z[1]
            found = Optimum(True, point.x, dual[self._columns :])
            broken = self._every.room(point.x).min(axis=0) < -BROKEN
            if not broken.any():
                break
            self._near = np.union1d(self._near, np.flatnonzero(broken))
        return found

    def _followed(self, c: Array) -> _Point | None:
        """Follow the path from the middle until the duals tell the optimum well enough."""
        rows, point, equations = self._begin()
        steep = float(np.sqrt(c @ equations.solved(c)))
        point = point._replace(z=steep * point.z)
        newton: _Newton | None = equations.steeper(steep)
        begin = float(c @ point.x)
        for _ in range(STEPS):
            if not self._goes_on():
                return None
            gap = float(np.sum((point.s * point.z)[rows.bound]))
            off = c - rows.A.T @ (point.z[0] - point.z[1])
            value = float(c @ point.x)
            asked = self._gap * min(max(value - begin, 0.0), max(abs(value), LEAST))
            if gap + float(np.abs(off).sum()) <= asked:
                break
            point, newton = _ahead(newton or _Newton(rows, point), point, (c, off), gap), None
        return point

    def _begin(self) -> tuple[_Rows, _Point, _Newton]:
        """Return rows that are near, and the middle, from where all directions start."""
        assert self._middle is not None
        if self._start is None or len(self._start[0].A) != len(self._near):
            rows = self._every.part(self._near)
            s = rows.room(self._middle)
            point = _Point(self._middle, s, np.where(rows.bound, 1.0 / s, 0.0))
            self._start = rows, point, _Newton(rows, point)
        return self._start

    def _center(self) -> bool:
        """Find the point with the largest product of distances to all sides, if there is one.

        Rows are near if they have a part in how fast that product falls around it.
        """
        rows, n = self._every, self._columns
        x = 0.5 * (rows.lower[:n] + rows.upper[:n])
        room = rows.room(x)
        mu = max(1.0, float(-room.min())) ** 2  # errors fall with it
        s = np.maximum(room, np.sqrt(mu))
        point = _Point(x, s, np.where(rows.bound, mu / s, 0.0))
        for _ in range(STEPS):
            if not self._goes_on():
                return False
            error = np.where(rows.bound, rows.room(point.x) - point.s, 0.0)
            if np.abs(error).max() > CLOSED:
                mu *= FALLS
            off = -rows.A.T @ (point.z[0] - point.z[1])
            target = np.where(rows.bound, mu - point.s * point.z, 0.0)
            newton = _Newton(rows, point)
            move = newton.step(point, off, error, target)
            primal, dual = _lengths(point, move, KEEPS)
            point = point.moved(move, primal, dual)
            if point.z.max() > mu / NARROW:
                return False
            uneven = np.abs(np.where(rows.bound, point.s * point.z / mu - 1.0, 0.0)).max()
            if uneven < CENTERED and np.abs(error).max() * (1.0 - primal) < CLOSED:
                share = newton.shares()
                share[: self._columns] = np.inf
                self._near = np.flatnonzero(share >= NEAR * self._columns / len(share))
                self._middle, self._start = point.x, None
                return True
        return False

    @property
    def _count(self) -> int:
        return int(len(self._every.A) - self._columns)

    def _goes_on(self) -> bool:
        if self._budget.ending is not Ending.ALL_DONE:
            return False
        self._budget.pivots -= 1.0
        return True


def _ahead(newton: _Newton, point: _Point, costs: tuple[Array, Array], gap: float) -> _Point:
    """Predict how far mu can fall, and go there; slacks are the room that there is.

    `costs` are c and how far the multipliers are off it.
    """
    bound, (c, off) = newton.rows.bound, costs
    target = -point.s * point.z
    predicted = newton.along(point, newton.solved(c), 0.0, target)  # pull is -z, and off c - A'z
    there = point.moved(predicted, *_lengths(point, predicted, 1.0))
    left = (float(np.sum((there.s * there.z)[bound])) / gap) ** 3
    mean = gap / np.count_nonzero(bound)
    target = np.where(bound, target + left * mean - predicted.s * predicted.z, 0.0)
    move = newton.step(point, off, 0.0, target)
    return point.moved(move, *_lengths(point, move, KEEPS))


class _Newton:
    """The equations of a step, solved for several right sides."""

    def __init__(self, rows: _Rows, point: _Point) -> None:
        self.rows = rows
        self._scaled = rows.A * np.sqrt((point.z / point.s).sum(axis=0))[:, None]
        H = self._scaled.T @ self._scaled
        self._size = np.sqrt(np.maximum(np.diag(H), 1e-300))
        H = H / self._size / self._size[:, None]
        diagonal = np.diag_indices_from(H)
        H[diagonal] += FLAT
        self._factor, failed = dpotrf(H)
        if failed:
            H[diagonal] += 1e5 * FLAT
            self._factor, _ = dpotrf(H)

    def solved(self, right: Array) -> Array:
        """Curvature^-1 times a vector."""
        found, _ = dpotrs(self._factor, right / self._size)
        solved: Array = found / self._size
        return solved

    def shares(self) -> Array:
        """Share of every row in the curvature; their sum is the number of columns."""
        scaled = self._scaled / self._size
        each, _ = dpotrs(self._factor, scaled.T)
        shares: Array = np.einsum('mi,im->m', scaled, each)
        return shares

    def steeper(self, times: float) -> _Newton:
        """Return the equations with all multipliers so many times larger."""
        other = copy(self)
        other._size = np.sqrt(times) * self._size
        return other

    def step(self, point: _Point, off: Array, error: Array | float, target: Array) -> _Point:
        """Return changes that make G'z = c, G x + s = h, and s z larger by `target`."""
        pull = (target - point.z * error) / point.s
        x = self.solved(off - self.rows.A.T @ (pull[0] - pull[1]))
        return self.along(point, x, error, target)

    def along(self, point: _Point, x: Array, error: Array | float, target: Array) -> _Point:
        """Return the changes of slacks and multipliers that go with those of x."""
        bound, value = self.rows.bound, self.rows.A @ x
        s = np.where(bound, error - np.stack([value, -value]), 0.0)
        z = (target - point.z * s) / point.s
        return _Point(x, s, z)


def _lengths(point: _Point, move: _Point, share: float) -> tuple[float, float]:
    """How far slacks and multipliers can go, 1 at most."""
    found = []
    for now, change in ((point.s, move.s), (point.z, move.z)):
        rates = np.divide(-change, now, out=np.zeros_like(now), where=now > 0.0)
        fastest = float(rates.max())
        found.append(min(1.0, share / fastest) if fastest > 0.0 else 1.0)
    return found[0], found[1]
