"""SceneResponse: what planning makes of obstacles that change while it goes on.

A search works among the obstacles there were when it began. It is not begun again for every
change: what it finds is compared with what changed meanwhile, and told only if it avoids that,
too. Where a new obstacle is in the way of a plan that was told already, the search is given up, a
stop is told, and planning begins again once the arm is at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import PlanResult, SearchFinding, SearchOutcome
from safe_sysid.plan.scene_guard import Obstructed, SceneGuard
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

TAKEN_OVER = 0.2  # [s] after its start by which it is said that a stop is followed
SAME = 1e-6  # [s] between two starts that are the same up to rounding


class SceneResponse:
    """Stands between a planner and whoever its plans are told to."""

    def __init__(self, planner: RestartingPlanner, settings: StopSettings) -> None:
        self._planner = planner
        self._guard = SceneGuard(settings, lambda time: planner.clock.stamp(time))
        self._among: tuple[Mapping[str, Box], Obstacles] = {}, NO_OBSTACLES
        self._is_void = False  # what the search that goes on will find
        self._obstructed: Obstructed | None = None
        self._is_stop_followed = False  # whether it was said that the arm follows the stop
        self._early_stops = 0

    def rehearse(self, problem: Problem, position: Array) -> None:
        """Have everything compiled that is needed when an obstacle appears."""
        rest = np.zeros_like(position)
        curve = Bezier(position, rest, rest, problem.horizon.curve.duration)
        self._guard.rehearse(replace(problem, horizon=replace(problem.horizon, curve=curve)))

    def begin_search(self, boxes: Mapping[str, Box]) -> None:
        """Note that a search begins among these obstacles."""
        self._is_void = False
        if boxes is not self._among[0]:
            self._among = boxes, Obstacles.of(boxes)
        self._planner.avoid(self._among[1])

    def admits(self, result: PlanResult) -> bool:
        """Whether what a search found avoids also what changed meanwhile."""
        plans = [plan for plan in (result.plan, result.successor) if plan is not None]
        return not self._is_void and all(self._guard.admits(plan) for plan in plans)

    def watch(self, plan: Plan, now: float) -> None:
        """Compare a plan that is told now with what changes from now on."""
        self._guard.watch(plan, now)

    def note_followed(self, followed: Followed | None) -> None:
        """Take what the arm follows, as whoever follows plans says."""
        clock, stop = self._planner.clock, self._told_stop
        self._guard.note_followed(None if followed is None else clock.seconds(followed.start))
        if followed is not None and stop is not None:
            # by its end, too: a plan that begins when the stop does, and goes on, is not the stop
            ours = np.array([stop.start_time, stop.end_time])
            theirs = [clock.seconds(followed.start), clock.seconds(followed.end)]
            self._is_stop_followed |= bool(np.abs(ours - theirs).max() < SAME)

    def forget_obstruction(self) -> None:
        """Forget what was in the way as a reason for a fault."""
        self._obstructed = None

    def forget_plans(self) -> None:
        """Forget plans of times that mean nothing any more, and what was in their way.

        What the search that goes on will find is a plan of such a time, too.
        """
        self._guard.forget_plans()
        self._obstructed, self._is_void, self._is_stop_followed = None, True, False

    def look(self, boxes: Mapping[str, Box], stamp: int) -> tuple[bool, PlanResult | None]:
        """Compare plans with what changed, at a stamp [ns]: whether one is hit, a stop to tell."""
        now = self._planner.clock.seconds(stamp)
        obstructed = self._guard.look(boxes, now)
        if obstructed is None:
            return False, None
        self._obstructed, self._is_void, self._is_stop_followed = obstructed, True, False
        self._planner.cancel()
        if obstructed.stop is None:
            return True, None
        self._early_stops += 1
        finding = SearchFinding(SearchOutcome.OBSTRUCTED, trouble=str(obstructed))
        return True, PlanResult(obstructed.stop.plan, None, finding, now)

    def is_obstructed(self, stamp: int) -> bool:
        """Whether nothing proves that the arm avoids what is in its path, nor will by a stop.

        A stop that is told has to be taken over first: in a fault no plan follows another. One
        that is not, as it came too late, is as good as none.
        """
        if self._obstructed is None or self.is_stopping(stamp):
            return False
        stop = self._obstructed.stop
        return stop is None or not stop.is_certified or not self._is_stop_followed

    def is_stopping(self, stamp: int) -> bool:
        """Whether a stop was told that is not taken over yet."""
        now, stop = self._planner.clock.seconds(stamp), self._told_stop
        return stop is not None and now < stop.start_time + TAKEN_OVER

    @property
    def _told_stop(self) -> Plan | None:
        """The stop that was told for what is in the way."""
        found = None if self._obstructed is None else self._obstructed.stop
        return None if found is None else found.plan

    @property
    def complaint(self) -> str:
        """What is in the way; empty: nothing."""
        return '' if self._obstructed is None else str(self._obstructed)

    def figures(self) -> dict[str, object]:
        """For the operator."""
        return {
            'early stops': self._early_stops,
            'certified again in [s]': f'{self._guard.seconds:.4g}',
        }
