"""Between which times one body cannot have been held all along, proven; no false alarms.

Rows of a time in which nothing changes leave a polytope of parameters that is not empty, whatever
the errors are within their bounds. So where rows exclude each other, with a proof in interval
arithmetic, something that they assume has not held over the whole of their time: the body that is
held has changed, or another promise was broken (contact, slip, errors beyond their bounds). The
converse does not hold: small changes leave the rows compatible.

The time is made short from both ends, as long as the rows that are left are still proven empty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.identify.consistency_cuts import first_vectors
from safe_sysid.identify.linear_programs import Basis, Budget, LinearPrograms
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.parameter_polytope import ParameterPolytope
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True)
class CertainChange:
    """Something changed in this time, certainly if errors were within their bounds."""

    after: float  # [s]
    before: float  # [s]
    factor: float  # errors of rows would have to be this many times larger, at least


def certain_change(rows: Observation, rest: Interval, prior: Interval) -> CertainChange | None:
    """Return the shortest time found that rows of the whole prove a change in, if they do."""
    starts, ends = np.unique(rows.start), np.unique(rows.end)
    whole = _factor(rows, rest, prior)
    if whole is None:
        return None
    first, last, factor = 0, len(ends) - 1, whole
    past = len(starts)  # from there on rows are compatible
    while past - first > 1:
        middle = (first + past) // 2
        found = _factor(rows.rows(rows.start >= starts[middle]), rest, prior)
        if found is None:
            past = middle
        else:
            first, factor = middle, found
    rows = rows.rows(rows.start >= starts[first])
    early = -1  # until there rows are compatible
    while last - early > 1:
        middle = (early + last) // 2
        part = rows.end <= ends[middle]
        found = _factor(rows.rows(part), rest, prior) if part.any() else None
        if found is None:
            early = middle
        else:
            last, factor = middle, found
    return CertainChange(float(starts[first]), float(ends[last]), factor)


def _factor(rows: Observation, rest: Interval, prior: Interval) -> float | None:
    """By what errors would have to be larger for rows to be compatible; none if they may be."""
    polytope = ParameterPolytope(rows, rest, prior, None)
    polytope.add_cuts(first_vectors())
    elastic = polytope.elastic()
    programs = LinearPrograms(elastic, np.arange(len(elastic.A)), Budget(np.inf))
    least = np.zeros(elastic.A.shape[1])
    least[-1] = -1.0
    optimum = programs.maximum(least, Basis())
    if optimum is None or not optimum.feasible:
        return None
    proof = polytope.emptiness(optimum.dual)
    return None if proof is None else proof[1]
