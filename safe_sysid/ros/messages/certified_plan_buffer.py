"""CertifiedPlanBuffer: brings plans together with the estimates they were certified for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from trajectory_msgs.msg import JointTrajectory

from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.message import PlanNotice, name_of, plan_notice
from safe_sysid.trajectory.plan import Plan

CERTIFIED = 'certified_estimate'  # topic of what plans are certified for
KEPT = 8  # estimates; a plan in force, its successor, and what came between them


class CertifiedPlanBuffer:
    """A plan names the estimate it was certified for, and either may come first."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = joint_names
        self._estimates: OrderedDict[str, ParameterEstimate] = OrderedDict()
        self._waiting: list[PlanNotice] = []
        self._completed = ''  # start of the newest plan that was complete
        self._given_up: PlanNotice | None = None  # the last one that had to make room for others

    def learn(self, estimate: ParameterEstimate) -> None:
        """Take an estimate that some plan is certified for."""
        self._estimates[name_of(estimate)] = estimate
        while len(self._estimates) > KEPT:
            self._estimates.popitem(last=False)

    def hear(self, msg: JointTrajectory) -> None:
        """Take a plan."""
        waiting = [*self._waiting, plan_notice(msg, self._joint_names)]
        self._given_up = waiting[-KEPT - 1] if len(waiting) > KEPT else self._given_up
        self._waiting = waiting[-KEPT:]

    def knows(self, start: str) -> bool:
        """Whether the plan of this start [ns] is there with its estimate; '' is no plan at all."""
        return start in ('', self._completed) or any(
            str(notice.start) == start and notice.certified_for in self._estimates
            for notice in self._waiting
        )

    def complete(self, clock: Clock) -> list[Plan]:
        """Plans whose estimate is known, each once."""
        known = [n for n in self._waiting if n.certified_for in self._estimates]
        if not known:
            return []
        self._completed = str(max(notice.start for notice in known))
        self._waiting = [n for n in self._waiting if n not in known]
        return [notice.plan(clock, self._estimates[notice.certified_for]) for notice in known]

    def incomplete(self, now: int) -> str:
        """Say that the newest plan that was due at a time [ns] has no estimate; empty: it has."""
        unknown = [n for n in self._waiting if n.certified_for not in self._estimates]
        due = [notice for notice in unknown if notice.start <= now]
        given_up = [] if self._given_up is None else [self._given_up]
        newest = max([*given_up, *due], key=lambda notice: notice.start, default=None)
        if newest is None or newest.start <= int(self._completed or 0):
            return ''
        return (
            f"a plan is certified for '{newest.certified_for:.40}', and no {CERTIFIED} has told "
            'what that is; it is not followed'
        )

    def plan(self, notice: PlanNotice, clock: Clock) -> Plan | None:
        """Return the plan of a notice, if its estimate is known."""
        estimate = self._estimates.get(notice.certified_for)
        return None if estimate is None else notice.plan(clock, estimate)
