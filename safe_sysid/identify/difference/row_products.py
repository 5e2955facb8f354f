"""Products of the columns of rows: of x, of phi and of the torque, for any weights of joints.

Torque of a joint knows nothing of the links before it, nor of the friction of others, so most
columns of a joint are 0. Those that are not stand beside each other, joint after joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.identify.difference.rows import DifferenceRows


@dataclass(frozen=True, eq=False)
class _Packed:
    """Columns of a joint that are not 0, of a payload if one is held, its torque; 0 at rest."""

    table: Array  # (N, w)
    places: list[IntArray]  # of each joint's columns among those of x, phi and torque
    ends: IntArray  # (n + 1,) of each joint's columns in the table


@dataclass(frozen=True, eq=False)
class RowProducts:
    """Products of rows of one pattern of moving joints, pattern after pattern."""

    size: int  # p + 11
    places: list[IntArray]
    ends: IntArray
    patterns: AnyArray  # (P, n) bool
    products: list[Array]  # (w, w) each

    def weighted(self, spread: Array) -> Array:
        """Sum of rows made uncorrelated, of joints with this covariance, (p + 11, p + 11)."""
        total = np.zeros((self.size, self.size))
        weights = [inverse_of_moving(pattern, spread) for pattern in self.patterns]
        for j, first in enumerate(self.places):
            for k, second in enumerate(self.places[: j + 1]):
                block = sum(
                    weight[j, k] * product[self._of(j), self._of(k)]
                    for weight, product in zip(weights, self.products, strict=True)
                )
                total[np.ix_(first, second)] += block
                if k < j:
                    total[np.ix_(second, first)] += np.transpose(block)
        return total

    def by_joint(self) -> Array:
        """Products joint by joint, (n, p + 11, p + 11)."""
        found = np.zeros((len(self.places), self.size, self.size))
        for j, place in enumerate(self.places):
            block = np.sum(
                [product[self._of(j), self._of(j)] for product in self.products], axis=0
            )
            found[j][np.ix_(place, place)] = block
        return found

    def _of(self, joint: int) -> slice:
        return slice(self.ends[joint], self.ends[joint + 1])


def row_products(rows: DifferenceRows) -> RowProducts:
    """Multiply columns of all joints with each other."""
    packed = _packed(rows)
    patterns, which = patterns_of(rows.counts)
    products = []
    for i in range(len(patterns)):
        table = packed.table if len(patterns) == 1 else packed.table[which == i]
        products.append(table.T @ table)
    return RowProducts(rows.Y.shape[2] + 11, packed.places, packed.ends, patterns, products)


@dataclass(frozen=True, eq=False)
class AddedColumns:
    """Columns of their own joint alone, and where they stand among those of x."""

    columns: Array  # (N, n, e)
    places: IntArray  # (n, e)
    size: int  # p, with them


class JointTables:
    """Products joint by joint of parts of rows; those of columns that are added come cheaply."""

    def __init__(
        self, rows: DifferenceRows, parts: Sequence[AnyArray | slice] = (slice(None),)
    ) -> None:
        packed = _packed(rows)
        self._places, self._counts, self._p = packed.places, rows.counts, rows.Y.shape[2]
        self._tables = [packed.table[:, a:b] for a, b in itertools.pairwise(packed.ends)]
        self._parts = [(part, [table[part] for table in self._tables]) for part in parts]
        self.freedom = rows.counts.sum(axis=0)  # (n,) of all rows
        self._products = [[some.T @ some for some in tables] for _, tables in self._parts]

    def grams(self, added: AddedColumns | None = None, part: int = 0) -> Array:
        """Products of all columns of x, phi and the torque, (n, p + 11, p + 11)."""
        size = self._p if added is None else added.size
        rows, tables = self._parts[part]
        found = np.zeros((len(self._tables), size + 11, size + 11))
        for j, (gram, product) in enumerate(zip(found, self._products[part], strict=True)):
            place = self._place(j, size)
            gram[np.ix_(place, place)] = product
            if added is not None:
                own, there = self._own(added, j, rows), added.places[j]
                cross = tables[j].T @ own
                gram[np.ix_(place, there)], gram[np.ix_(there, place)] = cross, cross.T
                gram[np.ix_(there, there)] = own.T @ own
        return found

    def residuals(
        self, x: Array, rows: AnyArray | slice, added: AddedColumns | None = None
    ) -> Array:
        """Torques of these rows without those of x, 0 where a joint stands, (N, n) [N m]."""
        left = []
        for j, (table, place) in enumerate(zip(self._tables, self._places, strict=True)):
            columns = np.count_nonzero(place < self._p)
            some = table[rows]
            error = some[:, -1] - some[:, :columns] @ x[place[:columns]]
            if added is not None:
                error -= self._own(added, j, rows) @ x[added.places[j]]
            left.append(error)
        return np.stack(left, axis=-1)

    def _place(self, joint: int, size: int) -> IntArray:
        """Where the columns of a table stand if those of x are so many."""
        place = self._places[joint]
        return np.where(place < self._p, place, place + size - self._p)

    def _own(self, added: AddedColumns, joint: int, rows: AnyArray | slice) -> Array:
        own: Array = added.columns[rows, joint] * self._counts[rows, joint, None]
        return own


def joint_grams(rows: DifferenceRows) -> Array:
    """Products of all columns and the torque, joint by joint, (n, p + 11, p + 11)."""
    return JointTables(rows).grams()


def patterns_of(counts: AnyArray) -> tuple[AnyArray, IntArray]:
    """Patterns of joints that count, (P, n) bool, and the pattern of each time, (N,)."""
    number = counts @ (1 << np.arange(counts.shape[1]))
    _, first, which = np.unique(number, return_index=True, return_inverse=True)
    return counts[first], which.ravel()


def inverse_of_moving(pattern: AnyArray, spread: Array) -> Array:
    """Inverse covariance of the joints that count, 0 for others, (n, n)."""
    inverse = np.zeros_like(spread)
    some = np.ix_(pattern, pattern)
    inverse[some] = np.linalg.inv(spread[some])
    return inverse


def _packed(rows: DifferenceRows) -> _Packed:
    N, _, p = rows.Y.shape
    shown = [np.flatnonzero(each) for each in np.asarray(rows.Y.any(axis=0))]
    payload = p + np.arange(11) if rows.loaded.any() else np.array([p + 10])
    places = [np.concatenate([columns, payload]) for columns in shown]
    ends = np.concatenate([[0], np.cumsum([len(place) for place in places])])
    table = np.empty((N, ends[-1]))
    for j, columns in enumerate(shown):
        here = table[:, ends[j] : ends[j + 1]]
        here[:, : len(columns)] = rows.Y[:, j, columns]
        if len(payload) > 1:
            here[:, -11:-1] = rows.Y_L[:, j] * rows.loaded[:, None]
        here[:, -1] = rows.tau[:, j]
        if not rows.counts[:, j].all():
            here *= rows.counts[:, j, None]
    return _Packed(table, places, ends)
