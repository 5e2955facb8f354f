"""Announced: which plans were told already, so that whoever follows them is told each once."""

from __future__ import annotations

from safe_sysid.measure.clock import Clock
from safe_sysid.plan.result import PlanResult
from safe_sysid.trajectory.plan import Plan

KEPT = 4  # starts; a result has two plans, and those of the one before may come again


class Announced:
    """Remembers plans by their start, of which there is one at a time."""

    def __init__(self) -> None:
        self._starts: list[str] = []  # [ns]
        self.newest = ''  # start of the plan told last [ns]; empty: there was none

    def new(self, result: PlanResult, clock: Clock) -> list[Plan]:
        """Plans of a result that were not told before; from now on they were."""
        plans = []
        for plan in (result.plan, result.successor):
            start = '' if plan is None else str(clock.stamp(plan.start_time))
            if plan is None or start in self._starts:
                continue
            self._starts = [*self._starts, start][-KEPT:]
            self.newest = start
            plans.append(plan)
        return plans

    def take_back(self, result: PlanResult, clock: Clock) -> None:
        """Let plans of a result be told in the place of those that begin when they do."""
        plans = [plan for plan in (result.plan, result.successor) if plan is not None]
        starts = [str(clock.stamp(plan.start_time)) for plan in plans]
        self._starts = [each for each in self._starts if each not in starts]
