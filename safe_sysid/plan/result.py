"""PlanResult: which plan is in force, what the last search found, and a sentence about both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from safe_sysid.errors import SafeSysidError
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.trajectory.plan import Plan


class SearchOutcome(Enum):
    """Why the planner returned the plan it returned, in words for the operator."""

    FOUND = 'new plan'
    STILL = 'of all plans towards the goal only standing still is certified'
    INFEASIBLE = 'no plan satisfies every constraint'
    NONE_CERTIFIED = 'none of the plans tried satisfies every constraint'
    OUT_OF_TIME = 'no plan within the time budget'
    CANCELLED = 'planning was cancelled'
    UNUSABLE = 'nothing can be planned'
    UNSTEADY = 'the arm moves too much to begin'
    NOTHING_DUE = 'nothing is left to do'
    OUTDATED = 'the next plan was made for tighter bounds than are known now'
    MISSED = 'the time to switch to the next plan was missed'
    ASTRAY = 'the arm is not where the next plan begins'
    OBSTRUCTED = 'an obstacle has appeared in the path of the next plan'


# After these another search may find something.
FAILED = (
    SearchOutcome.STILL,
    SearchOutcome.INFEASIBLE,
    SearchOutcome.NONE_CERTIFIED,
    SearchOutcome.OUT_OF_TIME,
    SearchOutcome.UNUSABLE,
    SearchOutcome.UNSTEADY,
    SearchOutcome.OBSTRUCTED,
)
STANDING = 1e-3  # [rad] that a plan from rest may lead to in every joint and still stand still


def failed_in_a_row(before: int, outcome: SearchOutcome) -> int:
    """Count failed searches in a row; where none was due the row goes on."""
    if outcome in FAILED:
        return before + 1
    return 0 if outcome is SearchOutcome.FOUND else before


class NoPlanError(SafeSysidError):
    """There is no certified plan, so no torque may be applied."""


def stands_still(certificate: PlanCertificate) -> bool:
    """Whether a certified plan begins at rest and leads nowhere."""
    curve = certificate.problem.horizon.curve
    starts_at_rest = not (np.any(curve.qd0) or np.any(curve.qdd0))
    pieces = (certificate, *certificate.then)
    return starts_at_rest and all(bool(np.abs(p.k).max() <= STANDING) for p in pieces)


@dataclass(frozen=True, eq=False)
class SearchFinding:
    """What a search found."""

    outcome: SearchOutcome
    certificate: PlanCertificate | None = None  # of the best certified plan
    cost: float = float('inf')  # of that plan
    refused: PlanCertificate | None = None  # the one nearest to its limits, of plans not certified
    trouble: str = ''  # why sets could not be computed
    seconds: Mapping[str, float] | None = None  # of each phase
    starts: int = 0  # plans a search began from
    first: float = float('inf')  # [s] until the first certified plan
    until: float | None = (
        None  # [s] after its start the next plan takes over; None: as planned for
    )
    reaches: int = 0  # knot of a path at which the next plan begins
    improved: tuple[tuple[float, float], ...] = ()  # processor time of this process since the
    # search began [s] and cost, of every plan that was the best one so far

    @property
    def stands_still(self) -> bool:
        """Whether the certified plan begins at rest and leads nowhere."""
        return self.certificate is not None and stands_still(self.certificate)

    def __str__(self) -> str:
        if self.outcome is SearchOutcome.FOUND and self.certificate is not None:
            still = ' that stands still' if self.stands_still else ''
            return f'{self.outcome.value}{still}, smallest margin: {self.certificate.smallest}'
        reason = self.trouble or self._refusal
        return f'{self.outcome.value}: {reason}' if reason else self.outcome.value

    @property
    def _refusal(self) -> str:
        """Return what the plan nearest to its limits breaks, and which figure would help."""
        if self.refused is None:
            return ''
        needed = self.refused.needed
        return f'{self.refused.smallest}; {needed}' if needed else str(self.refused.smallest)


@dataclass(frozen=True, eq=False)
class PlanResult:
    """The plan in force, its successor if there is one, and what the last search found."""

    plan: Plan | None  # None: none was ever certified, the arm has to stay in its brakes
    successor: Plan | None  # takes over at its start time
    finding: SearchFinding
    time: float  # [s] when this was said

    @property
    def in_force(self) -> Plan:
        """The certified plan to follow now."""
        if self.plan is None:
            raise NoPlanError(str(self))
        return self.plan

    @property
    def outcome(self) -> SearchOutcome:
        """Of the last search."""
        return self.finding.outcome

    def __str__(self) -> str:
        return f'{self.finding}; {self._motion()}'

    def _motion(self) -> str:
        """Return what the arm does now."""
        if self.plan is None:
            return 'without a certified plan the arm has to stay in its brakes'
        if self.successor is not None:
            wait = self.successor.start_time - self.time
            return f'it takes over in {wait:.2f} s'
        left = self.plan.end_time - self.time
        return f'braking, {left:.2f} s left' if left > 0.0 else 'at rest'
