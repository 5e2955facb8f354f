"""Bounds on friction that hold if no block's spectrum of model error is larger than promised.

The rows of empty blocks alone, in the coordinates s of `guaranteed`, and the parameters asked for
as unknowns w of their own, tied to s by w = x + A s. A tie has a slack that is far above what
rounds and far below what is told. Any duals prove a bound, good ones a narrow one.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.guaranteed import (
    FACTOR,
    FACTOR_OF_FEW,
    FEW_BLOCKS,
    Promise,
    arm_rows,
)
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit
from safe_sysid.identify.difference.spectral_blocks import SpectralBlocks
from safe_sysid.identify.interior_programs import InteriorPrograms
from safe_sysid.identify.linear_programs import Basis, Budget
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.identify.parameter_polytope import ParameterPolytope
from safe_sysid.sets.interval import Interval, concatenate

TIED = 3e-5  # of the range of a parameter, 30 deviations: slack of its tie
GAP = 0.01  # between optimum and dual
TOGETHER = 10  # parameters of one program, as many as of a payload


def factor_of(promise: Promise) -> float:
    """How many times larger than seen errors may be."""
    return FACTOR_OF_FEW if promise.blocks < FEW_BLOCKS else FACTOR


def parameter_bounds(
    blocks: SpectralBlocks,
    rows: DifferenceRows,
    fit: SharedFit,
    promise: Promise,
    places: IntArray,
) -> Interval | None:
    """Bounds on entries of x that rows tell, from empty rows; None if there are no blocks."""
    if promise.blocks == 0 or len(places) == 0:
        return None
    observation, arm, axes = arm_rows(blocks, rows, fit, promise, factor_of(promise))
    parts = []
    for first in range(0, len(places), TOGETHER):
        some = places[first : first + TOGETHER]
        found = _bounds(observation, arm, fit.basis[some] @ axes, fit.x[some])
        if found is None:
            return None
        parts.append(found)
    return concatenate(parts)


def _bounds(observation: Observation, arm: Interval, A: Array, x: Array) -> Interval | None:
    """Bounds on w = x + A s, (c,)."""
    c = len(x)
    half = np.abs(A) @ arm.magnitude
    ties = Observation(
        np.eye(TOGETHER)[:c], -A, x, TIED * half, np.zeros(c, int), np.zeros(c), np.zeros(c)
    )
    center, radius = np.zeros(TOGETHER), np.ones(TOGETHER)
    center[:c], radius[:c] = x, (1.0 + 2.0 * TIED) * half
    box = Interval(center - radius, center + radius)
    polytope = ParameterPolytope(stacked([observation, ties]), arm, box, None)
    m = len(observation) + c
    programs = InteriorPrograms(polytope.scaled(), np.arange(m), Budget(np.inf), GAP)
    costs = np.concatenate([np.eye(TOGETHER)[:, :c], -np.eye(TOGETHER)[:, :c]], axis=1)
    duals = np.zeros((m, 2 * c))
    for i, cost in enumerate(costs.T):
        optimum = programs.maximum(cost, Basis())
        if optimum is not None and not optimum.feasible:
            return None
        if optimum is not None:
            duals[:, i] = optimum.dual
    largest = polytope.upper_bounds(costs, duals)
    lower, upper = np.maximum(-largest[c:], box.lower[:c]), np.minimum(largest[:c], box.upper[:c])
    return Interval(lower, upper) if (lower <= upper).all() else None
