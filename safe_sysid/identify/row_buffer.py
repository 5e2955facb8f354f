"""RowBuffer: a bounded number of rows, the ones that the bounds rest on."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.identify.observation import Observation, stacked


class RowBuffer:
    """Keeps rows and how much each matters; leaving a row out makes bounds wider, never wrong."""

    def __init__(self, budget: int) -> None:
        if budget < 1:
            raise ConfigError(f'row budget is {budget}, it has to be 1 or more')
        self._budget = budget
        self._parts: list[Observation] = []
        self._weight = np.zeros(0)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._count = 0  # rows ever added

    def __len__(self) -> int:
        return len(self._weight)

    def add(self, rows: Observation) -> None:
        """Add rows; nobody knows yet how much they matter, so they come before all others."""
        self._parts.append(rows)
        self._weight = np.concatenate([self._weight, np.full(len(rows), np.inf)])
        self._numbers = np.concatenate([self._numbers, self._count + np.arange(len(rows))])
        self._count += len(rows)
        if len(self) > 2 * self._budget:
            self._keep_best()

    def rows(self) -> tuple[Observation, IntArray]:
        """At most the budget of rows, and the number each has kept since it was added."""
        self._keep_best()
        whole = stacked(self._parts)
        self._parts = [whole]
        return whole, self._numbers

    def best(self, count: int, until: float) -> Observation | None:
        """Rows that bounds rest on and that ended by a time [s], those that matter most."""
        if not self._parts:
            return None
        whole = stacked(self._parts)
        useful = np.flatnonzero((self._weight > 0.0) & (whole.end <= until))
        known = np.where(np.isfinite(self._weight[useful]), self._weight[useful], 0.0)
        chosen = np.sort(useful[np.argsort(-known, kind='stable')[:count]])
        return whole.rows(chosen)

    def begun(self, since: float) -> Observation | None:
        """Rows of windows that began at a time [s] or later."""
        if not self._parts:
            return None
        whole = stacked(self._parts)
        chosen = whole.start >= since
        return whole.rows(chosen) if chosen.any() else None

    def weigh(self, weight: Array) -> None:
        """How much each of `rows()` mattered to the bounds found with them."""
        if weight.shape != (len(self),):
            raise BoundError(
                f'weights of shape {weight.shape} for {len(self)} rows; none may be added '
                'between rows() and weigh()'
            )
        self._weight = weight.copy()

    def _keep_best(self) -> None:
        if len(self) <= self._budget:
            return
        # newest first among equals
        ranked = np.argsort(-self._weight[::-1], kind='stable')[: self._budget]
        kept = np.sort(len(self) - 1 - ranked)
        self._parts = [stacked(self._parts).rows(kept)]
        self._weight, self._numbers = self._weight[kept], self._numbers[kept]
