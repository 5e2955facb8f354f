"""What a body depends on: the variables of the joints up to it, and columns of rows for these.

Of the monomials in the variables of all joints only those in the first few have a part in what
the bodies near the base do. A pool for one body has columns for these and for the error variables
in which they are linear; what is missing is zero. Its rows are Taylor models like any others, of
fewer variables, so kernels need not know. `grown` brings rows of the body below to a body.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.reach.joint_reach import JointReach
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.interval import EPS
from safe_sysid.sets.lanes import LANES
from safe_sysid.sets.monomials import Monomials, monomials
from safe_sysid.sets.taylor_kernels import clear, rounded_up


class BodyColumns(NamedTuple):
    """Columns of the rows of every body, one body behind the other, and what kernels need."""

    columns: IntArray  # where they are in rows of all variables; the last one is the radius
    first: IntArray  # (n + 1,) where those of a body begin
    tables: IntArray  # kernel tables of their monomials
    first_table: IntArray  # (n + 1,)


class Body(NamedTuple):
    """Rows of a body and their sizes, see `taylor_sums`."""

    pool: Array
    sizes: Array


def body_columns(reach: JointReach, kinds: int) -> BodyColumns:
    """Return the columns that the first kinds of state of the joints up to each have."""
    n, table = reach.q.shape[1], reach.monomials
    sizes = np.zeros((n, reach.rows.shape[3]))
    _add_sizes(reach.rows[:kinds], sizes)
    used = ~(sizes[:, :-1] == 0.0)  # also of what is no number
    in_monomials = used[:, : table.count, None] & (table.exponents > 0)
    in_errors = used[:, table.count :].reshape(n, 2, -1)
    variables, errors = _up_to_last(in_monomials.any(axis=1)), _up_to_last(in_errors.any(axis=1))
    return _body_columns(table, variables, errors, used.shape[1])


def _up_to_last(used: Array) -> tuple[int, ...]:
    """How many variables there are up to the last that is used by this joint or one before it."""
    last = np.where(used, np.arange(1, used.shape[1] + 1), 0).max(axis=1, initial=0)
    return tuple(np.maximum.accumulate(last).tolist())


@lru_cache(maxsize=32)  # all plans of a search have the same
def _body_columns(
    table: Monomials,
    variables: tuple[int, ...],
    errors: tuple[int, ...],
    radius: int,
) -> BodyColumns:
    exponents, M = table.exponents, table.count
    each = (radius - M) // 2
    columns, tables = [], []
    for v, e in zip(variables, errors, strict=True):
        own = np.flatnonzero(~np.any(exponents[:, v:], axis=1))
        balls = M + np.arange(e)
        columns.append(np.concatenate([own, balls, balls + each, [radius]]))
        tables.append(monomials(v, table.degree).kernel)
    found = BodyColumns(
        np.concatenate(columns),
        _begins(columns),
        np.concatenate(tables),
        _begins(tables),
    )
    for part in found:
        part.setflags(write=False)
    return found


def _begins(parts: list[IntArray]) -> IntArray:
    return np.cumsum([0, *map(len, parts)])


def slots(parent: IntArray) -> IntArray:
    """Places for the pools of bodies: two of them for a chain, as many as are needed for a tree.

    What is known of a body is needed until its last child has been dealt with.
    """
    n = len(parent)
    last = np.array([max(np.flatnonzero(parent == i), default=i) for i in range(n)])
    slot = np.zeros(n, dtype=np.int64)
    for i in range(n):
        taken = {int(slot[j]) for j in range(i) if last[j] >= i}
        slot[i] = min(set(range(n)) - taken)
    return slot


@jit
def _add_sizes(rows: Array, sizes: Array) -> None:
    """Add absolute values of the coefficients of joint states, (n, M + 1)."""
    for kind in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            for j in range(rows.shape[2]):
                for m in range(rows.shape[3]):
                    sizes[j, m] += abs(rows[kind, t, j, m])


@jit
def columns_of(every: BodyColumns, i: int) -> IntArray:
    """Columns of the rows of body i."""
    return every.columns[every.first[i] : every.first[i + 1]]


@jit
def table_of(every: BodyColumns, i: int) -> IntArray:
    """Kernel table of the monomials of body i."""
    return every.tables[every.first_table[i] : every.first_table[i + 1]]


@jit
def places(below: IntArray, here: IntArray, out: IntArray) -> IntArray:
    """Return where the columns of one body are among those of another; out is overwritten."""
    found = 0
    for m in range(len(below)):
        while here[found] != below[m]:
            found += 1
        out[m] = found
    return out[: len(below)]


@jit
def joint_in_lanes(
    states: Array, joint: int, columns: IntArray, first: int, last: int, kinds: int, out: Array
) -> None:
    """Copy the first kinds of state of a joint into lanes, as `joint_reach.states_in_lanes`."""
    for kind in range(kinds):
        for lane in range(LANES):
            t = min(first + lane, last)
            for m in range(len(columns)):
                out[kind, m, lane] = states[kind, t, joint, columns[m]]


@jit
def rows_in(memory: Array, count: int, width: int) -> Array:
    """Return rows of lanes that begin where the memory does."""
    return memory[: count * width * LANES].reshape((count, width, LANES))


@jit
def grow(below: Body, a: int, here: Body, out: int, count: int, place: IntArray) -> None:
    """Set rows of a body to those of the one below, whose columns have these places here."""
    for r in range(count):
        clear(here.pool, out + r)
        for m in range(len(place)):
            here.pool[out + r, place[m]] = below.pool[a + r, m]
        for e in range(here.sizes.shape[1]):
            here.sizes[out + r, e] = below.sizes[a + r, e]


@jit
def add_grown(pool: Array, a: int, columns: IntArray, totals: Array, out: int) -> None:
    """Enclose out + a, in place, for a row of a body and one of all variables."""
    last, size = totals.shape[1] - 1, 0.0
    for m in range(len(columns) - 1):
        total = totals[out, columns[m]] + pool[a, m]
        totals[out, columns[m]] = total
        size += abs(total)
    radius = totals[out, last] + pool[a, pool.shape[1] - 1]
    totals[out, last] = rounded_up(radius + EPS * size, last)
