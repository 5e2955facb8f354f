"""Bounds that have widened, and whether the planner has heard of them: no motion begins before.

Of one payload bounds only shrink, and an estimate that gets lost is a plan that is slower than it
could be. Another payload, a change, a fault or an identifier that was started again widens them:
a planner that has not heard of that would begin a motion on bounds that do not hold any more.
The identifier says to what they widened last, and by which sample; the planner which estimate it
has. It has heard of it where that is the same one or of a later sample. On a clock that goes back,
and in a process that has just begun, the order of stamps says nothing of what was told before.
"""

from __future__ import annotations

from typing import Protocol

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.message import name_of

WIDENED_AT, WIDENED_TO = 'bounds widened at [ns]', 'bounds widened to'  # of the identifier
HEARD_OF, HEARD = 'estimate of [ns]', 'estimate'  # of the planner
REPEATED = 1.0  # [s] after which the newest estimate is told again, as it may have got lost


class ToldBounds:
    """Of the identifier: the newest estimate that is not within the one told before."""

    def __init__(self) -> None:
        self._told: ParameterEstimate | None = None
        self._at, self._widened_to = 0, ''

    def note(self, estimate: ParameterEstimate, stamp: int) -> None:
        """Take an estimate that is told by the sample of this stamp [ns]."""
        before, self._told = self._told, estimate
        if before is estimate or (before and before.bounds.contains(estimate.bounds)):
            return
        self._at, self._widened_to = stamp, name_of(estimate)

    def begin_anew(self) -> None:
        """Count the next estimate as a wider one: stamps before tell nothing."""
        self._told = None

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by."""
        return {WIDENED_AT: self._at, WIDENED_TO: self._widened_to}


class HeardBounds:
    """Of the planner: the newest estimate that came."""

    def __init__(self, prior: ParameterEstimate) -> None:
        self.estimate, self._stamp = prior, 0

    def hear(self, estimate: ParameterEstimate, stamp: int) -> bool:
        """Take an estimate and its stamp [ns]; whether it is not within the one before."""
        before, self.estimate, self._stamp = self.estimate, estimate, stamp
        return not before.bounds.contains(estimate.bounds)

    def begin_anew(self) -> None:
        """Count stamps before for nothing."""
        self._stamp = -1

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by."""
        return {HEARD_OF: self._stamp, HEARD: name_of(self.estimate)}


class Figures(Protocol):
    """What nodes say of themselves."""

    def figure(self, name: str, key: str) -> str | None:
        """Return a figure of one node."""


def is_widening_heard(nodes: Figures) -> bool:
    """Whether the planner has the bounds that widened last, or later ones."""
    widened_to = nodes.figure('identifier', WIDENED_TO)
    if not widened_to or nodes.figure('planner', HEARD) == widened_to:
        return True
    heard_of = int(nodes.figure('planner', HEARD_OF) or -1)
    return heard_of > int(nodes.figure('identifier', WIDENED_AT) or 0)
