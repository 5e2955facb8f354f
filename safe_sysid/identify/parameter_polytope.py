"""The polytope of parameters that no measurement contradicts, and proofs about it from duals."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.consistency_cuts import cut, cut_rounding, reach_cuts
from safe_sysid.identify.linear_programs import Polytope
from safe_sysid.identify.observation import Observation
from safe_sysid.sets.interval import Interval, concatenate


class ParameterPolytope:
    """|Y_e theta_e + Y_r theta_r - b| <= delta in a box, with cuts a . theta_e >= low.

    Programs see it in coordinates z in [-1, 1] with theta = center + radius z, and rows divided
    by their error; proofs are made in the original numbers.
    """

    def __init__(
        self, observation: Observation, rest: Interval, prior: Interval, reach: float | None
    ) -> None:
        self.observation = observation
        self.prior = prior
        self._box = concatenate([prior, rest])
        self._center, self._radius = self._box.center, self._box.radius
        self._Y = np.concatenate([observation.Y_e, observation.Y_r], axis=1)
        self._cuts = np.zeros((0, 10))
        self._lows = np.zeros(0)
        if reach is not None:
            rows = reach_cuts(reach)
            slack = cut_rounding(np.array([1.0, 1.0, 1.0, max(1.0, reach)]), prior.magnitude)
            self._append(rows, np.full(len(rows), -slack))

    def add_cuts(self, vectors: Array) -> None:
        """Cuts v' J v >= 0 more."""
        self._append(cut(vectors), -cut_rounding(vectors, self.prior.magnitude))

    def _append(self, rows: Array, lows: Array) -> None:
        self._cuts = np.concatenate([self._cuts, rows])
        self._lows = np.concatenate([self._lows, lows])

    def scaled(self) -> Polytope:
        """Return the polytope in z."""
        delta = self.observation.delta
        rows = self._Y * self._radius / delta[:, None]
        middle = (self.observation.b - self._Y @ self._center) / delta
        cuts, lows = self.scaled_cuts(0)
        return Polytope(
            np.concatenate([rows, cuts]),
            np.concatenate([middle - 1.0, lows]),
            np.concatenate([middle + 1.0, np.full(len(lows), np.inf)]),
            -np.ones(len(self._center)),
            np.ones(len(self._center)),
        )

    def scaled_cuts(self, first: int) -> tuple[Array, Array]:
        """Rows and lower bounds in z of the cuts from one number on."""
        cuts, lows = self._cuts[first:], self._lows[first:]
        rows = np.zeros((len(cuts), len(self._center)))
        rows[:, :10] = cuts * self._radius[:10]
        size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-300)
        return rows / size[:, None], (lows - cuts @ self._center[:10]) / size

    @property
    def cut_count(self) -> int:
        """How many cuts there are."""
        return len(self._cuts)

    def bodies(self, z: Array) -> Array:
        """theta_e at points z, (k, n) -> (k, 10)."""
        return self._center[:10] + self._radius[:10] * z[:, :10]

    def upper_bounds(self, cost: Array, duals: Array) -> Array:
        """Proven upper bounds of cost . theta_e over the polytope, one per column.

        cost is (10, k); duals (m + cuts, k) belong to the programs in z and may be anything:
        a poor dual gives a wide bound, never a wrong one.
        """
        k = cost.shape[1]
        m = len(self.observation)
        scale = np.abs(cost).T @ self._radius[:10]  # a unit of z in units of the cost
        scale[scale == 0.0] = 1.0
        y = duals[:m] * scale / self.observation.delta[:, None]
        of_cuts = self._unscaled_cut_duals(duals[m:], scale)
        c = np.zeros((len(self._center), k))
        c[:10] = cost
        slope = Interval.of(c) - Interval.of(self._Y.T) @ y  # c - A'y, with A of rows and cuts
        slope_e = slope[:10] - Interval.of(self._cuts.T) @ of_cuts
        slope = concatenate([slope_e, slope[10:]])
        in_box = (slope * self._box.reshape(-1, 1)).sum(axis=0)
        b, delta = self.observation.b[:, None], self.observation.delta[:, None]
        of_rows = (Interval.of(y) * b + Interval.of(np.abs(y)) * delta).sum(axis=0)
        total = in_box + of_rows + (Interval.of(of_cuts) * self._lows[:, None]).sum(axis=0)
        return total.upper

    def _unscaled_cut_duals(self, duals: Array, scale: Array) -> Array:
        """Multipliers of a . theta >= low: only those that use the bound there is, y <= 0."""
        rows = self._cuts * self._radius[:10]
        size = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-300)
        multipliers: Array = np.minimum(duals * scale / size[:, None], 0.0)
        return multipliers

    def elastic(self) -> Polytope:
        """Return the polytope with row errors (1 + s) times larger, s the last coordinate."""
        plain = self.scaled()
        m = len(self.observation)
        one, cuts = np.ones((m, 1)), np.zeros((self.cut_count, 1))
        rows = plain.A[:m]
        off = np.maximum(np.abs(plain.lower[:m]), np.abs(plain.upper[:m]))
        largest = float((np.abs(rows).sum(axis=1) + off).max())  # needed anywhere in the box
        return Polytope(
            np.block([[rows, -one], [rows, one], [plain.A[m:], cuts]]),
            np.concatenate([np.full(m, -np.inf), plain.lower[:m], plain.lower[m:]]),
            np.concatenate([plain.upper[:m], np.full(m, np.inf), plain.upper[m:]]),
            np.append(plain.box_lower, 0.0),
            np.append(plain.box_upper, 1.0 + largest),
        )

    def relaxed(self, columns: Array, errors: float) -> Polytope:
        """Return the polytope with |e| <= s times columns more in its rows, s the last coordinate.

        e and s count in `unit_of` the columns; the errors of rows are `errors` times larger.
        """
        plain = self.scaled()
        m, n, k = len(self.observation), plain.A.shape[1], columns.shape[1]
        gain = columns * self.unit_of(columns) / self.observation.delta[:, None]
        rows = np.zeros((len(plain.A) + 2 * k, n + k + 1))
        rows[: len(plain.A), :n] = plain.A
        rows[:m, n : n + k] = gain
        more = (errors - 1.0) * (np.arange(len(plain.A)) < m)
        bound = rows[len(plain.A) :]
        bound[:, n : n + k] = np.concatenate([np.eye(k), -np.eye(k)])
        bound[:, -1] = -1.0
        return Polytope(
            rows,
            np.concatenate([plain.lower - more, np.full(2 * k, -np.inf)]),
            np.concatenate([plain.upper + more, np.zeros(2 * k)]),
            np.concatenate([plain.box_lower, np.full(k, -1e6), [0.0]]),
            np.concatenate([plain.box_upper, np.full(k, 1e6), [1e6]]),
        )

    def unit_of(self, columns: Array) -> float:
        """So much of the columns changes the rows by about their errors."""
        size = np.abs(columns / self.observation.delta[:, None]).max()
        return 1.0 / float(size) if size > 0.0 else 1.0

    def proof(self, elastic_dual: Array) -> tuple[Array, float]:
        """Multipliers of the rows in a proof of emptiness, and the gap that proves it."""
        y = self._row_duals(elastic_dual)
        bound = float(self.upper_bounds(np.zeros((10, 1)), y[:, None])[0])
        return y[: len(self.observation)] / self.observation.delta, -bound

    def emptiness(self, elastic_dual: Array) -> tuple[Array, float] | None:
        """Share of each row in a proof that the polytope is empty, and the factor it needs.

        With c = 0 the bound of `upper_bounds` is at least 0 if there is any point, so a negative
        bound is a proof. The errors of rows enter it as |y| . delta, which tells by what factor
        they would have to grow for the proof to fail.
        """
        y, gap = self.proof(elastic_dual)
        if not gap > 0.0:
            return None
        share = np.abs(y) * self.observation.delta
        return share, 1.0 + gap / float(share.sum())

    def _row_duals(self, elastic_dual: Array) -> Array:
        """Duals of the elastic polytope as those of this one."""
        m = len(self.observation)
        both = elastic_dual[:m] + elastic_dual[m : 2 * m]
        return np.concatenate([both, elastic_dual[2 * m :]])
