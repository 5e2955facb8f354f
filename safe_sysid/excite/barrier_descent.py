"""The optimiser of the design: linear limits by a primal-dual barrier, the rest by multipliers.

Each step solves one symmetric system of the size of x: damped BFGS for the criterion, the exact
curvature of the barrier, Gauss-Newton for the active rows of an augmented Lagrangian. The linear
limits are never crossed, so that every iterate keeps them; contact and torque rows are met in the
limit. A general solver spends most of its time on the thousands of linear rows, which are blocks
of one joint each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from safe_sysid.arrays import Array
from safe_sysid.excite.criteria import Criterion
from safe_sysid.excite.design_problem import DesignProblem, Rows

TO_BOUNDARY = 0.99  # share of the way to a linear limit that one step may go
DESCENT = 1e-4  # share of the predicted decrease that a step has to bring
HALVINGS = 12
MULTIPLIERS_EVERY = 15  # steps
TOLERATED = 4e-4  # [m] violation that does not make the penalty stiffer
STIFFER, STIFFEST = 2.0, 1e6
BARRIER_FACTOR = 0.85  # per step
BARRIER_LEAST = 1e-6


@dataclass
class Descent:
    """State of one search."""

    problem: DesignProblem
    x: Array  # (n, m), strictly inside the linear limits
    barrier: float = 3e-3
    penalty: float = 200.0
    multipliers: Array = field(init=False)
    duals: Array = field(init=False)  # (2, n, R) of upper and lower limits
    curvature: Array = field(init=False)  # (n m, n m) BFGS matrix of the criterion

    def __post_init__(self) -> None:
        rows = self.problem.rows(self.x)
        self.multipliers = np.zeros_like(rows.values)
        self.duals = self.barrier / self._slack(self.x)
        self.curvature = np.eye(self.x.size)

    def steps(self, criterion: Criterion, count: int) -> Iterator[float]:
        """Up to `count` steps; each gives the value of the criterion after it."""
        value, gradient = self.problem.criterion(criterion, self.x)
        rows = self.problem.rows(self.x)
        fresh, failures = True, 0
        for number in range(count):
            if number % MULTIPLIERS_EVERY == MULTIPLIERS_EVERY - 1:
                self._update_multipliers(rows)
            step, slope, duals = self._direction(gradient, rows)
            found = self._search(criterion, value, rows, step, slope)
            if found is None:
                failures += 1
                self.curvature = np.eye(self.x.size) * max(1.0, 10.0**failures)
                if failures > 3:
                    return
                continue
            length, new_value, new_gradient, new_rows = found
            failures = 0
            self._update_curvature(length * step, new_gradient - gradient, fresh)
            fresh = False
            self.x = self.x + length * step
            self._update_duals(duals, length)
            value, gradient, rows = new_value, new_gradient, new_rows
            self.barrier = max(BARRIER_LEAST, BARRIER_FACTOR * self.barrier)
            yield value

    def violation(self) -> float:
        """How far the worst contact or torque row is from being met."""
        return float(max(0.0, -self.problem.rows(self.x).values.min(initial=0.0)))

    def _slack(self, x: Array) -> Array:
        A, lower, upper = self.problem.limits
        at = x @ A.T
        return np.stack([upper - at, at - lower])

    def _merit(self, value: float, x: Array, rows: Rows) -> float:
        slack = self._slack(x)
        if slack.min() <= 0.0:
            return np.inf
        excess = np.maximum(0.0, self.multipliers / self.penalty - rows.values)
        contact = 0.5 * self.penalty * float(excess @ excess)
        return value - self.barrier * float(np.log(slack).sum()) + contact

    def _direction(self, gradient: Array, rows: Rows) -> tuple[Array, float, Array]:
        """Newton step of the merit, its slope along the step, and the new duals."""
        A = self.problem.limits[0]
        slack = self._slack(self.x)
        n, m = self.x.shape
        excess = self.multipliers / self.penalty - rows.values
        active = np.flatnonzero(excess > 0.0).astype(np.int64)
        J = self.problem.row_gradients(rows, active)
        total = gradient + (self.barrier * (1.0 / slack[0] - 1.0 / slack[1])) @ A
        total = total.ravel() - self.penalty * (excess[active] @ J)
        H = self.curvature + self.penalty * (J.T @ J)
        weight = self.duals / slack
        blocks = np.matmul(A.T[None] * weight.sum(axis=0)[:, None, :], A)
        for i in range(n):
            at = slice(i * m, (i + 1) * m)
            H[at, at] += blocks[i]
        factor = scipy.linalg.cho_factor(H, lower=True, check_finite=False, overwrite_a=True)
        step = -scipy.linalg.cho_solve(factor, total, check_finite=False)
        turn = step.reshape(n, m) @ A.T
        duals = self.barrier / slack + weight * np.stack([turn, -turn])
        return step.reshape(n, m), float(step @ total), duals

    def _search(
        self, criterion: Criterion, value: float, rows: Rows, step: Array, slope: float
    ) -> tuple[float, float, Array, Rows] | None:
        """Length of a step that brings enough, and what is known there."""
        A = self.problem.limits[0]
        slack, turn = self._slack(self.x), step @ A.T
        closing = np.stack([turn, -turn]) / slack
        length = min(1.0, TO_BOUNDARY / max(float(closing.max()), 1e-300))
        merit = self._merit(value, self.x, rows)
        for _ in range(HALVINGS):
            x = self.x + length * step
            new_rows = self.problem.rows(x)
            new_value, gradient = self.problem.criterion(criterion, x)
            if self._merit(new_value, x, new_rows) <= merit + DESCENT * length * slope:
                return length, new_value, gradient, new_rows
            length *= 0.5
        return None

    def _update_curvature(self, step: Array, change: Array, fresh: bool) -> None:
        """Damped BFGS, scaled by the first change."""
        s, y = step.ravel(), change.ravel()
        if fresh and s @ y > 0.0:
            self.curvature = np.eye(len(s)) * float(np.clip((y @ y) / (s @ y), 1e-3, 1e3))
        Bs = self.curvature @ s
        sBs, sy = float(s @ Bs), float(s @ y)
        if sBs <= 0.0:
            return
        share = 1.0 if sy >= 0.2 * sBs else 0.8 * sBs / (sBs - sy)
        y = share * y + (1.0 - share) * Bs
        self.curvature += np.outer(y, y) / (s @ y) - np.outer(Bs, Bs) / sBs

    def _update_duals(self, duals: Array, length: float) -> None:
        """Towards the new duals, kept near what the barrier says they are."""
        moved = self.duals + length * (duals - self.duals)
        central = self.barrier / self._slack(self.x)
        self.duals = np.clip(moved, 1e-2 * central, 1e2 * central)

    def _update_multipliers(self, rows: Rows) -> None:
        self.multipliers = np.maximum(0.0, self.multipliers - self.penalty * rows.values)
        if rows.values.min(initial=0.0) < -TOLERATED:
            self.penalty = min(STIFFEST, STIFFER * self.penalty)
