"""Plans to begin a search with: the gentlest one, and points all over the range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.bezier import Bezier, basis_derivative

SMALLEST = 0.03  # share of the range at which candidates are still spread
# At least and at most, by which a plan has to be better than one that was not proven
SAFER = (0.03, 0.08)


class PlanCandidate(NamedTuple):
    """A plan that passed the cheap checks."""

    cost: float
    number: int
    margin: float  # see `NominalCheck`
    k: Array


def gentlest(curve: Bezier) -> Array:
    """End position k with the least integral of squared acceleration."""
    s = np.linspace(0.0, 1.0, 101)
    V, A, K = (np.polynomial.polynomial.polyval(s, c) for c in basis_derivative(2))
    own = np.outer(V, curve.qd0) * curve.duration + np.outer(A, curve.qdd0) * curve.duration**2
    least: Array = -(K @ own) / (K @ K)
    return least


def spread(seed: int, count: int, n: int) -> Array:
    """Points that fill [-1, 1]^n evenly, at all scales from SMALLEST on; (count, n).

    An additive recurrence with the powers of the generalised golden ratio, one more for the scale.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1.0 + ratio) ** (1.0 / (n + 2))
    steps = ratio ** -np.arange(1.0, n + 2.0)
    first = np.random.default_rng(seed).random(n + 1)
    points = (first + np.outer(np.arange(count), steps)) % 1.0
    evenly: Array = (2.0 * points[:, :n] - 1.0) * SMALLEST ** points[:, n:]
    return evenly


def around(problem: Problem, gentle: Array, wide: float, points: Array) -> Iterator[Array]:
    """Plans for points in [-1, 1]^n, at most `wide` from the gentle one and within the limits."""
    curve, limits = problem.horizon.curve, problem.model.limits
    low = np.maximum(gentle - wide, limits.position_lower - curve.q0)
    high = np.minimum(gentle + wide, limits.position_upper - curve.q0)
    center = np.clip(gentle, low, high)
    for x in points:
        yield center + np.where(x > 0.0, x * (high - center), x * (center - low))


def most_promising(ranking: Sequence[PlanCandidate], asked: float) -> PlanCandidate:
    """Return the first with the margin that is asked for, else the one with the largest."""
    safer = [each for each in ranking if each.margin >= asked]
    return safer[0] if safer else max(ranking, key=lambda each: each.margin)


def asked_after(refused: PlanCandidate, share: float) -> float:
    """Margin to ask for after a plan was not proven by this share of a limit."""
    return refused.margin + float(np.clip(-share, *SAFER))
