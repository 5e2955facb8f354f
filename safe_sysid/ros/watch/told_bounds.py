"""Bounds that have widened, and whether the planner has heard of it: no motion begins before.

Of one payload bounds only shrink, and an estimate that gets lost is a plan that is slower than it
could be. Another payload, a change, a fault or an identifier that was started again widens them:
a planner that has not heard of that would begin a motion on bounds that do not hold any more.
The identifier says what estimates were called that it has told since, the planner what the one is
called that it has: it has to be among them. Both say so as soon as there is another one.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.message import SECOND, name_of

TOLD = 'estimates since bounds widened'  # of the identifier: names, the newest of them
HEARD = 'estimate'  # of the planner
MOST = 10  # names; a planner that is so far behind has to hear the next one first
REPEATED = 1.0  # [s] after which the newest estimate is told again, as it may have got lost
LATE = SECOND  # [ns] by which an estimate that was overtaken may be older; more is another clock


class ToldBounds:
    """Of the identifier: estimates that were told since bounds were wider than before."""

    def __init__(self) -> None:
        self._told: ParameterEstimate | None = None
        self._names: deque[str] = deque(maxlen=MOST)

    def note(self, estimate: ParameterEstimate) -> bool:
        """Take an estimate that is told; whether it is another one."""
        before, self._told = self._told, estimate
        if before is estimate:
            return False
        if before is None or not before.bounds.contains(estimate.bounds):
            self._names.clear()
        name = name_of(estimate)
        if name in self._names:
            return False
        self._names.append(name)
        return True

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by."""
        return {TOLD: ' '.join(self._names)}


class HeardBounds:
    """Of the planner: the newest estimate that came."""

    def __init__(self, prior: ParameterEstimate) -> None:
        self.estimate, self._stamp, self._name = prior, 0, name_of(prior)

    def hear(self, estimate: ParameterEstimate, stamp: int) -> bool:
        """Take an estimate and its stamp [ns]; whether it is another one."""
        if 0 < self._stamp - stamp <= LATE:  # overtaken
            return False
        self._stamp, before = stamp, self._name
        self.estimate, self._name = estimate, name_of(estimate)
        return self._name != before

    def figures(self) -> dict[str, object]:
        """Return what the supervisor goes by."""
        return {HEARD: self._name}


class Figures(Protocol):
    """What nodes say of themselves."""

    def figure(self, name: str, key: str) -> str | None:
        """Return a figure of one node."""


def is_widening_heard(nodes: Figures) -> bool:
    """Whether the planner has bounds that were told since they widened, as far as both say."""
    told = nodes.figure('identifier', TOLD)
    return not told or nodes.figure('planner', HEARD) in told.split()
