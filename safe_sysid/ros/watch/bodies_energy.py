"""BodiesEnergy: V of every body in bounds, as the controller tells it and the supervisor reads it.

A plan that stands is certified for all that is held or may be held next with V at most V_M for
every one of these bodies where it began. Later something may shake the arm: V of a body that is
not held yet is in nobody's proof then, so it is looked at in every sample. The supervisor hears of
it five times a second; what is told is the most of the last half a second and more, and at once
where it gets above V_M.
"""

from __future__ import annotations

import math
from typing import Protocol

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.trajectory.plan import Plan

SHARE = 'V of every body at most [V_M]'  # figure of the controller
BODIES = 'bodies that V is of'  # the same: name of the estimate; empty: others than the plan's
LASTS = 500_000_000  # [ns] of samples that are told of at least
DIGITS = 1e4


def bodies_of(plan: Plan, known: ParameterEstimate) -> str:
    """Return the name of the estimate that a plan is for; empty where its law counts on less.

    Where more is known the law of a plan that moves goes by that, and what it takes for the
    largest V is not that of every body.
    """
    certified = plan.theta_bounds
    if certified is None:
        return ''
    is_less = certified.contains(known.bounds) and not known.bounds.contains(certified)
    return '' if is_less and not plan.stands_still else str(plan.certificate)


class BodiesEnergy:
    """Largest share of V_M under one plan, by stamps of samples."""

    def __init__(self) -> None:
        self._bodies = ''
        self._begin: int | None = None  # [ns] of the newer part of what is told of
        self._earlier = self._newer = 0.0

    def begin(self, bodies: str) -> None:
        """Begin anew, with a plan for the bodies in the bounds of this name."""
        self._bodies, self._begin = bodies, None
        self._earlier = self._newer = 0.0

    def step(self, stamp: int, share: float) -> bool:
        """Take the most V of all these bodies at a stamp [ns]; whether it is above V_M anew."""
        was_within = self.most <= 1.0
        if self._begin is None or not 0 <= stamp - self._begin < LASTS:
            self._earlier, self._newer = self._newer, 0.0
            self._begin = stamp
        self._newer = max(self._newer, share) if share >= 0.0 else math.inf  # nan is no V
        return was_within and self.most > 1.0

    @property
    def most(self) -> float:
        """Largest of the last samples, in shares of V_M."""
        return max(self._earlier, self._newer)

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by; rounded up."""
        is_known = self._begin is not None and math.isfinite(self.most)
        most = math.ceil(self.most * DIGITS) / DIGITS if is_known else math.inf
        return {SHARE: f'{most:.4f}', BODIES: self._bodies}


class Figures(Protocol):
    """What nodes tell of themselves."""

    def figure(self, name: str, key: str) -> str | None:
        """Return a figure of one node."""


def told_energy(nodes: Figures, bodies: str) -> float:
    """Most V of every body in the bounds of a name, in shares of V_M; inf: nobody tells."""
    if not bodies or nodes.figure('controller', BODIES) != bodies:
        return math.inf
    return float(nodes.figure('controller', SHARE) or math.inf)
